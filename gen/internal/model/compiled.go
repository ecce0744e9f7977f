package model

import (
	"fmt"
	"path"
	"strings"

	"github.com/kerngen/kerngen/gen/internal/artefact"
	"github.com/kerngen/kerngen/gen/internal/diag"
	"github.com/kerngen/kerngen/internal/gridexpr"
)

// compiled is one image by itself, its files agreed: a kernel with one variant
// of one image, before it is known which others belong to it.
type compiled struct {
	kernel    string // the Python function's name
	doc       string
	sources   []artefact.SidecarFile
	triton    string
	described bool     // a sidecar names the constants and what is folded
	signed    bool     // the user names the arguments
	untold    []string // the types of arguments that no file names, where that is a fault
	params    []param
	slots     []slot // what the params are passed as
	constants []Constant
	unnamed   map[int]Constant // by position in the source, where no file names them
	positions map[string]int   // of arguments, where known
	grid      []gridexpr.Expr  // declared
	key       []string
	config    *artefact.SidecarConfig // nil where there is one only
	types     []artefact.SidecarType
	order     int // among the kernel's specialisations
	image     Image
}

// param is a parameter as one image sees it.
type param struct {
	Param
	guard  GuardKind // 0: none
	narrow bool      // passed with 32 bits, although the kernel's parameter has 64
}

// passed reports whether the image takes the argument.
func (p param) passed() bool { return p.guard != EqualTo1 && p.guard != Null }

// guards are the promises that the image was compiled with.
func (c compiled) guards() []Guard {
	var gs []Guard
	for i, p := range c.params {
		if p.guard != 0 {
			gs = append(gs, Guard{i, p.guard})
		}
		if p.narrow {
			gs = append(gs, Guard{i, Fits32})
		}
	}
	return gs
}

// args are the parameters that the image is passed.
func (c compiled) args() []int {
	var args []int
	for i, p := range c.params {
		if p.passed() {
			args = append(args, i)
		}
	}
	return args
}

// checker reads one image and collects what is wrong with it.
type checker struct {
	*artefact.Image
	signatures map[string]Signature
	folds      map[string]Fold
	option     string // the one that told the arguments; "" where the files did
	fromSource bool   // TTIR is the module before any pass, for want of the later one
	faults     diag.List
	warnings   []string
}

// The files that a fault can be about.
const (
	metaExt    = ".json"
	ttirExt    = ".ttir"
	sourceExt  = ".source"
	ptxExt     = ".ptx"
	cubinExt   = ".cubin"
	sidecarExt = ".kerngen.json"
	launchExt  = ".launch_metadata"
)

// remake is the remedy where files disagree.
const remake = "recompile the kernel so that all its files come from one run"

// fault reports a fault in the image's file that ends in ext.
func (c *checker) fault(ext, format string, args ...any) *diag.Error {
	if ext == metaExt && c.Meta.InPTX {
		ext = ptxExt
	}
	if line, ok := strings.CutPrefix(ext, ttirExt); ok && c.fromSource {
		ext = sourceExt + line
	}
	e := diag.Errorf(c.Path+ext, format, args...)
	c.faults.Add(e)
	return e
}

// faultAt reports a fault on a line of a file.
func (c *checker) faultAt(ext string, line int, format string, args ...any) *diag.Error {
	return c.fault(fmt.Sprintf("%s:%d", ext, line), format, args...)
}

func (c *checker) warn(ext, format string, args ...any) {
	c.warnings = append(c.warnings, diag.Errorf(c.Path+ext, format, args...).Error())
}

// file is the name of the image's file that ends in ext, to mention beside the
// one that a fault is in.
func (c *checker) file(ext string) string {
	if ext == ttirExt && c.fromSource {
		ext = sourceExt
	}
	return path.Base(c.Path) + ext
}

// ok reports whether nothing is wrong so far.
func (c *checker) ok() bool { return c.faults.Err() == nil }

// withArguments puts the module before any pass in the place of a TTIR that is
// missing, as in a cache that keeps no intermediate forms: no pass up to the TTIR
// changes the arguments.
func withArguments(im *artefact.Image) (_ *artefact.Image, fromSource bool) {
	if im.TTIR != nil || im.Source == nil {
		return im, false
	}
	with := *im
	with.TTIR = im.Source
	return &with, true
}

// compile checks the files of one image against each other. Later checks build
// on earlier ones: where those failed, they would only repeat the fault.
func compile(im *artefact.Image, o Options) (compiled, []string, error) {
	im, fromSource := withArguments(im)
	c := &checker{Image: im, signatures: o.Signatures, folds: o.Folds, fromSource: fromSource}
	out := compiled{image: Image{Origin: im.Path}, triton: im.Meta.TritonVersion}
	c.checkBackend()
	if c.ok() {
		out.kernel = c.kernelName()
		out.image.Symbol = im.Meta.Name
		out.image.Target = c.target()
		c.readCode(&out.image)
		c.ownMap()
	}
	if c.ok() {
		c.readParams(&out)
		out.image.Args = out.args()
	}
	if c.ok() {
		out.image.Hidden = c.hidden(out.slots)
		c.readLaunch(&out.image)
	}
	return out, c.warnings, c.faults.Err()
}
