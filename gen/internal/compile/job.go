package compile

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/kerngen/kerngen/gen/internal/artefact"
	"github.com/kerngen/kerngen/gen/internal/config"
	"github.com/kerngen/kerngen/gen/internal/diag"
)

// job is one variant to compile for one target.
type job struct {
	conf    *config.Kernel
	product *Product
	variant string
	folder  string // for the artefacts, relative to the folder for all of them, with slashes
	ptx     string // a second one, for the PTX as fallback; "" where it is not wanted
	request request
	sidecar []byte
	inputs  string // hash of all that the image depends on
}

// request asks the driver for one thing.
type request struct {
	Op        string                    `json:"op"`
	Source    string                    `json:"source"`
	Kernels   []string                  `json:"kernels,omitempty"`   // of inspect
	Kernel    string                    `json:"kernel,omitempty"`    // of heuristics and compile
	Constants [][]artefact.SidecarParam `json:"constants,omitempty"` // of heuristics
	Arch      int                       `json:"arch,omitempty"`      // of compile, as all that follows
	Params    []artefact.SidecarParam   `json:"params,omitempty"`
	Options   map[string]any            `json:"options,omitempty"`
	Folder    string                    `json:"folder,omitempty"`
}

// inputsFormat counts up when the driver makes something else of the same inputs.
const inputsFormat = 1

// String names the job in messages.
func (j *job) String() string {
	s := fmt.Sprintf("kernel %q", j.conf.Function)
	if j.variant != "" {
		s += ", variant " + j.variant
	}
	return s + ", " + config.Target(j.request.Arch).String()
}

// folders are those that the job fills.
func (j *job) folders() []string {
	if j.ptx == "" {
		return []string{j.folder}
	}
	return []string{j.folder, j.ptx}
}

// jobs are those of one kernel in the package whose artefacts lie below folder.
func jobs(c *config.Config, folder string, k *resolved, variants []variant, src *source) ([]*job, error) {
	var out []*job
	targets := c.TargetsOf(k.conf)
	for order, v := range variants {
		stem := folder + "/" + k.conf.Function
		if v.name != "" {
			stem += "." + v.name
		}
		sidecar, err := describe(k, v, order, src)
		if err != nil {
			return nil, err
		}
		for _, t := range targets.Archs {
			j := &job{
				conf: k.conf, variant: v.name, sidecar: sidecar,
				folder: fmt.Sprintf("%s.sm%d", stem, int(t)),
				request: request{Op: "compile", Source: src.Path, Kernel: k.conf.Function, Arch: int(t),
					Params: v.params, Options: v.options},
			}
			if t == targets.PTX {
				j.ptx = stem + ".ptx"
			}
			if j.inputs, err = j.hash(c, src); err != nil {
				return nil, err
			}
			out = append(out, j)
		}
	}
	return out, nil
}

// describe is NAME.kerngen.json of a variant.
func describe(k *resolved, v variant, order int, src *source) ([]byte, error) {
	doc := k.conf.Doc
	if doc == "" {
		doc = k.facts.Doc
	}
	s := artefact.Sidecar{Schema: artefact.SidecarSchema, Kernel: k.conf.Function, Doc: doc, Triton: src.Triton,
		Source: []artefact.SidecarFile{}, Params: v.params, Order: order}
	for _, f := range src.Files {
		s.Source = append(s.Source, artefact.SidecarFile{Path: f.Name, SHA256: f.SHA256})
	}
	for _, dim := range k.conf.Grid {
		s.Grid = append(s.Grid, dim.Expr.String())
	}
	for _, t := range k.conf.Types {
		s.Types = append(s.Types, artefact.SidecarType{Name: t.Name, Type: v.types[t.Name]})
	}
	if len(k.configs) > 1 {
		s.Config = &artefact.SidecarConfig{Index: v.config, Name: strings.Join(k.configs[v.config].name, ","), Default: v.config == k.deflt}
		s.Key = k.key
	}
	return s.Encode()
}

// hash covers all that Triton makes the image of.
func (j *job) hash(c *config.Config, src *source) (string, error) {
	libs := map[string]string{}
	if named, ok := j.request.Options["extern_libs"].(map[string]string); ok {
		for name, path := range named {
			sum, err := hashFile(filepath.Join(c.Dir, filepath.FromSlash(path)))
			if err != nil {
				return "", diag.Errorf(j.conf.Pos, "kernel %q: extern_libs: %s: %v", j.conf.Function, path, diag.Bare(err))
			}
			libs[name] = sum
		}
	}
	text, err := json.Marshal(struct {
		Format       int
		Request      request
		Libs         map[string]string
		Triton       string
		Distribution string
		Files        []sourceFile
	}{inputsFormat, j.request, libs, src.Triton, src.Distribution, src.Files})
	if err != nil {
		return "", err
	}
	return sum(text), nil
}

func sum(data []byte) string {
	s := sha256.Sum256(data)
	return hex.EncodeToString(s[:])
}

func hashFile(path string) (string, error) {
	data, err := os.ReadFile(path)
	if err != nil {
		return "", err
	}
	return sum(data), nil
}

// packageFolder is where a package's artefacts lie. Of packages that share a
// name each has its output folder's hash for distinction.
func packageFolder(c *config.Config, p *config.Package) string {
	for i := range c.Packages {
		if o := &c.Packages[i]; o != p && strings.EqualFold(o.Name, p.Name) {
			return p.Name + "-" + sum([]byte(p.Out))[:8]
		}
	}
	return p.Name
}
