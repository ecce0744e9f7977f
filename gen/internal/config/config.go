// Package config reads kerngen.yaml: which kernels to compile, for what, and
// what Go packages to make of them.
//
// All that the file alone can get wrong is found here. What needs the Python
// source, such as which parameters are constants, is left to package compile;
// hence every value keeps its position.
package config

import (
	"fmt"

	"github.com/kerngen/kerngen/internal/gridexpr"
)

// FileName is the configuration's name.
const FileName = "kerngen.yaml"

// Blank stands in a new file for the types and values that the user is to give.
const Blank = "?"

// Config is a configuration. Positions are "file:line:column".
type Config struct {
	Path      string // of the file, with slashes, as messages name it
	Dir       string // the file's folder; all paths in it are relative to that
	Targets   Targets
	Artefacts string // folder for what is compiled, relative
	Packages  []Package
}

// Package is one Go package to generate.
type Package struct {
	Pos     string
	Name    string
	Out     string // folder, relative
	Kernels []Kernel
}

// Kernel is one kernel of a package.
type Kernel struct {
	Pos      string    // of its function's name
	Source   Name      // Python file, relative, with slashes
	Function string    // the Python function
	Targets  *Targets  // nil: the configuration's
	Types    []TypeVar // in the file's order, as is all that follows
	Args     []Setting // by parameter; what a value means depends on the parameter
	Nullable []Name
	Configs  []Configuration
	Autotune *Name // where @triton.autotune is asked for the configurations
	Default  *Configuration
	Key      []Name
	Options  []Setting
	Grid     []Dimension
	GoName   string // "": from Function
	Renames  map[string]string
	Doc      string // "": the function's docstring
}

// Name is a name with its position.
type Name struct {
	Pos  string
	Text string
}

// TypeVar stands for one of several element types.
type TypeVar struct {
	Pos   string
	Name  string
	Types []string
}

// Configuration is one way to tune a kernel: constants and compile options.
type Configuration struct {
	Pos      string
	Settings []Setting
}

// Setting is a value by name.
type Setting struct {
	Pos   string // of the name
	Name  string
	Value Value
}

// Dimension is one dimension of a declared grid.
type Dimension struct {
	Pos  string // of the expression
	Expr gridexpr.Expr

	path      string // of the file
	line, col int    // of the expression's first byte; col 0 where bytes do not count columns
}

// At is the position of a byte of the expression, such as Expr.At.
func (dim Dimension) At(offset int) string {
	if dim.col == 0 {
		return dim.Pos
	}
	return fmt.Sprintf("%s:%d:%d", dim.path, dim.line, dim.col+offset)
}

// Target is an architecture: 80 is sm_80.
type Target int

// Targets are what to compile a kernel for.
type Targets struct {
	Archs []Target // ascending, each once
	Pos   map[Target]string
	PTX   Target // the architecture whose PTX serves as fallback; 0: none
}

// TargetsOf returns what to compile one of the kernels for.
func (c *Config) TargetsOf(k *Kernel) Targets {
	if k.Targets != nil {
		return *k.Targets
	}
	return c.Targets
}

// Find returns the setting of that name, or nil.
func Find(settings []Setting, name string) *Setting {
	for i := range settings {
		if settings[i].Name == name {
			return &settings[i]
		}
	}
	return nil
}
