//go:build cgo

package main

import (
	"errors"
	"fmt"
	"sync"
	"time"

	kernrt "github.com/kerngen/kerngen/runtime"
)

const threadPairs = 7

// threads times one contender on 1 to 8 streams, a thread or goroutine each,
// from the first launch to the end of the last kernel.
func (cfg config) threads(dev *kernrt.Device, k contender) error {
	fmt.Fprintf(cfg.out, "\n| threads or goroutines, %d launches each | C, ns a launch | Go, ns a launch | Go / C |\n| --- | --- | --- | --- |\n", cfg.perThread)
	for _, n := range []int{1, 2, 4, 8} {
		streams := make([]*kernrt.Stream, n)
		for i := range streams {
			var err error
			if streams[i], err = dev.NewStream(); err != nil {
				return err
			}
		}
		var c, g []float64
		for pair := range threadPairs + 1 {
			inC, err := k.c.onThreads(streams, cfg.perThread)
			if err != nil {
				return err
			}
			inGo, err := onGoroutines(streams, cfg.perThread, k)
			if err != nil {
				return err
			}
			if pair > 0 {
				perLaunch := float64(n * cfg.perThread)
				c = append(c, float64(inC.Nanoseconds())/perLaunch)
				g = append(g, float64(inGo.Nanoseconds())/perLaunch)
			}
		}
		mc, mg := medianOf(c).median, medianOf(g).median
		fmt.Fprintf(cfg.out, "| %d | %.0f | %.0f | %.3f |\n", n, mc, mg, mg/mc)
	}
	return nil
}

func onGoroutines(streams []*kernrt.Stream, count int, k contender) (time.Duration, error) {
	errs := make([]error, len(streams))
	start := make(chan struct{})
	var done sync.WaitGroup
	for i, s := range streams {
		done.Go(func() {
			<-start
			for range count {
				if errs[i] = k.goes(s); errs[i] != nil {
					return
				}
			}
			errs[i] = s.Synchronize()
		})
	}
	begin := time.Now()
	close(start)
	done.Wait()
	return time.Since(begin), errors.Join(errs...)
}
