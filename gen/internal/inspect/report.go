// Package inspect reports what artefacts and generated packages hold: facts
// alone, of images that no kernel could be made of too.
package inspect

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"io"
)

// Schema is the version of a report's JSON.
const Schema = 1

// Report is what was found, in the order of paths.
type Report struct {
	Schema  int      `json:"schema"`
	Kernels []Kernel `json:"kernels"`
}

// Kernel is one compiled image: the files of one kernel for one target.
type Kernel struct {
	Name           string   `json:"name"`
	Symbol         string   `json:"symbol"`
	Triton         string   `json:"triton"` // "" where the files do not tell
	Target         string   `json:"target"` // "sm_90"
	Path           string   `json:"path"`   // of the files, without extension
	Params         []Param  `json:"params"` // those that the code takes
	Hidden         []string `json:"hidden"` // pointers that follow
	NumWarps       int      `json:"num_warps"`
	NumCTAs        int      `json:"num_ctas"`
	Cluster        [3]int   `json:"cluster"`
	Shared         int      `json:"shared"` // bytes, dynamic
	Cooperative    bool     `json:"cooperative"`
	PDL            bool     `json:"pdl"`
	GlobalScratch  Scratch  `json:"global_scratch"`
	ProfileScratch Scratch  `json:"profile_scratch"`
	Registers      int      `json:"registers"` // per thread; 0 where there is no cubin
	Images         []Image  `json:"images"`

	notes []string // why generate would refuse it
	slots []Slot   // all parameters of the code, hidden ones too
}

// Param is one argument that the code takes.
type Param struct {
	Index       int    `json:"index"`
	Name        string `json:"name"` // "" where the files do not tell
	Type        string `json:"type"` // Triton's; "" where the files do not tell
	Size        int    `json:"size"` // bytes, of all its parts
	DivisibleBy int    `json:"divisible_by"`
	ABI         []Slot `json:"abi"` // several for a host tensor descriptor
}

// Slot is a parameter of the code.
type Slot struct {
	Offset *int `json:"offset"` // in the cubin's parameters, bytes; null where there is no cubin
	Size   int  `json:"size"`   // bytes
}

// Scratch is device memory of each CTA, in bytes.
type Scratch struct {
	Size  int `json:"size"`
	Align int `json:"align"`
}

// Image is a file that can be loaded.
type Image struct {
	Kind   string `json:"kind"`   // "cubin" or "ptx"
	Target string `json:"target"` // "sm_90a"
	Bytes  int    `json:"bytes"`
	SHA256 string `json:"sha256"`
}

// WriteJSON writes the report for programs.
func (r Report) WriteJSON(w io.Writer) error {
	if r.Kernels == nil {
		r.Kernels = []Kernel{}
	}
	e := json.NewEncoder(w)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	return e.Encode(r)
}

func imageOf(kind, target string, code []byte) Image {
	sum := sha256.Sum256(code)
	return Image{kind, target, len(code), hex.EncodeToString(sum[:])}
}

// hiddenNames are the n parameters that follow the arguments. Instrumented code
// takes more than there are names for.
func hiddenNames(n int) []string {
	names := []string{}
	for i := range n {
		names = append(names, []string{"global_scratch", "profile_scratch", "unknown"}[min(i, 2)])
	}
	return names
}

// lay gives the params their places among the code's parameters.
func (k *Kernel) lay(sizes []int) {
	next := 0
	for i := range k.Params {
		p := &k.Params[i]
		p.Index = i
		end := min(next+sizes[i], len(k.slots))
		p.ABI = append([]Slot{}, k.slots[next:end]...)
		for _, s := range p.ABI {
			p.Size += s.Size
		}
		next = end
	}
}
