package gen

import (
	"context"

	"github.com/kerngen/kerngen/gen/internal/compile"
	"github.com/kerngen/kerngen/gen/internal/config"
	"github.com/kerngen/kerngen/gen/internal/diag"
)

// CompileConfig says which configuration to compile the kernels of, and how.
type CompileConfig struct {
	Path     string          // of kerngen.yaml; "": the nearest from the working folder up to the module's root
	Mode     string          // "auto" or "": what is not up to date; "never": nothing, and that is an error; "always": everything
	Python   string          // interpreter; "": KERNGEN_PYTHON, that of the active virtual environment, or python3
	Workers  int             // compilers at once; 0: one for each core
	Progress CompileProgress // nil: none
}

// CompileProgress is told what Compile does, by one goroutine at a time.
type CompileProgress = compile.Progress

// CompileProduct says how many variants a kernel has, and of what.
type CompileProduct = compile.Product

// Compile has the user's Triton compile the kernels of a kerngen.yaml as far as
// they are not up to date, and returns what to generate from them, a Config for
// each package. It runs the Python sources that the file names. Where nothing
// has changed it starts no Python. When ctx is done it ends the compilers and
// returns ctx's error.
func Compile(ctx context.Context, c CompileConfig) ([]Config, error) {
	mode, ok := map[string]compile.Mode{"": compile.Auto, "auto": compile.Auto, "never": compile.Never, "always": compile.Always}[c.Mode]
	if !ok {
		return nil, diag.Errorf("", "%q does not say when to compile", c.Mode).Fix("there are auto, never and always")
	}
	if c.Path == "" {
		var err error
		if c.Path, err = config.Locate("."); err != nil {
			return nil, err
		}
	}
	conf, err := config.Load(c.Path)
	if err != nil {
		return nil, err
	}
	packages, err := compile.Run(ctx, conf, compile.Options{Mode: mode, Python: c.Python, Workers: c.Workers, Progress: c.Progress})
	if err != nil {
		return nil, err
	}
	var out []Config
	for _, p := range packages {
		out = append(out, Config{Package: p.Name, Dir: p.Out, Paths: p.Paths, Names: p.Names, Renames: p.Renames})
	}
	return out, nil
}

// Schema is a JSON Schema of kerngen.yaml, for editors.
func Schema() []byte { return config.Schema }
