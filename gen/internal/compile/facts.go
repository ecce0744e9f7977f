package compile

import "github.com/kerngen/kerngen/gen/internal/artefact"

// source is what Python knows of one source file. The record keeps it, so that
// a run with nothing to compile starts no Python.
type source struct {
	Path         string             `json:"path"`         // relative to the configuration's folder
	Triton       string             `json:"triton"`       // version
	Distribution string             `json:"distribution"` // the folder in which pip keeps it; "" where unknown
	Files        []sourceFile       `json:"files"`        // the source itself, then the modules of the user's that it imports
	Kernels      map[string]*kernel `json:"kernels"`
}

// sourceFile is a Python file. Path leads to it from the configuration's folder,
// Name is what line information calls it.
type sourceFile struct {
	Path   string `json:"path"`
	Name   string `json:"name"`
	SHA256 string `json:"sha256"`
}

// kernel is what Python knows of one @triton.jit function.
type kernel struct {
	Doc        string      `json:"doc,omitempty"`
	Params     []param     `json:"params"`
	Configs    []autotuned `json:"configs,omitempty"` // of @triton.autotune; nil where there is none
	Key        []string    `json:"key,omitempty"`
	Heuristics []string    `json:"heuristics,omitempty"` // the parameters that @triton.heuristics gives
	// Evaluated holds what the heuristics made of a variant's constants, by those.
	Evaluated map[string]map[string]given `json:"evaluated,omitempty"`
}

// param is one parameter of the function.
type param struct {
	Name       string `json:"name"`
	Constexpr  bool   `json:"constexpr,omitempty"`
	Annotation string `json:"annotation,omitempty"` // a type in Triton's words; "" where it has none
	Default    *given `json:"default,omitempty"`
}

// autotuned is one triton.Config.
type autotuned struct {
	Settings map[string]given `json:"settings"`       // constants by parameter, and compile options
	Hook     bool             `json:"hook,omitempty"` // it has a pre_hook
}

// given is a constant that Python has: exactly one field is set.
type given struct {
	Constant    *artefact.Constant      `json:"constant,omitempty"`
	Tuple       []artefact.SidecarParam `json:"tuple,omitempty"`
	Unsupported string                  `json:"unsupported,omitempty"` // what it is instead
}
