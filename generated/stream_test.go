package generated_test

import (
	"context"
	"errors"
	"math"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/kerngen/kerngen/generated/vec"
	kernrt "github.com/kerngen/kerngen/runtime"
)

func record(t *testing.T, s *kernrt.Stream) *kernrt.Event {
	t.Helper()
	e, err := s.Device().NewEvent()
	launched(t, err)
	t.Cleanup(func() { launched(t, e.Close()) })
	launched(t, e.Record(s))
	return e
}

// many is how many numbers busy is to fill, to last.
func many(t *testing.T) int { return scaled(t, 32<<20, 1000) }

// busy queues work that keeps the device busy after the host has queued it.
func busy(t *testing.T, s *kernrt.Stream, b *kernrt.Buffer[int32]) {
	t.Helper()
	for i := range 400 {
		launched(t, b.Fill(s, int32(i)))
	}
}

func TestPriorities(t *testing.T) {
	for _, asked := range []int{0, 1, math.MaxInt, -1, math.MinInt} {
		s, err := device(t).NewStream(kernrt.WithPriority(asked))
		launched(t, err)
		got, err := s.Priority()
		launched(t, err)
		if got > 0 || asked >= 0 && got != 0 || asked < 0 && got >= 0 {
			t.Errorf("asked for %d, got %d", asked, got)
		}
		launched(t, s.Close())
	}
}

// Without the event the copy would read what the fills have not come to.
func TestEventsOrderStreams(t *testing.T) {
	a, b := newStream(t), newStream(t)
	n := many(t)
	filled, copied := hold[int32](t, n), hold[int32](t, n)
	first := record(t, a)
	busy(t, a, filled)
	launched(t, filled.Fill(a, -5))
	last := record(t, a)
	launched(t, b.Wait(last))
	launched(t, copied.CopyFromDevice(b, filled.All()))
	done := b.Done()
	launched(t, last.Synchronize())
	took, err := last.Since(first)
	launched(t, err)
	if took <= 0 {
		t.Errorf("400 fills took %v", took)
	}
	launched(t, <-done)
	if reached, err := b.Query(); !reached || err != nil {
		t.Errorf("after Done: reached %t, %v", reached, err)
	}
	if reached, err := last.Query(); !reached || err != nil {
		t.Errorf("after Synchronize: reached %t, %v", reached, err)
	}
	got, err := copied.Download(b)
	launched(t, err)
	for i, v := range got {
		if v != -5 {
			t.Fatalf("element %d is %d, want -5", i, v)
		}
	}
}

// A wait that is given up leaves the work, and the next wait sees its end.
func TestContextsEndWaits(t *testing.T) {
	s := newStream(t)
	b := hold[int32](t, many(t))
	for range 5 {
		busy(t, s, b)
		e := record(t, s)
		for _, synchronize := range []func(context.Context) error{s.SynchronizeContext, e.SynchronizeContext} {
			ctx, cancel := context.WithTimeout(t.Context(), time.Millisecond)
			if err := synchronize(ctx); err != nil && !errors.Is(err, context.DeadlineExceeded) {
				t.Error(err)
			}
			cancel()
			launched(t, synchronize(t.Context()))
		}
	}
	launched(t, b.Fill(s, 9))
	got, err := b.Download(s)
	launched(t, err)
	if got[0] != 9 || got[len(got)-1] != 9 {
		t.Errorf("filled with %d and %d, want 9", got[0], got[len(got)-1])
	}
}

const brokenChild = "KERNGEN_TEST_BROKEN_DEVICE"

// After a kernel that reads where nothing is, the device is lost to the process:
// each wait and each call must end with that error. In a process of its own.
func TestBrokenDevice(t *testing.T) {
	if os.Getenv(brokenChild) == "" {
		device(t)
		ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute) // what hangs is a failure
		defer cancel()
		child := exec.CommandContext(ctx, os.Args[0], "-test.run=^TestBrokenDevice$", "-test.v")
		child.Env = append(os.Environ(), brokenChild+"=1")
		out, err := child.CombinedOutput()
		if err != nil || !strings.Contains(string(out), "--- PASS: TestBrokenDevice") {
			t.Errorf("%v\n%s", err, out)
		}
		return
	}
	dev, err := openAnother()
	launched(t, err)
	stream, err := dev.NewStream()
	launched(t, err)
	other, err := dev.NewStream()
	launched(t, err)
	e, err := dev.NewEvent()
	launched(t, err)
	b, err := kernrt.Alloc[int32](dev, many(t))
	launched(t, err)
	h, err := kernrt.AllocHost[int32](dev, many(t))
	launched(t, err)
	const n = 1 << 20
	nowhere := kernrt.PtrFromAddr[float32](1 << 20)
	busy(t, stream, b)
	launched(t, vec.LaunchAdd(stream, nowhere, nowhere, nowhere, n))
	launched(t, e.Record(stream))
	launched(t, other.Wait(e))
	calls := map[string]func() error{
		"Done":                     func() error { return <-stream.Done() },
		"another stream's Done":    func() error { return <-other.Done() },
		"Synchronize":              stream.Synchronize,
		"SynchronizeContext":       func() error { return stream.SynchronizeContext(t.Context()) },
		"Event.Synchronize":        e.Synchronize,
		"Event.SynchronizeContext": func() error { return e.SynchronizeContext(t.Context()) },
		"Download":                 func() error { _, err := b.Download(stream); return err },
	}
	check := func(name string, err error) {
		var driver *kernrt.DriverError
		if !errors.As(err, &driver) {
			t.Errorf("%s: %v is no driver's error", name, err)
		}
	}
	results := make(chan func(), len(calls))
	for name, call := range calls {
		go func() { err := call(); results <- func() { check(name, err) } }()
	}
	for range calls {
		(<-results)()
	}
	calls["Query"] = func() error { _, err := stream.Query(); return err }
	calls["Event.Query"] = func() error { _, err := e.Query(); return err }
	calls["Record"] = func() error { return e.Record(other) }
	calls["CopyFromAsync"] = func() error { return b.CopyFromAsync(other, h) }
	calls["Fill"] = func() error { return b.Fill(other, 1) }
	calls["Alloc"] = func() error { _, err := kernrt.Alloc[int8](dev, 1); return err }
	for name, call := range calls {
		check(name+" afterwards", call())
	}
	check("Close", dev.Close())
}
