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
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

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
	// which something is to be compiled, and the number of images.
	Plan(products []Product, images int)
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
		return nil, fileFault(folder, err)
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

// run is one run that has something to do.
type run struct {
	ctx     context.Context
	options Options
	stage   *stage
	pool    *pool
	plan    *plan
}

func (r *run) workers() int {
	if r.options.Workers > 0 {
		return r.options.Workers
	}
	return runtime.GOMAXPROCS(0)
}

// learn asks until the plan is complete: sources first, then heuristics.
func (r *run) learn(python string) error {
	c, rec := r.plan.conf, r.plan.record
	said, err := r.pool.first(r.ctx, r.plan.expected())
	if err != nil {
		return reason(r.ctx, err)
	}
	const rounds = 4 // each answer settles what it was asked for, unless files change meanwhile
	for range rounds {
		if r.plan, err = newPlan(r.plan.folder, c, rec, python, &said); err != nil {
			return err
		}
		if r.plan.complete() {
			return nil
		}
		if err := r.ask(rec, said); err != nil {
			return err
		}
	}
	return diag.Errorf(c.Path, "its sources change while they are read").Fix("run kerngen again")
}

// ask puts the plan's open requests and adds the answers to the record.
func (r *run) ask(rec *record, said hello) error {
	var faults diag.List
	var tasks []task
	for _, a := range r.plan.unknown {
		var answer inspected
		tasks = append(tasks, task{a.request, &answer, func(err error) {
			if err == nil {
				err = answer.fault(a)
			} else {
				err = sourceFault(a, err)
			}
			if err != nil {
				faults.Add(err)
				return
			}
			rec.keep(&source{Path: a.request.Source, Triton: said.Triton, Distribution: said.Distribution,
				Files: answer.Files, Kernels: answer.Kernels})
		}})
	}
	if len(tasks) == 0 {
		tasks = r.heuristics(&faults)
	}
	if err := r.pool.run(r.ctx, tasks); err != nil {
		return err
	}
	return faults.Err()
}

// heuristics are the plan's questions about them.
func (r *run) heuristics(faults *diag.List) []task {
	var tasks []task
	for _, a := range r.plan.question {
		var answers []map[string]given
		tasks = append(tasks, task{a.request, &answers, func(err error) {
			if err != nil {
				faults.Add(kernelFault(a.pos, a.request.Kernel, err))
				return
			}
			if a.kernel.Evaluated == nil {
				a.kernel.Evaluated = map[string]map[string]given{}
			}
			for i, key := range a.keys {
				a.kernel.Evaluated[key] = answers[i]
			}
		}})
	}
	return tasks
}

// inspected is the driver's answer about a source.
type inspected struct {
	Files   []sourceFile        `json:"files"`
	Kernels map[string]*kernel  `json:"kernels"`
	Faults  map[string]*failure `json:"faults"`
}

// fault is what is wrong with the kernels that were asked for.
func (in *inspected) fault(a *asked) error {
	var faults diag.List
	for _, name := range a.request.Kernels {
		if f := in.Faults[name]; f != nil {
			faults.Add(config.Suggest(diag.Errorf(a.pos, "source %q %s", a.request.Source, f.Message), name, f.Known))
		}
	}
	return faults.Err()
}

func sourceFault(a *asked, err error) error {
	return diag.Errorf(a.pos, "source %q %s", a.request.Source, told(err))
}

func kernelFault(pos, kernel string, err error) error {
	return diag.Errorf(pos, "kernel %q: %s", kernel, told(err))
}

// imageFault is an error about one image, or about its target and so about all
// images for that.
func (r *run) imageFault(j *job, err error) error {
	var f *failure
	if target := config.Target(j.request.Arch); errors.As(err, &f) && f.Target {
		return diag.Errorf(r.plan.conf.TargetsOf(j.conf).Pos[target], "target %q: %s", target, f.Message).Fix("remove it, or compile with a Triton that knows it")
	}
	return diag.Errorf(j.conf.Pos, "%s: %s", j, told(err))
}

// told is an error of the driver's with what was printed, indented below it.
func told(err error) string {
	text := err.Error()
	var f *failure
	if errors.As(err, &f) && f.noise != "" {
		text += "\nprinted meanwhile:\n" + f.noise
	}
	return strings.ReplaceAll(strings.TrimSpace(text), "\n", "\n    ")
}

// finish compiles what is stale, describes anew what has another description,
// removes what is not wanted any more and writes the record.
func (r *run) finish() error {
	p := r.plan
	made := p.record.folders()
	var faults diag.List
	faults.Add(r.compile(made))
	for _, j := range p.renewed {
		for _, folder := range j.folders() {
			m, err := r.stage.renew(j, folder)
			if err != nil {
				faults.Add(err)
				continue
			}
			made[folder] = m
		}
	}
	if faults.Err() == nil && r.ctx.Err() == nil {
		for _, folder := range p.unwanted() {
			if err := removeFolder(p.folder, folder); err != nil {
				faults.Add(err)
				continue
			}
			delete(made, folder)
		}
		p.forget()
	}
	p.record.Jobs = p.record.Jobs[:0]
	for _, m := range made {
		p.record.Jobs = append(p.record.Jobs, m)
	}
	faults.Add(p.record.write(p.folder))
	if r.ctx.Err() != nil {
		return r.ctx.Err()
	}
	return faults.Err()
}

// compile compiles what is stale and adds it to made. Its error tells the first
// fault in full and counts the others.
func (r *run) compile(made map[string]made) error {
	p := r.plan
	if r.options.Progress != nil {
		var products []Product
		for _, product := range p.products {
			if product.Images > 0 {
				products = append(products, *product)
			}
		}
		r.options.Progress.Plan(products, len(p.stale))
	}
	faults := make([]error, len(p.stale))
	done := 0
	var tasks []task
	for i, j := range p.stale {
		dir, err := r.stage.folder()
		if err != nil {
			return err
		}
		request := j.request
		request.Folder = dir
		var answer compiled
		tasks = append(tasks, task{request, &answer, func(err error) {
			if err != nil {
				err = r.imageFault(j, err)
			} else {
				err = r.install(j, dir, answer, made)
			}
			faults[i] = err
			done++
			if r.options.Progress != nil {
				r.options.Progress.Done(j.String(), done, len(p.stale), err)
			}
		}})
	}
	if len(tasks) > 0 {
		if err := r.pool.run(r.ctx, tasks); err != nil {
			return err
		}
	}
	faults = slices.DeleteFunc(faults, func(err error) bool { return err == nil })
	if len(faults) == 0 {
		return nil
	}
	first := faults[0]
	var d *diag.Error
	if len(faults) > 1 && errors.As(first, &d) {
		d.Fault += fmt.Sprintf("\n(%d of %d images could not be compiled; this is the first)", len(faults), len(p.stale))
	}
	return first
}

// compiled is the driver's answer about an image.
type compiled struct {
	Name  string       `json:"name"`
	Files []sourceFile `json:"files"`
}

// install puts an image into its place, unless its sources have changed since
// they were inspected.
func (r *run) install(j *job, dir string, answer compiled, made map[string]made) error {
	src := r.plan.record.source(j.request.Source)
	if !slices.Equal(src.Files, answer.Files) {
		return diag.Errorf(r.plan.path(j.request.Source), "it, or what it imports, has changed while its kernels were compiled").Fix("run kerngen again")
	}
	placed, err := r.stage.install(j, dir, answer.Name)
	for _, m := range placed {
		made[m.Folder] = m
	}
	return err
}

// unwanted are the folders that an earlier run made and that no job fills.
func (p *plan) unwanted() []string {
	wanted := map[string]bool{}
	for _, j := range p.jobs {
		for _, folder := range j.folders() {
			wanted[folder] = true
		}
	}
	var out []string
	for _, m := range p.record.Jobs {
		if !wanted[m.Folder] {
			out = append(out, m.Folder)
		}
	}
	return out
}

// removeFolder removes a folder of artefacts. The record names it, which others
// may have edited: it must lie below the artefacts' own.
func removeFolder(artefacts, folder string) error {
	path := filepath.FromSlash(folder)
	if !filepath.IsLocal(path) || filepath.Clean(path) == "." {
		return diag.Errorf(filepath.Join(artefacts, recordName), "names the folder %q, which is not below it", folder).Fix("remove the record; everything is then compiled anew")
	}
	if err := os.RemoveAll(filepath.Join(artefacts, path)); err != nil {
		return fileFault(filepath.Join(artefacts, path), err)
	}
	return nil
}

// forget drops what the record knows of sources and kernels that are not wanted.
func (p *plan) forget() {
	wanted := map[string][]string{}
	for _, pkg := range p.conf.Packages {
		for _, k := range pkg.Kernels {
			wanted[k.Source.Text] = append(wanted[k.Source.Text], k.Function)
		}
	}
	p.record.Sources = slices.DeleteFunc(p.record.Sources, func(s *source) bool { return wanted[s.Path] == nil })
	for _, s := range p.record.Sources {
		for name := range s.Kernels {
			if !slices.Contains(wanted[s.Path], name) {
				delete(s.Kernels, name)
			}
		}
	}
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

// reason is ctx's error where that is why err came about.
func reason(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return ctx.Err()
	}
	return err
}
