package compile

import (
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"

	"github.com/kerngen/kerngen/gen/internal/config"
	"github.com/kerngen/kerngen/gen/internal/diag"
)

// plan is what there is to do, as far as it is known.
type plan struct {
	conf   *config.Config
	folder string // for artefacts
	record *record

	unknown  []*asked // sources to inspect first
	question []*asked // heuristics to evaluate first
	jobs     []*job   // all of them, in the configuration's order; none while anything is unknown
	stale    []*job   // those whose image must be compiled
	renewed  []*job   // those whose image is right, but not what is said of it
	why      []error  // for everything that is not up to date, where and why
	products []*Product
	packages [][]*job // jobs by package
	open     []bool   // by package: something of it is not known or not up to date
}

// asked is one request that must be answered before a plan is complete.
type asked struct {
	request request
	kernel  *kernel // of a heuristics request
	pos     string
	keys    []string
}

// Product says how many variants a kernel has.
type Product struct {
	Package, Kernel string
	Variants        int
	Targets         int
	Factors         string // "2 types T × 3 alternatives of n"
	Images          int    // of all these, those to compile
}

// newPlan compares the configuration with the record and the files in folder. python is
// the interpreter that would compile, "" where there is none; said is what its
// driver says of Triton, nil where it does not run yet.
func newPlan(folder string, c *config.Config, r *record, python string, said *hello) (*plan, error) {
	p := &plan{conf: c, folder: folder, record: r}
	var faults diag.List
	current, err := p.sources(python, said)
	if err != nil {
		return nil, err
	}
	var options []string
	if said != nil {
		options = said.Options
	}
	for i := range c.Packages {
		pkg := &c.Packages[i]
		var of []*job
		open := false
		for j := range pkg.Kernels {
			k := &pkg.Kernels[j]
			src := current[k.Source.Text]
			if src == nil {
				open = true
				continue
			}
			js, err := p.kernel(pkg, k, src, options)
			faults.Add(err)
			open = open || len(js) == 0
			of = append(of, js...)
		}
		p.packages, p.open = append(p.packages, of), append(p.open, open)
		p.jobs = append(p.jobs, of...)
	}
	if err := faults.Err(); err != nil {
		return nil, err
	}
	p.compare()
	return p, nil
}

// complete reports whether nothing has to be asked before compiling.
func (p *plan) complete() bool { return len(p.unknown) == 0 && len(p.question) == 0 }

// done reports whether everything is up to date.
func (p *plan) done() bool { return p.complete() && len(p.stale) == 0 && len(p.renewed) == 0 }

// expected is the number of images to compile, as far as it is known: at least one
// for each target of a kernel of which nothing is known.
func (p *plan) expected() int {
	kernels := len(p.question)
	for _, a := range p.unknown {
		kernels += len(a.request.Kernels)
	}
	return len(p.stale) + kernels*len(p.conf.Targets.Archs)
}

// sources returns what the record knows of each source, as far as it still
// holds; the others are added to p.unknown.
func (p *plan) sources(python string, said *hello) (map[string]*source, error) {
	wanted := map[string][]string{} // kernels by source
	var order []config.Name
	for _, pkg := range p.conf.Packages {
		for _, k := range pkg.Kernels {
			if wanted[k.Source.Text] == nil {
				order = append(order, k.Source)
			}
			if !slices.Contains(wanted[k.Source.Text], k.Function) {
				wanted[k.Source.Text] = append(wanted[k.Source.Text], k.Function)
			}
		}
	}
	current := map[string]*source{}
	hashes := map[string]string{} // by path
	for _, name := range order {
		s := p.record.source(name.Text)
		why, err := p.changed(name.Text, s, wanted[name.Text], python, said, hashes)
		if err != nil {
			return nil, err
		}
		if why == nil {
			current[name.Text] = s
			continue
		}
		p.why = append(p.why, why)
		p.unknown = append(p.unknown, &asked{pos: name.Pos, request: request{Op: "inspect", Source: name.Text, Kernels: wanted[name.Text]}})
	}
	return current, nil
}

// changed says why what the record knows of a source does not hold; nil where it
// does.
func (p *plan) changed(path string, s *source, kernels []string, python string, said *hello, hashes map[string]string) (why, err error) {
	at := p.path(path)
	if s == nil {
		return diag.Errorf(at, "its kernels have not been compiled"), nil
	}
	for _, f := range s.Files {
		file := p.path(f.Path)
		hash, ok := hashes[file]
		if !ok {
			if hash, err = hashFile(filepath.Join(p.conf.Dir, filepath.FromSlash(f.Path))); err != nil && !errors.Is(err, fs.ErrNotExist) {
				return nil, diag.File(file, err)
			}
			hashes[file] = hash
		}
		switch {
		case hash == "":
			return diag.Errorf(file, "is gone since the kernels of %s were compiled", path), nil
		case hash != f.SHA256:
			return diag.Errorf(file, "has changed since the kernels of %s were compiled", path), nil
		}
	}
	switch {
	case said != nil && (said.Triton != s.Triton || said.Distribution != s.Distribution):
		return diag.Errorf(at, "its kernels were compiled with Triton %s, but this Python has %s", s.Triton, said.Triton), nil
	case said == nil && python != "" && otherDistribution(python, s.Distribution):
		return diag.Errorf(at, "its kernels were compiled with Triton %s, but this Python has another", s.Triton), nil
	}
	for _, k := range kernels {
		if s.Kernels[k] == nil {
			return diag.Errorf(at, "kernel %q has not been compiled", k), nil
		}
	}
	return nil, nil
}

// path is a source's for messages.
func (p *plan) path(name string) string {
	return filepath.ToSlash(filepath.Join(p.conf.Dir, filepath.FromSlash(name)))
}

// kernel makes the jobs of one kernel, or adds what has to be asked first.
func (p *plan) kernel(pkg *config.Package, k *config.Kernel, src *source, options []string) ([]*job, error) {
	facts := src.Kernels[k.Function]
	resolved, err := resolve(k, facts, options)
	if err != nil {
		return nil, err
	}
	variants, questions, err := resolved.expand()
	if err != nil {
		return nil, err
	}
	if questions != nil {
		a := &asked{pos: k.Pos, kernel: facts, request: request{Op: "heuristics", Source: src.Path, Kernel: k.Function}}
		for _, q := range questions {
			a.keys = append(a.keys, q.key)
			a.request.Constants = append(a.request.Constants, q.constants)
		}
		p.question = append(p.question, a)
		p.why = append(p.why, diag.Errorf(k.Pos, "kernel %q: its constants have changed since it was compiled", k.Function))
		return nil, nil
	}
	product := &Product{Package: pkg.Name, Kernel: k.Function, Variants: len(variants), Targets: len(p.conf.TargetsOf(k).Archs), Factors: resolved.product()}
	p.products = append(p.products, product)
	js, err := jobs(p.conf, packageFolder(p.conf, pkg), resolved, variants, src)
	for _, j := range js {
		j.product = product
	}
	return js, err
}

// compare finds the jobs whose artefacts are not what the record says of what is
// wanted.
func (p *plan) compare() {
	recorded := p.record.folders()
	for i, of := range p.packages {
		var reasons []staleness
		for _, j := range of {
			stale, renew := p.compareJob(j, recorded)
			switch {
			case stale != "":
				p.stale = append(p.stale, j)
				j.product.Images++
			case renew:
				p.renewed = append(p.renewed, j)
				stale = "another documentation, grid or description than when compiled"
			default:
				continue
			}
			p.open[i] = true
			if n := len(reasons); n > 0 && reasons[n-1].job.conf == j.conf && reasons[n-1].why == stale {
				reasons[n-1].images++
			} else {
				reasons = append(reasons, staleness{j, stale, 1})
			}
		}
		for _, r := range reasons {
			p.why = append(p.why, r.fault())
		}
	}
}

// staleness is why images of a kernel are not up to date; job is the first.
type staleness struct {
	job    *job
	why    string
	images int
}

func (s staleness) fault() error {
	subject := s.job.String()
	if s.images > 1 {
		subject = fmt.Sprintf("kernel %q, %d images", s.job.conf.Function, s.images)
	}
	return diag.Errorf(s.job.conf.Pos, "%s: %s", subject, s.why)
}

func (p *plan) compareJob(j *job, recorded map[string]made) (stale string, renew bool) {
	sidecar := sum(j.sidecar)
	for _, folder := range j.folders() {
		switch m, ok := recorded[folder]; {
		case !ok:
			stale = "not compiled yet"
		case m.Inputs != j.inputs:
			stale = "other types, constants or options than when compiled"
		case size(filepath.Join(p.folder, filepath.FromSlash(folder))) != m.Size:
			stale = fmt.Sprintf("its artefacts in %s are not those that were compiled", folder)
		case m.Sidecar != sidecar:
			renew = true
		}
	}
	return stale, renew
}
