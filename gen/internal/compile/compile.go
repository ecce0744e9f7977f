// Package compile has the user's own Triton compile the kernels of a
// configuration, and only what has changed.
//
// One Python file, embedded here, answers requests on a pipe: what a source's
// kernels look like, and one compilation after the other, in as many processes
// as there are cores. What a parameter may be, which variants follow and what is
// up to date is decided here.
//
// The artefacts of a variant lie in a folder of their own, and beside all of them
// a record of what they were made of. Both belong in version control.
package compile

import (
	"context"
	"os"
	"path/filepath"

	"github.com/kerngen/kerngen/gen/internal/config"
	"github.com/kerngen/kerngen/gen/internal/diag"
)

// Mode says when to compile.
type Mode int

const (
	Auto   Mode = iota // what is not up to date
	Never              // nothing: what is not up to date is an error
	Always             // everything
)

// Options are the choices that the configuration leaves to a run. The zero value
// is right for most.
type Options struct {
	Mode     Mode
	Python   string   // interpreter; "": see interpreter
	Workers  int      // processes at once; 0: one for each core
	Progress Progress // nil: none
}

// Progress is told what happens, by one goroutine at a time.
type Progress interface {
	// Plan comes once, before anything is compiled: the variants of the kernels of
	// which something is to be compiled, with the number of images.
	Plan(products []Product)
	// Done comes after each image: how many of all are done, and what went wrong.
	Done(image string, done, all int, err error)
}

// Package is a Go package's worth of artefacts.
type Package struct {
	Name    string
	Out     string            // folder, relative to the working folder
	Paths   []string          // of artefacts
	Names   map[string]string // kernel -> the name to go by instead in Go
	Renames map[string]string // KERNEL.PARAM -> likewise
}

// Run brings the artefacts of c up to date. A run that has nothing to compile
// starts no Python. Of several faults in compiling, the first in the
// configuration's order is told in full; the images without faults are kept.
//
// When ctx is done, Run ends the compilers and returns ctx's error; no file is
// left half-written.
func Run(ctx context.Context, c *config.Config, o Options) ([]Package, error) {
	p, err := compileInto(ctx, filepath.Join(c.Dir, c.Artefacts), c, o)
	if err != nil {
		return nil, err
	}
	return p.result(), nil
}

// compileInto brings the artefacts in folder up to date and returns the plan.
func compileInto(ctx context.Context, folder string, c *config.Config, o Options) (*plan, error) {
	python, pythonFault := interpreter(o.Python)
	if o.Mode == Never {
		python = ""
	}
	p, err := read(folder, c, o.Mode, python)
	switch {
	case err != nil:
		return nil, err
	case p.done() && (o.Mode == Never || len(p.unwanted()) == 0):
		return p, nil
	case o.Mode == Never:
		return nil, p.staleFault("compile it: run kerngen generate without --compile=never")
	}
	if err := os.MkdirAll(folder, 0o777); err != nil {
		return nil, diag.File(folder, err)
	}
	unlock, err := lockFolder(folder)
	if err != nil {
		return nil, err
	}
	defer unlock()
	if p, err = read(folder, c, o.Mode, python); err != nil { // another run may just have written
		return nil, err
	}
	s, err := newStage(folder)
	if err != nil {
		return nil, err
	}
	defer s.close()
	run := &run{ctx: ctx, options: o, stage: s, plan: p}
	if !p.complete() || len(p.stale) > 0 {
		if pythonFault != nil {
			return nil, pythonFault
		}
		if run.pool, err = newPool(python, c.Dir, run.workers()); err != nil {
			return nil, err
		}
		defer run.pool.close()
		if err := run.learn(python); err != nil {
			return nil, err
		}
	}
	if err := run.finish(); err != nil {
		return nil, err
	}
	return run.plan, nil
}

// read plans from the record that lies beside the artefacts in folder.
func read(folder string, c *config.Config, mode Mode, python string) (*plan, error) {
	r, err := readRecord(folder)
	if err != nil {
		return nil, err
	}
	if mode == Always {
		r.Sources = nil
		for i := range r.Jobs {
			r.Jobs[i].Inputs = "" // no image is up to date
		}
	}
	return newPlan(folder, c, r, python, nil)
}

// result names the artefacts of each package.
func (p *plan) result() []Package {
	out := make([]Package, len(p.conf.Packages))
	for i := range out {
		out[i] = p.resultOf(i)
	}
	return out
}

func (p *plan) resultOf(i int) Package {
	pkg := p.conf.Packages[i]
	o := Package{Name: pkg.Name, Out: filepath.Join(p.conf.Dir, filepath.FromSlash(pkg.Out)),
		Names: map[string]string{}, Renames: map[string]string{}}
	for _, j := range p.packages[i] {
		for _, folder := range j.folders() {
			o.Paths = append(o.Paths, filepath.Join(p.folder, filepath.FromSlash(folder)))
		}
	}
	for _, k := range pkg.Kernels {
		if k.GoName != "" {
			o.Names[k.Function] = k.GoName
		}
		for from, to := range k.Renames {
			o.Renames[k.Function+"."+from] = to
		}
	}
	return o
}
