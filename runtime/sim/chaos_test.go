package sim_test

import (
	"context"
	"errors"
	"sync"
	"testing"
	"time"

	kernrt "github.com/kerngen/kerngen/runtime"
	"github.com/kerngen/kerngen/runtime/sim"
)

// TestUseWhileClosing launches, records, waits, allocates and copies on devices and
// streams that others close meanwhile: each call works or is an error, and all end.
func TestUseWhileClosing(t *testing.T) {
	kernel := addKernel(t)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	var devices []*kernrt.Device
	var streams []*kernrt.Stream
	var events []*kernrt.Event
	for range 4 {
		dev, err := sim.Open(sim.Options{Context: ctx, Memory: 64 << 20})
		must(t, err)
		devices = append(devices, dev)
		e, err := dev.NewEvent()
		must(t, err)
		events = append(events, e)
		for range 3 {
			s, err := dev.NewStream()
			must(t, err)
			streams = append(streams, s)
		}
	}
	var wg sync.WaitGroup
	for i, s := range streams {
		wg.Go(func() {
			for n := range 25 {
				other := events[(i+n)%len(events)]
				other.Record(s)
				s.Wait(other)
				b, err := kernrt.Alloc[float32](s.Device(), 1000)
				if err != nil {
					continue
				}
				b.Fill(s, 1)
				args := &addArgs{b.Ptr(), b.Ptr(), b.Ptr(), 1000}
				kernrt.Launch(kernel, s, kernrt.Grid1D(1), args)
				s.Synchronize()
				b.Free()
			}
		})
	}
	time.Sleep(5 * time.Millisecond)
	for i, s := range streams {
		if i%3 == 0 {
			s.Close()
		}
	}
	devices[0].Close()
	cancel()
	devices[1].Close()
	wg.Wait()
	for i, dev := range devices {
		dev.Close()
		if _, err := kernrt.Alloc[byte](dev, 1); !errors.Is(err, kernrt.ErrClosed) {
			t.Errorf("device %d, allocation after Close: %v", i, err)
		}
		if err := kernrt.Launch(kernel, streams[3*i], kernrt.Grid1D(1), &addArgs{N: 1}); err == nil {
			t.Errorf("device %d: a launch after Close", i)
		}
	}
}
