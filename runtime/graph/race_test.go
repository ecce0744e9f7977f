package graph_test

import (
	"errors"
	"runtime"
	"sync"
	"testing"

	kernrt "github.com/kerngen/kerngen/runtime"
	"github.com/kerngen/kerngen/runtime/graph"
)

// A capture that ends does not wait for another stream, which may wait for it.
func TestCaptureEndsBesideAStreamThatCloses(t *testing.T) {
	_, dev, stream := start(t)
	other := newStream(t, dev)
	var inside kernrt.Inside
	_, _, err := inside.Acquire(other)
	must(t, err)
	closed := make(chan error)
	_, err = graph.Capture(stream, func() error {
		go func() { closed <- other.Close() }()
		for {
			_, _, open := inside.TryAcquire(other)
			if !open { // Close waits
				return launch(plain(t), stream, 1, 16)
			}
			inside.Release(other)
			runtime.Gosched()
		}
	})
	must(t, err)
	inside.Release(other)
	must(t, <-closed)
}

// Whatever is closed while other goroutines use it, each call succeeds or is
// ErrClosed, and nothing stays.
func TestCloseWhileInUse(t *testing.T) {
	if fake == nil {
		t.Skip("no driver")
	}
	for round := range 20 {
		_, dev, stream := start(t)
		streams := []*kernrt.Stream{newStream(t, dev), newStream(t, dev)}
		g, exec, node := recorded(t, stream, withScratch(t, 64, 1), 1, 16)
		var wait sync.WaitGroup
		begin := make(chan struct{})
		try := func(times int, do func(i int) error) {
			wait.Go(func() {
				<-begin
				for i := range times {
					if err := do(i); err != nil && !errors.Is(err, kernrt.ErrClosed) {
						t.Error(err)
					}
				}
			})
		}
		for _, s := range streams {
			try(30, func(int) error { return exec.Launch(s) })
			try(1, func(int) error { return s.Close() })
		}
		try(30, func(i int) error { return node.Update(exec, kernrt.Grid1D(i+1), argsOf(16)) })
		try(10, func(int) error {
			e, err := g.Instantiate()
			if err != nil {
				return err
			}
			return errors.Join(e.Launch(stream), e.Close())
		})
		try(1, func(int) error { return g.Close() })
		try(1, func(int) error { return exec.Close() })
		if round%2 == 0 {
			try(1, func(int) error { return dev.Close() })
		} // else no stream is closed that is being captured, which is an error
		try(5, func(int) error {
			if round%2 == 0 {
				return nil
			}
			own, err := dev.NewStream()
			if err != nil {
				return err
			}
			g, err := graph.Capture(own, func() error { return launch(withScratch(t, 64, 1), own, 1, 16) })
			if err != nil {
				return err
			}
			return errors.Join(g.Close(), own.Close())
		})
		close(begin)
		wait.Wait()
		if err := dev.Close(); err != nil && !errors.Is(err, kernrt.ErrClosed) {
			t.Error(err)
		}
	}
}
