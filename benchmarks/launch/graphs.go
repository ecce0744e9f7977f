//go:build cgo

package main

import (
	"fmt"
	"math"
	"time"

	"github.com/kerngen/kerngen/generated/pdl"
	"github.com/kerngen/kerngen/generated/vec"
	kernrt "github.com/kerngen/kerngen/runtime"
	"github.com/kerngen/kerngen/runtime/graph"
)

// pairs of ways to do the same, each of which does it count times and returns
// the nanoseconds that one took.
type pair struct {
	name    string
	c, goes func(count int) (float64, error)
}

// graphs compares graphs made and launched from C and from Go.
func (cfg config) graphs(dev *kernrt.Device, stream *kernrt.Stream) error {
	fmt.Fprintln(cfg.out, "\n| graphs | C, ns | Go, ns | Go - C, ns (95 % interval) | Go / C |\n| --- | --- | --- | --- | --- |")
	for _, launches := range []int{1, 20} {
		pairs, err := cfg.graphPairs(dev, stream, launches)
		if err != nil {
			return err
		}
		for _, p := range pairs {
			if err := cfg.compare(p); err != nil {
				return fmt.Errorf("%s: %w", p.name, err)
			}
		}
	}
	return cfg.overlap(dev, stream)
}

func (cfg config) compare(p pair) error {
	var times [2][]float64
	for round := range cfg.pairs + warmUps {
		for step := range 2 {
			way := (round + step) % 2
			ns, err := []func(int) (float64, error){p.c, p.goes}[way](cfg.burst)
			if err != nil {
				return err
			}
			if round >= warmUps {
				times[way] = append(times[way], ns)
			}
		}
	}
	c, g := medianOf(times[0]).median, medianOf(times[1]).median
	fmt.Fprintf(cfg.out, "| %s | %.0f | %.0f | %v | %.3f |\n", p.name, c, g, difference(times[1], times[0]), g/c)
	return nil
}

// graphPairs are a graph of so many launches of add, launched: the time on
// the host, and until all is done; and its last launch, updated.
func (cfg config) graphPairs(dev *kernrt.Device, stream *kernrt.Stream, launches int) ([]pair, error) {
	k, err := cfg.plain(dev)
	if err != nil {
		return nil, err
	}
	inC, err := k.c.graph(stream, launches)
	if err != nil {
		return nil, err
	}
	var last *graph.Node[vec.AddArgs[float32]]
	g, err := graph.Capture(stream, func() (err error) {
		for range launches {
			last, err = graph.Record[vec.AddArgs[float32]](stream, func() error { return k.goes(stream) })
			if err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	exec, err := g.Instantiate()
	if err != nil {
		return nil, err
	}
	perOne := func(took time.Duration, count int) float64 { return float64(took.Nanoseconds()) / float64(count) }
	launchC := func(count int) (float64, error) {
		took, err := inC.launches(stream, count)
		return perOne(took, count), err
	}
	launchGo := func(count int) (float64, error) {
		start := time.Now()
		for range count {
			if err := exec.Launch(stream); err != nil {
				return 0, err
			}
		}
		return perOne(time.Since(start), count), nil
	}
	name := fmt.Sprintf("graph of %d, launched", launches)
	pairs := []pair{
		{name + ", on the host", drained(stream, launchC), drained(stream, launchGo)},
		{name + ", until done", whole(stream, launchC), whole(stream, launchGo)},
	}
	if launches > 1 {
		return pairs, nil
	}
	args := k.args
	return append(pairs, pair{"graph of 1, its launch updated",
		func(count int) (float64, error) {
			took, err := inC.updates(count)
			return perOne(took, count), err
		},
		func(count int) (float64, error) {
			start := time.Now()
			for range count {
				local := args
				if err := last.Update(exec, kernrt.Grid1D(1), &local); err != nil {
					return 0, err
				}
			}
			return perOne(time.Since(start), count), nil
		},
	}), nil
}

// drained waits for the stream after do, and does not count it.
func drained(stream *kernrt.Stream, do func(int) (float64, error)) func(int) (float64, error) {
	return func(count int) (float64, error) {
		ns, err := do(count)
		if err != nil {
			return 0, err
		}
		return ns, stream.Synchronize()
	}
}

// whole counts the wait too.
func whole(stream *kernrt.Stream, do func(int) (float64, error)) func(int) (float64, error) {
	return func(count int) (float64, error) {
		start := time.Now()
		if _, err := do(count); err != nil {
			return 0, err
		}
		if err := stream.Synchronize(); err != nil {
			return 0, err
		}
		return float64(time.Since(start).Nanoseconds()) / float64(count), nil
	}
}

const chain = 200 // launches of axpy in a graph

// overlap compares a chain of dependent kernels that may start early, launched
// programmatically dependent, with the same chain launched plainly, from C: what
// the overlap of their beginnings saves.
func (cfg config) overlap(dev *kernrt.Device, stream *kernrt.Stream) error {
	x, err := kernrt.Alloc[float32](dev, 2*elements)
	if err != nil {
		return err
	}
	in, out := x.Ptr(), x.Ptr().Add(elements)
	c, err := cfg.cLoop("pdl/axpy_sm90a.cubin", "axpy", 8, 0, in.Addr(), out.Addr(), elements, uint64(math.Float32bits(factor)), 0, 0)
	if err != nil {
		return err
	}
	plainly, err := c.graph(stream, chain)
	if err != nil {
		return err
	}
	g, err := graph.Capture(stream, func() error {
		for range chain {
			if err := pdl.LaunchAxpy(stream, in, out, elements, factor); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return err
	}
	exec, err := g.Instantiate()
	if err != nil {
		return err
	}
	fmt.Fprintf(cfg.out, "\n| a graph of %d dependent kernels | one after the other, ns a kernel | programmatic dependent launch, ns a kernel | difference (95 %% interval) | ratio |\n| --- | --- | --- | --- | --- |\n", chain)
	perKernel := func(do func(int) (float64, error)) func(int) (float64, error) {
		return func(int) (float64, error) {
			ns, err := whole(stream, do)(4)
			return ns / chain, err
		}
	}
	return cfg.compare(pair{"axpy",
		perKernel(func(count int) (float64, error) {
			_, err := plainly.launches(stream, count)
			return 0, err
		}),
		perKernel(func(count int) (float64, error) {
			for range count {
				if err := exec.Launch(stream); err != nil {
					return 0, err
				}
			}
			return 0, nil
		}),
	})
}
