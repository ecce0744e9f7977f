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
	Mode     string          // of Compile. "auto" or "": what is not up to date; "never": nothing, and that is an error; "always": everything
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
	conf, options, err := c.load()
	if err != nil {
		return nil, err
	}
	packages, err := compile.Run(ctx, conf, options)
	if err != nil {
		return nil, err
	}
	return configs(packages), nil
}

// CheckCompiled returns what to generate from the packages of a kerngen.yaml
// whose artefacts are up to date, and an error that lists everything that is
// not: a source, a type or an option that has changed, or an artefact. It starts
// no Python and changes nothing.
func CheckCompiled(c CompileConfig) ([]Config, error) {
	conf, _, err := c.load()
	if err != nil {
		return nil, err
	}
	packages, err := compile.Check(conf)
	return configs(packages), err
}

// Recompile compiles all kernels of a kerngen.yaml anew, elsewhere, and says in
// what the artefacts differ from that, a line for each file. It is "" where the
// artefacts are, byte for byte, what the sources give. It runs the Python
// sources, needs the release of Triton that made the artefacts, and changes
// nothing.
func Recompile(ctx context.Context, c CompileConfig) (string, error) {
	conf, options, err := c.load()
	if err != nil {
		return "", err
	}
	return compile.Recompile(ctx, conf, options)
}

// load reads the configuration and the options for compiling it.
func (c CompileConfig) load() (*config.Config, compile.Options, error) {
	options := compile.Options{Python: c.Python, Workers: c.Workers, Progress: c.Progress}
	var ok bool
	options.Mode, ok = map[string]compile.Mode{"": compile.Auto, "auto": compile.Auto, "never": compile.Never, "always": compile.Always}[c.Mode]
	if !ok {
		return nil, options, diag.Errorf("", "%q does not say when to compile", c.Mode).Fix("there are auto, never and always")
	}
	if c.Path == "" {
		var err error
		if c.Path, err = config.Locate("."); err != nil {
			return nil, options, err
		}
	}
	conf, err := config.Load(c.Path)
	return conf, options, err
}

func configs(packages []compile.Package) []Config {
	var out []Config
	for _, p := range packages {
		out = append(out, Config{Package: p.Name, Dir: p.Out, Paths: p.Paths, Names: p.Names, Renames: p.Renames})
	}
	return out
}

// Schema is a JSON Schema of kerngen.yaml, for editors.
func Schema() []byte { return config.Schema }
