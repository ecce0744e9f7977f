package compile

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"

	"github.com/kerngen/kerngen/gen/internal/diag"
)

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
		r.options.Progress.Plan(products)
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
		return diag.File(filepath.Join(artefacts, path), err)
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
