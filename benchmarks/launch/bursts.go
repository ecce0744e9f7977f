package main

import (
	"fmt"
	"runtime"
	"time"

	kernrt "github.com/kerngen/kerngen/runtime"
)

// bursts times each contender from C and from Go, burst by burst in turn, with
// the stream drained in between and not counted.
func (cfg config) bursts(stream *kernrt.Stream, contenders ...contender) error {
	fmt.Fprintln(cfg.out, "| kernel | C, ns a launch | Go, ns a launch | Go - C, ns (95 % interval) | Go / C | allocations a launch |")
	fmt.Fprintln(cfg.out, "| --- | --- | --- | --- | --- | --- |")
	medians := make([][2]float64, len(contenders))
	for i, k := range contenders {
		var c, g, difference []float64
		for pair := range cfg.pairs + 3 { // the first few load images and warm up
			var inC, inGo float64
			var err error
			if pair%2 == 0 {
				inC, err = cfg.burstC(stream, k)
				if err == nil {
					inGo, err = cfg.burstGo(stream, k)
				}
			} else {
				inGo, err = cfg.burstGo(stream, k)
				if err == nil {
					inC, err = cfg.burstC(stream, k)
				}
			}
			if err != nil {
				return fmt.Errorf("%s: %w", k.name, err)
			}
			if pair >= 3 {
				c, g, difference = append(c, inC), append(g, inGo), append(difference, inGo-inC)
			}
		}
		allocs, err := cfg.allocations(stream, k)
		if err != nil {
			return err
		}
		mc, mg := medianOf(c).median, medianOf(g).median
		medians[i] = [2]float64{mc, mg}
		fmt.Fprintf(cfg.out, "| %s | %.0f | %.0f | %v | %.3f | %.4f |\n", k.name, mc, mg, medianOf(difference), mg/mc, allocs)
	}
	if len(contenders) == 2 {
		fmt.Fprintf(cfg.out, "\n%s / %s: %.3f from C, %.3f from Go\n", contenders[1].name, contenders[0].name,
			medians[1][0]/medians[0][0], medians[1][1]/medians[0][1])
	}
	return nil
}

func (cfg config) burstC(stream *kernrt.Stream, k contender) (float64, error) {
	took, err := k.c.launches(stream, cfg.burst)
	if err != nil {
		return 0, err
	}
	return float64(took.Nanoseconds()) / float64(cfg.burst), stream.Synchronize()
}

func (cfg config) burstGo(stream *kernrt.Stream, k contender) (float64, error) {
	start := time.Now()
	for range cfg.burst {
		if err := k.goes(stream); err != nil {
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
