//go:build cgo

package main

import (
	"fmt"
	"runtime"
	"time"

	kernrt "github.com/kerngen/kerngen/runtime"
)

// ways are how a burst is launched: from C; from Go by a cgo call that does
// nothing but launch; by the generated function.
var ways = []struct {
	name  string
	burst func(config, *kernrt.Stream, contender) (float64, error)
}{
	{"C", config.burstC},
	{"cgo", config.burstCgo},
	{"Go", config.burstGo},
}

const (
	inC, inCgo, inGo = 0, 1, 2
	warmUps          = 3 // rounds that load images and are not counted
)

// bursts times each contender all three ways, burst by burst in turn, with the
// stream drained in between and not counted.
func (cfg config) bursts(stream *kernrt.Stream, contenders ...contender) error {
	fmt.Fprintln(cfg.out, "| kernel | C loop, ns a launch | bare cgo call - C, ns | generated Go - C, ns (95 % interval) | Go / C | generated Go - bare cgo, ns | allocations a launch |")
	fmt.Fprintln(cfg.out, "| --- | --- | --- | --- | --- | --- | --- |")
	medians := make([][2]float64, len(contenders))
	for i, k := range contenders {
		times, err := cfg.rounds(stream, k)
		if err != nil {
			return fmt.Errorf("%s: %w", k.name, err)
		}
		allocs, err := cfg.allocations(stream, k)
		if err != nil {
			return fmt.Errorf("%s: %w", k.name, err)
		}
		c, g := medianOf(times[inC]).median, medianOf(times[inGo]).median
		medians[i] = [2]float64{c, g}
		fmt.Fprintf(cfg.out, "| %s | %.0f | %v | %v | %.3f | %v | %.4f |\n", k.name, c, difference(times[inCgo], times[inC]),
			difference(times[inGo], times[inC]), g/c, difference(times[inGo], times[inCgo]), allocs)
	}
	for i := 1; i < len(contenders); i++ {
		fmt.Fprintf(cfg.out, "\n%s / %s: %.3f from C, %.3f from Go\n", contenders[i].name, contenders[0].name,
			medians[i][0]/medians[0][0], medians[i][1]/medians[0][1])
	}
	return nil
}

// rounds returns the nanoseconds a launch by way and round. Each round starts
// with another way, so that none always runs on what another left in the caches.
func (cfg config) rounds(stream *kernrt.Stream, k contender) ([3][]float64, error) {
	var times [3][]float64
	for round := range cfg.pairs + warmUps {
		for step := range ways {
			way := (round + step) % len(ways)
			ns, err := ways[way].burst(cfg, stream, k)
			if err != nil {
				return times, err
			}
			if round >= warmUps {
				times[way] = append(times[way], ns)
			}
		}
	}
	return times, nil
}

// difference is that of two ways, round by round.
func difference(a, b []float64) interval {
	d := make([]float64, len(a))
	for i := range a {
		d[i] = a[i] - b[i]
	}
	return medianOf(d)
}

func (cfg config) burstC(stream *kernrt.Stream, k contender) (float64, error) {
	took, err := k.c.launches(stream, cfg.burst)
	if err != nil {
		return 0, err
	}
	return float64(took.Nanoseconds()) / float64(cfg.burst), stream.Synchronize()
}

func (cfg config) burstCgo(stream *kernrt.Stream, k contender) (float64, error) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	if err := k.c.enter(); err != nil {
		return 0, err
	}
	return cfg.burst1(stream, k.c.one)
}

func (cfg config) burstGo(stream *kernrt.Stream, k contender) (float64, error) {
	return cfg.burst1(stream, k.goes)
}

// burst1 times a burst of single launches.
func (cfg config) burst1(stream *kernrt.Stream, launch func(*kernrt.Stream) error) (float64, error) {
	start := time.Now()
	for range cfg.burst {
		if err := launch(stream); err != nil {
			return 0, err
		}
	}
	took := time.Since(start)
	return float64(took.Nanoseconds()) / float64(cfg.burst), stream.Synchronize()
}

// allocations counts Go's heap allocations over a burst.
func (cfg config) allocations(stream *kernrt.Stream, k contender) (float64, error) {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	for range cfg.burst {
		if err := k.goes(stream); err != nil {
			return 0, err
		}
	}
	runtime.ReadMemStats(&after)
	return float64(after.Mallocs-before.Mallocs) / float64(cfg.burst), stream.Synchronize()
}
