package kernrt

import (
	"fmt"
	"slices"
	"strings"
	"sync"
	"unsafe"
)

// Explanation says what a launch would run and why nothing else. Its String is
// for people; the fields are for tests.
type Explanation struct {
	Kernel  string // Kernel.Name, which tells the kernels of several element types apart
	Config  string // the configuration's name; "" where there is one only
	Device  string // "NVIDIA H200 (device 0, sm_90)"
	Grid    Grid   // as given, or computed from the arguments
	Variant int    // from 1, in the order of Kernel.Variants; 0 where none was found or the grid is empty
	Guards  string // what it asks of the arguments: "x_ptr divisible by 16, n equal to 1"; "" for nothing
	Image   Image  // its image that runs: Target and PTX say which; the zero Image where none does
	Scratch uint64 // bytes of scratch memory that the launch needs

	PassedOver []PassedOver // variants in the order of dispatch, and the images of the chosen one
	Err        error        // the *LaunchError that the launch returns; nil where it would be queued
}

// PassedOver is what a launch would not run, and why.
type PassedOver struct {
	Config  string // a configuration as a whole, where Variant is 0
	Variant int    // from 1
	Image   string // "sm_80 cubin", of the chosen variant; "" for the variant as a whole
	Reason  string
}

// Explain calls f with a stream on which nothing is launched, and explains each
// launch that f makes there: with the Launch function and the arguments that the
// program uses. Such a launch passes all checks of a real one, those of
// KERNGEN_DEBUG too, and returns the same error. Its image is loaded, as for a
// real launch, since only the driver knows which it takes: that can take seconds
// for PTX, and a later launch need not load it again. No memory is allocated on
// the device.
//
// Nothing else can be done with the stream, which is closed when f returns; a copy
// or a wait is ErrArgument. Its Handle is of no use to other libraries. Explain
// returns f's error. It is safe for concurrent use, and so is the stream.
func (d *Device) Explain(f func(*Stream) error) ([]Explanation, error) {
	if err := d.check(); err != nil {
		return nil, fmt.Errorf("explain: %w", err)
	}
	if f == nil {
		return nil, faultf(ErrArgument, "explain: the function is nil")
	}
	all := &explanations{}
	s := &Stream{dev: d, debug: d.debug, closed: true, explanations: all}
	err := f(s)
	return all.end(), err
}

// explanations are what a stream of Explain's has been asked for.
type explanations struct {
	mu    sync.Mutex
	all   []Explanation
	ended bool
}

// add returns the error of the launch that is explained.
func (x *explanations) add(e Explanation) error {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.all = append(x.all, e)
	return e.Err
}

func (x *explanations) end() []Explanation {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.ended = true
	return slices.Clip(x.all)
}

// explains reports whether launches on the stream are explained.
func (s *Stream) explains() bool {
	if s == nil || s.explanations == nil {
		return false
	}
	s.explanations.mu.Lock()
	defer s.explanations.mu.Unlock()
	return !s.explanations.ended
}

// explain goes the way of a launch up to where it is queued.
func (k *Kernel) explain(s *Stream, config int, grid Grid, args unsafe.Pointer, argsType any) Explanation {
	d := s.dev
	e := Explanation{Kernel: k.Name, Config: k.configName(config), Device: d.String(), Grid: grid}
	if err := d.acquire(); err != nil {
		e.Err = k.launchError(s, config, nil, grid, err)
		return e
	}
	defer d.use.RUnlock()
	on, p, grid, err := k.choose(d, config, grid, args, argsType)
	e.Grid = grid
	if err == nil && p == nil {
		return e // the grid is empty
	}
	if err == nil {
		err = p.checkCooperative(d, grid)
	}
	if err == nil && p.scratch {
		e.Scratch, err = p.scratchBytes(grid)
	}
	if err == nil && s.debug {
		err = on.checkPointers(p, args)
	}
	if err != nil {
		e.Err = k.launchError(s, config, p, grid, err)
	}
	// Where the launch gets as far as that, also with an error.
	if on, err := k.on(d, argsType); err == nil && args != nil && uint(config) < uint(len(on.configs)) {
		on.explainChoice(&e, config, args)
	}
	return e
}

// scratchBytes is what a launch takes of the stream's scratch memory.
func (p *plan) scratchBytes(grid Grid) (uint64, error) {
	total := uint64(0)
	for _, need := range p.scratchNeeds() {
		if need.Size == 0 {
			continue
		}
		size, err := need.bytes(p.ctas(grid))
		if err != nil {
			return 0, err
		}
		total += size
	}
	return total, nil
}

// explainChoice says which variant and image are launched in a configuration, and
// why the others are not.
func (on *onDevice) explainChoice(e *Explanation, config int, args unsafe.Pointer) {
	chosen := on.configs[config].pick(args)
	for c := range on.configs {
		if c != config {
			e.PassedOver = append(e.PassedOver, PassedOver{Config: on.kernel.configName(c), Reason: "another configuration is launched"})
			continue
		}
		first := on.configs[c].first
		for i := range on.configs[c].variants {
			v := &on.configs[c].variants[i]
			if v == chosen {
				e.Variant = first + i + 1
				e.Guards = on.kernel.guardsText(first + i)
				on.explainImages(e, v)
				continue
			}
			e.PassedOver = append(e.PassedOver, PassedOver{Variant: first + i + 1, Reason: on.whyNot(v, first+i, e.Variant, args)})
		}
	}
}

// whyNot says why a variant is not launched; chosen, from 1, is the one before it
// that is, or 0.
func (on *onDevice) whyNot(v *loadable, variant, chosen int, args unsafe.Pointer) string {
	if len(v.candidates) == 0 {
		return on.noImage(&on.kernel.Variants[variant])
	}
	if broken := on.allBroken(v, args); broken != nil {
		return strings.Join(broken, "; ")
	}
	return fmt.Sprintf("it fits too, but variant %d comes before it", chosen)
}

// guardsText are a variant's promises: "x_ptr divisible by 16, n equal to 1".
func (k *Kernel) guardsText(variant int) string {
	var all []string
	for _, g := range k.Variants[variant].Guards {
		all = append(all, fmt.Sprintf("%s %v", k.Params[g.Param].Name, g.Is))
	}
	return strings.Join(all, ", ")
}

// explainImages says which image of the chosen variant is launched, and why the
// others are not.
func (on *onDevice) explainImages(e *Explanation, v *loadable) {
	v.mu.Lock()
	refused := slices.Clone(v.refused)
	v.mu.Unlock()
	p := v.plan.Load()
	if p != nil {
		e.Image = *p.image
	}
	images := on.kernel.Variants[e.Variant-1].Images
	for i := range images {
		m := &images[i]
		var reason string
		switch at := slices.Index(v.candidates, m); {
		case p != nil && p.image == m:
			continue
		case at < 0:
			t, _ := parseTarget(m.Target) // which check has parsed
			reason = "it runs " + t.runsOn(m.PTX)
		case at < len(refused):
			reason = fmt.Sprintf("the driver, CUDA %s, does not take it: %v", on.dev.info.driver(), refused[at])
		case p == nil:
			reason = "no image could be loaded"
		default:
			reason = fmt.Sprintf("the %v suits the device better", p.image)
		}
		e.PassedOver = append(e.PassedOver, PassedOver{Variant: e.Variant, Image: m.String(), Reason: reason})
	}
}

// String is several lines: what is launched, as what, and what is not.
func (e Explanation) String() string {
	var b strings.Builder
	b.WriteString(e.Kernel)
	if e.Config != "" {
		b.WriteString(" with " + e.Config)
	}
	fmt.Fprintf(&b, " on %s, grid %v: ", e.Device, e.Grid)
	switch {
	case e.Err != nil:
		fmt.Fprintf(&b, "refused: %v", e.Err)
	case e.Variant == 0:
		b.WriteString("nothing is launched, since the grid is empty")
	default:
		fmt.Fprintf(&b, "variant %d, ", e.Variant)
		if e.Guards != "" {
			fmt.Fprintf(&b, "for %s, ", e.Guards)
		}
		fmt.Fprintf(&b, "as %v", &e.Image)
		if e.Scratch > 0 {
			fmt.Fprintf(&b, ", with %s of scratch memory", bytesText(e.Scratch))
		}
	}
	for _, p := range e.PassedOver {
		b.WriteString("\n  not ")
		switch {
		case p.Variant == 0:
			b.WriteString(p.Config)
		case p.Image == "":
			fmt.Fprintf(&b, "variant %d", p.Variant)
		default:
			fmt.Fprintf(&b, "variant %d as %s", p.Variant, p.Image)
		}
		b.WriteString(": " + p.Reason)
	}
	return b.String()
}
