package generated_test

import (
	"errors"
	"runtime"
	"sync"
	"testing"

	kernrt "github.com/kerngen/kerngen/runtime"
)

// together runs work on n goroutines, which start at the same time.
func together(t *testing.T, n int, work func(i int) error) {
	t.Helper()
	errs := make([]error, n)
	start := make(chan struct{})
	var done sync.WaitGroup
	for i := range n {
		done.Go(func() {
			<-start
			errs[i] = work(i)
		})
	}
	close(start)
	done.Wait()
	if err := errors.Join(errs...); err != nil {
		t.Fatal(err)
	}
}

// Streams of their own: eight goroutines, each with a chain of launches of which
// every one writes the same sums, and a scratch kernel in between.
func TestGoroutinesWithStreams(t *testing.T) {
	const goroutines = 8
	launches := scaled(t, 200, 3)
	streams := generate(goroutines, func() *kernrt.Stream { return newStream(t) })
	additions, scalings := make([]addition[float32], goroutines), make([]scaling, goroutines)
	for i, s := range streams {
		r := random(i)
		additions[i] = newAddition(t, s, normal(r, 20_000+i, 0, 1), normal(r, 20_000+i, 0, 1), [3]int{})
		scalings[i] = newScaling(t, s, 100+i, 64, float32(i))
	}
	together(t, goroutines, func(i int) error {
		for range launches {
			if err := errors.Join(additions[i].launch(streams[i]), scalings[i].launch(streams[i])); err != nil {
				return err
			}
		}
		return nil
	})
	for i, s := range streams {
		additions[i].check(t, s)
		scalings[i].check(t, s)
	}
}

// Two goroutines on one stream, with grids that grow, so that scratch memory is
// replaced while launches that use it are queued.
func TestScratchGrowsOnOneStream(t *testing.T) {
	const goroutines = 2
	sizes := scaled(t, 30, 5)
	s := newStream(t)
	var scalings [goroutines][]scaling
	for i := range scalings {
		for size := range sizes {
			scalings[i] = append(scalings[i], newScaling(t, s, 64*(size+1)+i, 160, float32(size-3)))
		}
	}
	together(t, goroutines, func(i int) error {
		for _, c := range scalings[i] {
			if err := c.launch(s); err != nil {
				return err
			}
		}
		return nil
	})
	for _, of := range scalings {
		for _, c := range of {
			c.check(t, s)
		}
	}
}

// Many goroutines on few streams, moved from thread to thread on the way: none is
// locked to one.
func TestGoroutinesMove(t *testing.T) {
	goroutines, launches := scaled(t, 64, 8), scaled(t, 30, 3)
	streams := generate(4, func() *kernrt.Stream { return newStream(t) })
	additions := make([]addition[float32], goroutines)
	for i := range additions {
		r := random(i)
		additions[i] = newAddition(t, streams[i%4], normal(r, 1500+i, 0, 1), normal(r, 1500+i, 0, 1), [3]int{i % 2, 0, 0})
	}
	together(t, goroutines, func(i int) error {
		for range launches {
			if err := additions[i].launch(streams[i%4]); err != nil {
				return err
			}
			runtime.Gosched()
		}
		return streams[i%4].Synchronize()
	})
	for i := range additions {
		additions[i].check(t, streams[i%4])
	}
}
