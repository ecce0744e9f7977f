//go:build !race

package kernrt_test

import (
	"testing"

	kernrt "github.com/kerngen/kerngen/runtime"
)

func TestLaunchAllocatesNothing(t *testing.T) {
	p := kernrt.PtrFromAddr[float32](memory)
	for name, need := range map[string]kernrt.Scratch{"plain": {}, "with scratch memory": {Size: 64, Align: 128}} {
		t.Run(name, func(t *testing.T) {
			d, dev, _ := onDevice0(t)
			for _, option := range [][]kernrt.StreamOption{nil, {kernrt.WithZeroedScratch()}} {
				stream := newStream(t, dev, option...)
				k := add(t, scratch(need, kernrt.Scratch{}))
				d.Record(false)
				n := testing.AllocsPerRun(100, func() {
					args := addArgs{p, p, p, 16}
					if err := kernrt.Launch(k, stream, kernrt.Grid1D(4), &args); err != nil {
						t.Error(err)
					}
				})
				d.Record(true)
				if n != 0 {
					t.Errorf("%v allocations a launch, want none", n)
				}
			}
		})
	}
	t.Run("with tensors", func(t *testing.T) {
		d, _, stream := onDevice0(t)
		k := hostKernel(t, 6, 90)
		d.Record(false)
		n := testing.AllocsPerRun(100, func() {
			x := halfTensor(memory, 64, 48).WithStrides(64, 1).WithNaN()
			args := hostArgs{x, halfTensor(memory+1<<20, 64, 48), 64}
			if err := kernrt.Launch(k, stream, kernrt.Grid1D(4), &args); err != nil {
				t.Error(err)
			}
		})
		d.Record(true)
		if n != 0 {
			t.Errorf("%v allocations a launch, want none", n)
		}
	})
	t.Run("with a declared grid", func(t *testing.T) {
		d, _, stream := onDevice0(t)
		k := tuned(6)
		d.Record(false)
		n := testing.AllocsPerRun(100, func() {
			args := sizedArgs{p, p, p, 16, 64, 4096}
			if err := kernrt.LaunchConfig(k, stream, 3, kernrt.Grid{}, &args); err != nil {
				t.Error(err)
			}
		})
		d.Record(true)
		if n != 0 {
			t.Errorf("%v allocations a launch, want none", n)
		}
	})
	t.Run("with a type variable", func(t *testing.T) {
		d, _, stream := onDevice0(t)
		setPoured()
		d.Record(false)
		out, half := kernrt.PtrFromAddr[kernrt.Float16](memory), kernrt.NewFloat16(1)
		n := testing.AllocsPerRun(100, func() {
			if err := launchPoured(stream, out, half, 1000); err != nil {
				t.Error(err)
			}
		})
		d.Record(true)
		if n != 0 {
			t.Errorf("%v allocations a launch, want none", n)
		}
	})
}

func TestQueuedWorkAllocatesNothing(t *testing.T) {
	d := driver(t)
	b := newBench(t)
	all := b.plain.All()
	for name, do := range map[string]func() error{
		"CopyFromAsync":      func() error { return b.plain.CopyFromAsync(b.stream, b.host) },
		"CopyToAsync":        func() error { return all.CopyToAsync(b.stream, b.host) },
		"CopyFromDevice":     func() error { return b.plain.CopyFromDevice(b.stream, b.pooled.All()) },
		"CopyRowsFromAsync":  func() error { return all.CopyRowsFromAsync(b.stream, b.host, rows) },
		"CopyRowsFromDevice": func() error { return all.CopyRowsFromDevice(b.stream, b.pooled.All(), rows) },
		"CopyFrom":           func() error { return b.plain.CopyFrom(b.stream, b.values) },
		"Fill":               func() error { return b.plain.Fill(b.stream, 1) },
		"Record":             func() error { return b.last.Record(b.stream) },
		"Wait":               func() error { return b.other.Wait(b.last) },
		"Event.Query":        func() error { _, err := b.last.Query(); return err },
		"Synchronize":        b.stream.Synchronize,
	} {
		d.Record(false)
		n := testing.AllocsPerRun(100, func() {
			if err := do(); err != nil {
				t.Error(err)
			}
		})
		d.Record(true)
		if n != 0 {
			t.Errorf("%s: %v allocations, want none", name, n)
		}
	}
}
