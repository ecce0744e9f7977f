package kernrt_test

import (
	"context"
	"errors"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	kernrt "github.com/kerngen/kerngen/runtime"
)

func newEvent(t testing.TB, dev *kernrt.Device) *kernrt.Event {
	t.Helper()
	e, err := dev.NewEvent()
	must(t, err)
	return e
}

// goroutines wants no more goroutines when the test ends than when it began.
func goroutines(t *testing.T) {
	t.Helper()
	before := runtime.NumGoroutine()
	t.Cleanup(func() {
		for range 1000 {
			if runtime.NumGoroutine() <= before {
				return
			}
			runtime.Gosched()
			time.Sleep(time.Millisecond) // one that has done its work may still be ending
		}
		stacks := make([]byte, 1<<16)
		t.Errorf("%d goroutines before, %d after:\n%s", before, runtime.NumGoroutine(), stacks[:runtime.Stack(stacks, true)])
	})
}

func TestEventsAcrossStreams(t *testing.T) {
	d, dev, a := onDevice0(t)
	b := newStream(t, dev)
	first, last := newEvent(t, dev), newEvent(t, dev)
	must(t, first.Record(a))
	d.Hold(a.Handle())
	must(t, last.Record(a))
	must(t, b.Wait(last))
	for _, query := range []func() (bool, error){last.Query, a.Query, b.Query} {
		if done, err := query(); done || err != nil {
			t.Errorf("done %t, %v", done, err)
		}
	}
	if done, err := first.Query(); !done || err != nil {
		t.Errorf("an event before the held work: reached %t, %v", done, err)
	}
	_, err := last.Since(first)
	wantError(t, err, kernrt.ErrArgument, "time since an event: one is not reached yet; synchronize it first")
	waits := []<-chan error{a.Done(), b.Done()}
	d.Release(a.Handle())
	must(t, last.Synchronize())
	for _, done := range waits {
		must(t, <-done)
		if _, open := <-done; open {
			t.Error("the channel is not closed")
		}
	}
	for _, test := range []struct {
		from, to *kernrt.Event
		want     time.Duration
	}{{first, last, time.Microsecond}, {last, first, -time.Microsecond}, {last, last, 0}} {
		got, err := test.to.Since(test.from)
		must(t, err)
		if (got - test.want).Abs() > 10 {
			t.Errorf("%v from one event to the other, want %v", got, test.want)
		}
	}
	// Recorded again it stands for the new point.
	must(t, first.Record(b))
	if got, err := last.Since(first); err != nil || got >= 0 {
		t.Errorf("%v since an event that is recorded again, %v", got, err)
	}
}

func TestEventsThatWereNeverRecorded(t *testing.T) {
	_, dev, stream := onDevice0(t)
	e, recorded := newEvent(t, dev), newEvent(t, dev)
	must(t, recorded.Record(stream))
	if reached, err := e.Query(); !reached || err != nil {
		t.Errorf("reached %t, %v", reached, err)
	}
	must(t, e.Synchronize())
	must(t, stream.Wait(e))
	_, err := recorded.Since(e)
	wantError(t, err, kernrt.ErrArgument, "time since an event: one was never recorded")
}

func TestEventsOfACapture(t *testing.T) {
	d, dev, stream := onDevice0(t)
	outside, inside := newEvent(t, dev), newEvent(t, dev)
	must(t, outside.Record(stream))
	d.SetCapture(stream.Handle(), 1)
	must(t, inside.Record(stream))
	wantError(t, stream.Wait(outside), kernrt.ErrCapturing,
		"wait for an event: the stream is being captured, and the event was recorded outside the capture; end the capture first")
	const text = "the event was recorded in a capture, where it is no point in time; record it outside"
	_, err := inside.Query()
	wantError(t, err, kernrt.ErrCapturing, "query: "+text)
	wantError(t, inside.Synchronize(), kernrt.ErrCapturing, "synchronize: "+text)
	wantError(t, inside.SynchronizeContext(t.Context()), kernrt.ErrCapturing, "synchronize: "+text)
	_, err = inside.Since(outside)
	wantError(t, err, kernrt.ErrCapturing, "time since an event: "+text)
	if got := captureState(d, stream.Handle()); got != 1 {
		t.Errorf("the capture is in state %d", got)
	}
	d.SetCapture(stream.Handle(), 0)
	must(t, inside.Record(stream))
	must(t, inside.Synchronize())
}

func TestEventsOfTwoDevices(t *testing.T) {
	d := driver(t)
	d.SetDeviceCount(2)
	first, second := open(t, 0), open(t, 1)
	a, b := newStream(t, first), newStream(t, second)
	e, other := newEvent(t, first), newEvent(t, second)
	wantError(t, e.Record(b), kernrt.ErrOtherDevice, "record: the event is of "+h200+", the stream of Fake H200 (device 1, sm_90)")
	must(t, e.Record(a))
	must(t, other.Record(b))
	must(t, b.Wait(e))
	_, err := other.Since(e)
	wantError(t, err, kernrt.ErrOtherDevice, "time since an event: it is of "+h200+", the later one of Fake H200 (device 1, sm_90)")
}

func TestClosedEvents(t *testing.T) {
	_, dev, stream := onDevice0(t)
	e, open := newEvent(t, dev), newEvent(t, dev)
	must(t, open.Record(stream))
	must(t, e.Close())
	wantError(t, e.Close(), kernrt.ErrClosed, "close: the event is closed already")
	wantError(t, e.Record(stream), kernrt.ErrClosed, "record: the event is closed")
	wantError(t, stream.Wait(e), kernrt.ErrClosed, "wait for an event: the event is closed")
	wantError(t, e.Synchronize(), kernrt.ErrClosed, "synchronize: the event is closed")
	wantError(t, e.SynchronizeContext(t.Context()), kernrt.ErrClosed, "synchronize: the event is closed")
	_, err := e.Query()
	wantError(t, err, kernrt.ErrClosed, "query: the event is closed")
	_, err = open.Since(e)
	wantError(t, err, kernrt.ErrClosed, "time since an event: the event is closed")
	must(t, stream.Close())
	wantError(t, open.Record(stream), kernrt.ErrClosed, "record: the stream is closed")
	wantError(t, <-stream.Done(), kernrt.ErrClosed, "done: the stream is closed")
	wantError(t, stream.SynchronizeContext(t.Context()), kernrt.ErrClosed, "synchronize: the stream is closed")
	must(t, dev.Close())
	wantError(t, open.Close(), kernrt.ErrClosed, "close: the event is closed already")
}

func TestEventsThatWereNeverMade(t *testing.T) {
	_, dev, stream := onDevice0(t)
	e := newEvent(t, dev)
	var noContext context.Context
	for _, none := range []*kernrt.Event{nil, {}} {
		_, queried := none.Query()
		_, since := none.Since(e)
		_, start := e.Since(none)
		for _, err := range []error{queried, since, start, none.Record(stream), none.Synchronize(), none.SynchronizeContext(t.Context()), none.Close(), stream.Wait(none)} {
			if !errors.Is(err, kernrt.ErrArgument) {
				t.Errorf("error %v is not %q", err, kernrt.ErrArgument)
			}
		}
	}
	var noDevice *kernrt.Device
	_, made := noDevice.NewEvent()
	for _, none := range []*kernrt.Stream{nil, {}} {
		for _, err := range []error{made, <-none.Done(), none.SynchronizeContext(t.Context()), none.Wait(e), e.Record(none),
			stream.SynchronizeContext(noContext), e.SynchronizeContext(noContext)} {
			if !errors.Is(err, kernrt.ErrArgument) {
				t.Errorf("error %v is not %q", err, kernrt.ErrArgument)
			}
		}
	}
}

// However many wait, each is told when its own point is reached, in order, and no
// goroutine stays.
func TestManyPointsOfAStream(t *testing.T) {
	goroutines(t)
	d, _, stream := onDevice0(t)
	d.Hold(stream.Handle())
	before := runtime.NumGoroutine()
	var waits []<-chan error
	for range 100 {
		waits = append(waits, stream.Done())
	}
	if more := runtime.NumGoroutine() - before; more > 1 {
		t.Errorf("%d goroutines wait", more)
	}
	select {
	case err := <-waits[0]:
		t.Errorf("held work is done: %v", err)
	default:
	}
	d.Release(stream.Handle())
	for i := range waits {
		must(t, <-waits[len(waits)-1-i])
	}
	if n := d.Count("cuEventCreate") - d.Count("cuEventDestroy_v2"); n != 0 {
		t.Errorf("%d events stay", n)
	}
	must(t, <-stream.Done()) // the next starts a goroutine again
}

func TestContexts(t *testing.T) {
	goroutines(t)
	d, dev, stream := onDevice0(t)
	e := newEvent(t, dev)
	must(t, e.Record(stream))
	cancelled, cancel := context.WithCancel(t.Context())
	cancel()
	for _, synchronize := range []func(context.Context) error{stream.SynchronizeContext, e.SynchronizeContext} {
		must(t, synchronize(context.Background()))
		must(t, synchronize(t.Context()))
		before := len(d.Calls())
		wantError(t, synchronize(cancelled), context.Canceled, "synchronize: context canceled")
		if len(d.Calls()) != before {
			t.Error("a context that is done already asked the driver")
		}
	}
	d.Hold(stream.Handle())
	must(t, e.Record(stream))
	before := runtime.NumGoroutine()
	for range 50 { // giving up and trying again piles nothing up
		for _, synchronize := range []func(context.Context) error{stream.SynchronizeContext, e.SynchronizeContext} {
			ctx, cancel := context.WithCancelCause(t.Context())
			go cancel(errors.New("enough"))
			wantError(t, synchronize(ctx), context.Canceled, "synchronize: context canceled")
		}
	}
	if more := runtime.NumGoroutine() - before; more > 3 { // one for each, and a cancel that is ending
		t.Errorf("%d goroutines wait", more)
	}
	if n := d.Count("cuEventCreate") - d.Count("cuEventDestroy_v2"); n > 2 {
		t.Errorf("%d events, want that of the test and that of the goroutine", n)
	}
	d.Release(stream.Handle())
	must(t, stream.SynchronizeContext(t.Context()))
	must(t, e.SynchronizeContext(t.Context()))
}

// No wait outlasts an error of the device, whether it began before or begins after.
func TestWaitsEndWithTheDevice(t *testing.T) {
	goroutines(t)
	d, dev, stream := onDevice0(t)
	other := newStream(t, dev)
	e := newEvent(t, dev)
	b, err := kernrt.Alloc[int8](dev, 1)
	must(t, err)
	d.Hold(stream.Handle())
	must(t, e.Record(stream))
	must(t, other.Wait(e))
	waits := map[string]func() error{
		"Stream.Synchronize":        stream.Synchronize,
		"Stream.SynchronizeContext": func() error { return stream.SynchronizeContext(t.Context()) },
		"Stream.Done":               func() error { return <-stream.Done() },
		"another Stream.Done":       func() error { return <-other.Done() },
		"Event.Synchronize":         e.Synchronize,
		"Event.SynchronizeContext":  func() error { return e.SynchronizeContext(t.Context()) },
		"CopyFrom":                  func() error { return b.CopyFrom(stream, []int8{1}) },
		"CopyTo":                    func() error { return b.CopyTo(stream, []int8{1}) },
	}
	broken := func(name string, err error) {
		if err == nil || !strings.Contains(err.Error(), "CUDA_ERROR_ILLEGAL_ADDRESS (700)") {
			t.Errorf("%s: error %v is not the device's", name, err)
		}
	}
	var all sync.WaitGroup
	for name, wait := range waits {
		for range 3 {
			all.Go(func() { broken(name, wait()) })
		}
	}
	for d.Count("cuStreamSynchronize")+d.Count("cuEventSynchronize") < len(waits)-1 { // the two Dones of a stream share a wait
		runtime.Gosched()
	}
	d.Break(0, 700)
	all.Wait()
	for name, wait := range waits {
		broken(name, wait())
	}
	broken("Device.Close", dev.Close())
	if err := <-stream.Done(); !errors.Is(err, kernrt.ErrClosed) {
		t.Errorf("after Close: %v", err)
	}
}

// Close waits for those who wait, and they are told.
func TestCloseWhileOthersWait(t *testing.T) {
	goroutines(t)
	for _, last := range []bool{false, true} {
		d, dev, stream := onDevice0(t)
		e := newEvent(t, dev)
		d.Hold(stream.Handle())
		must(t, e.Record(stream))
		done := stream.Done()
		var all sync.WaitGroup
		check := func(err error) {
			if err != nil {
				t.Error(err)
			}
		}
		all.Go(func() { check(e.SynchronizeContext(t.Context())) })
		for d.Count("cuEventSynchronize") < 2 {
			runtime.Gosched()
		}
		all.Go(func() {
			if last {
				check(dev.Close())
				return
			}
			check(stream.Close())
			check(e.Close())
			check(dev.Close())
		})
		d.Release(stream.Handle())
		must(t, <-done)
		all.Wait()
	}
}

func TestEventsOfManyGoroutines(t *testing.T) {
	goroutines(t)
	d, dev, stream := onDevice0(t)
	shared := newEvent(t, dev)
	other := newStream(t, dev)
	var all sync.WaitGroup
	tolerate := func(err error) {
		if err != nil && !errors.Is(err, kernrt.ErrClosed) {
			t.Error(err)
		}
	}
	for range 4 {
		all.Go(func() {
			for range 50 {
				tolerate(shared.Record(stream))
				tolerate(other.Wait(shared))
				_, err := shared.Query()
				tolerate(err)
				tolerate(shared.SynchronizeContext(t.Context()))
				_, err = shared.Since(shared)
				tolerate(err)
				tolerate(<-other.Done())
				tolerate(stream.SynchronizeContext(t.Context()))
				e, err := dev.NewEvent()
				tolerate(err)
				if err == nil {
					tolerate(e.Record(other))
					tolerate(e.Close())
				}
			}
			tolerate(shared.Close())
			tolerate(dev.Close())
		})
	}
	all.Wait()
	if leaks := d.Leaks(); len(leaks) > 0 {
		t.Errorf("still alive: %+v", leaks)
	}
}
