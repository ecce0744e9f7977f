package kernrt_test

import (
	"testing"

	kernrt "github.com/kerngen/kerngen/runtime"
)

// quietly has the fake record nothing, so that it costs a launch little.
func quietly(b *testing.B) *kernrt.Stream {
	b.Helper()
	d, _, stream := onDevice0(b)
	d.Record(false)
	b.ReportAllocs()
	return stream
}

func BenchmarkLaunch(b *testing.B) {
	stream, k := quietly(b), add(b)
	p := kernrt.PtrFromAddr[float32](memory)
	for b.Loop() {
		args := addArgs{p, p, p, 1024}
		if err := kernrt.Launch(k, stream, kernrt.Grid1D(1), &args); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkLaunchScratch(b *testing.B) {
	stream, k := quietly(b), add(b, func(m *kernrt.Image) { m.GlobalScratch = kernrt.Scratch{Size: 256, Align: 128} })
	p := kernrt.PtrFromAddr[float32](memory)
	for b.Loop() {
		args := addArgs{p, p, p, 1024}
		if err := kernrt.Launch(k, stream, kernrt.Grid1D(1), &args); err != nil {
			b.Fatal(err)
		}
	}
}

// Goroutines that share a stream.
func BenchmarkLaunchParallel(b *testing.B) {
	stream, k := quietly(b), add(b)
	p := kernrt.PtrFromAddr[float32](memory)
	b.RunParallel(func(pb *testing.PB) {
		for pb.Next() {
			args := addArgs{p, p, p, 1024}
			if err := kernrt.Launch(k, stream, kernrt.Grid1D(1), &args); err != nil {
				b.Error(err)
				return
			}
		}
	})
}
