package cuda_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/kerngen/kerngen/internal/fakecuda"
	"github.com/kerngen/kerngen/runtime/internal/cuda"
)

func TestPriorities(t *testing.T) {
	_, ctx := start(t)
	least, greatest := 0, -5 // of every device since sm_70
	for _, test := range []struct{ asked, got int }{{0, 0}, {greatest, greatest}, {greatest - 7, greatest}, {least + 7, least}} {
		st, s := ctx.NewStream(test.asked)
		must(t, s)
		got, s := ctx.Priority(st)
		must(t, s)
		if got != test.got {
			t.Errorf("asked for %d, got %d, want %d", test.asked, got, test.got)
		}
		must(t, ctx.Destroy(st))
	}
}

func TestEvents(t *testing.T) {
	_, ctx := start(t)
	a, b := stream(t, ctx), stream(t, ctx)
	first, last := event(t, ctx, 0), event(t, ctx, cuda.EventBlocking)
	untimed, unused := event(t, ctx, cuda.EventUntimed), event(t, ctx, 0)

	must(t, ctx.QueryEvent(unused))
	must(t, ctx.SynchronizeEvent(unused))
	must(t, ctx.Wait(b, unused))
	must(t, ctx.Record(first, a))
	must(t, ctx.Record(untimed, a))
	must(t, ctx.Wait(b, untimed))
	must(t, ctx.Record(last, b))
	must(t, ctx.SynchronizeEvent(last))
	must(t, ctx.QueryEvent(first))
	must(t, ctx.Query(b))
	ms, s := ctx.Elapsed(first, last)
	must(t, s)
	if ms <= 0 {
		t.Errorf("%g ms from one event to a later one", ms)
	}
	_, s = ctx.Elapsed(first, untimed)
	expect(t, s, "cuEventElapsedTime", cuda.InvalidHandle)
	_, s = ctx.Elapsed(first, unused)
	expect(t, s, "cuEventElapsedTime", cuda.InvalidHandle)

	if fake == nil {
		return
	}
	want := []fakecuda.EventUse{
		{Wait: true, Event: uintptr(unused), Stream: uintptr(b)},
		{Event: uintptr(first), Stream: uintptr(a)},
		{Event: uintptr(untimed), Stream: uintptr(a)},
		{Wait: true, Event: uintptr(untimed), Stream: uintptr(b)},
		{Event: uintptr(last), Stream: uintptr(b)},
	}
	if diff := cmp.Diff(want, fake.Events()); diff != "" {
		t.Errorf("events (-want +got):\n%s", diff)
	}
}

func TestNotReady(t *testing.T) {
	_, ctx := start(t)
	if fake == nil {
		t.Skip("no fake driver")
	}
	a, b, e := stream(t, ctx), stream(t, ctx), event(t, ctx, 0)
	fake.Hold(uintptr(a))
	must(t, ctx.Record(e, a))
	must(t, ctx.Wait(b, e))
	expect(t, ctx.QueryEvent(e), "cuEventQuery", cuda.NotReady)
	expect(t, ctx.Query(b), "cuStreamQuery", cuda.NotReady)
	done := make(chan cuda.Status)
	go func() { done <- ctx.SynchronizeEvent(e) }()
	go func() { done <- ctx.Synchronize(b) }()
	fake.Release(uintptr(a))
	for range 2 {
		must(t, <-done)
	}
	must(t, ctx.Query(b))
}
