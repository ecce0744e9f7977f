package kernrt_test

import (
	"errors"
	"sync"
	"testing"

	kernrt "github.com/kerngen/kerngen/runtime"
)

// Whatever is closed while other goroutines use it, each call succeeds or is
// ErrClosed, and nothing stays.
func TestCloseWhileInUse(t *testing.T) {
	d := driver(t)
	plain, withScratch := add(t), add(t, scratch(kernrt.Scratch{Size: 64}, kernrt.Scratch{}))
	for round := range 20 {
		dev := open(t, 0)
		var streams []*kernrt.Stream
		for range 3 {
			streams = append(streams, newStream(t, dev))
		}
		b, err := kernrt.Alloc[float32](dev, 8)
		must(t, err)
		pool, err := dev.NewPool(1 << 10)
		must(t, err)
		host, err := kernrt.AllocHost[float32](dev, 8)
		must(t, err)
		var wait sync.WaitGroup
		start := make(chan struct{})
		try := func(do func(i int) error) {
			wait.Go(func() {
				<-start
				for i := range 30 {
					if err := do(i); err != nil && !errors.Is(err, kernrt.ErrClosed) {
						t.Error(err)
					}
				}
			})
		}
		once := func(do func() error) {
			wait.Go(func() {
				<-start
				if err := do(); err != nil && !errors.Is(err, kernrt.ErrClosed) {
					t.Error(err)
				}
			})
		}
		for _, s := range streams {
			try(func(int) error { return kernrt.Launch(plain, s, kernrt.Grid1D(1), addArgsOf(16)) })
			try(func(i int) error { return kernrt.Launch(withScratch, s, kernrt.Grid1D(i+1), addArgsOf(16)) })
			try(func(int) error { return b.CopyFrom(s, make([]float32, 8)) })
			try(func(int) error { return s.Synchronize() })
			try(func(int) error { return <-s.Done() })
			try(func(int) error { return b.CopyFromAsync(s, host) })
			try(func(int) error {
				b, err := kernrt.AllocAsync[float32](pool, s, 8)
				if err != nil {
					return err
				}
				return b.FreeAsync(s)
			})
		}
		try(func(int) error {
			s, err := dev.NewStream()
			if err != nil {
				return err
			}
			return s.Close()
		})
		try(func(int) error {
			b, err := kernrt.Alloc[float32](dev, 8)
			if err != nil {
				return err
			}
			return b.Free()
		})
		try(func(int) error { dev.MemoryStats(); _, err := pool.Stats(); return err })
		once(streams[0].Close)
		once(streams[0].Close)
		once(pool.Close)
		once(host.Free)
		once(streams[1].Close)
		once(dev.Close)
		once(dev.Close)
		close(start)
		wait.Wait()
		if leaks := d.Leaks(); len(leaks) > 0 {
			t.Fatalf("round %d: still alive: %+v", round, leaks)
		}
	}
}

// Devices come and go while another one launches the same kernel.
func TestKernelLeavesOneDeviceWhileAnotherLaunches(t *testing.T) {
	d := driver(t)
	d.SetDeviceCount(3)
	k := add(t)
	stays := newStream(t, open(t, 0))
	var wait sync.WaitGroup
	for device := 1; device <= 2; device++ {
		wait.Go(func() {
			for range 30 {
				dev, err := kernrt.Open(device)
				if err != nil {
					t.Error(err)
					return
				}
				s, err := dev.NewStream()
				if err == nil {
					err = kernrt.Launch(k, s, kernrt.Grid1D(1), addArgsOf(16))
				}
				if err := errors.Join(err, dev.Close()); err != nil {
					t.Error(err)
				}
			}
		})
	}
	for range 300 {
		must(t, kernrt.Launch(k, stays, kernrt.Grid1D(1), addArgsOf(16)))
	}
	wait.Wait()
	if n := len(d.Launches()); n != 360 {
		t.Errorf("%d launches, want 360", n)
	}
}
