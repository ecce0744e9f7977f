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

func BenchmarkLaunchTensors(b *testing.B) {
	stream, k := quietly(b), hostKernel(b, 6, 90)
	for b.Loop() {
		args := hostArgs{halfTensor(memory, 64, 48).WithStrides(64, 1), halfTensor(memory+1<<20, 64, 48), 64}
		if err := kernrt.Launch(k, stream, kernrt.Grid1D(1), &args); err != nil {
			b.Fatal(err)
		}
	}
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

type sizedArgs struct {
	A, B, C kernrt.Ptr[float32]
	M, N, K int64
}

// tuned is a kernel of several configurations, each with 16 variants and a
// declared grid. The last variant asks nothing; the others guard six arguments,
// the last of which settles it.
func tuned(configs int) *kernrt.Kernel {
	var params []kernrt.Param
	for _, name := range []string{"a", "b", "c"} {
		params = append(params, kernrt.Param{Name: name, Type: "*fp32", Nullable: true})
	}
	for _, name := range []string{"m", "n", "k"} {
		params = append(params, kernrt.Param{Name: name, Type: "i64"})
	}
	var variants [][]kernrt.Guard
	for range configs {
		for range 15 {
			var guards []kernrt.Guard
			for p := range 6 {
				guards = append(guards, kernrt.Guard{Param: p, Is: kernrt.DivisibleBy16})
			}
			variants = append(variants, guards)
		}
		variants = append(variants, nil)
	}
	k := kernelOf(params, variants...)
	for c := range configs {
		k.Configs = append(k.Configs, kernrt.Config{Name: "c", Grid: []string{"cdiv(m, 128) * cdiv(n, 256)"}})
		for v := range 16 {
			k.Variants[16*c+v].Config = c
		}
	}
	return k
}

// What a declared grid adds to a launch: given and declared, in turn.
func BenchmarkLaunchDeclared(b *testing.B) {
	for _, grid := range []struct {
		name string
		grid kernrt.Grid
	}{{"given", kernrt.Grid2D(8, 2)}, {"declared", kernrt.Grid{}}} {
		b.Run(grid.name, func(b *testing.B) {
			stream, k := quietly(b), tuned(1)
			p := kernrt.PtrFromAddr[float32](memory)
			for b.Loop() {
				args := sizedArgs{p, p, p, 1024, 512, 4096}
				if err := kernrt.Launch(k, stream, grid.grid, &args); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// What dispatch adds to a launch of one variant alone: the first of 16 variants holds, or the last,
// each of the others failing at the guard of its last argument.
func BenchmarkLaunchDispatch(b *testing.B) {
	for _, test := range []struct {
		name string
		k    int64
	}{{"alone", 4096}, {"first", 4096}, {"last", 4097}} {
		b.Run(test.name, func(b *testing.B) {
			stream, k := quietly(b), tuned(1)
			if test.name == "alone" {
				k.Variants = k.Variants[15:]
			}
			p := kernrt.PtrFromAddr[float32](memory)
			for b.Loop() {
				args := sizedArgs{p, p, p, 1024, 512, test.k}
				if err := kernrt.Launch(k, stream, kernrt.Grid1D(1), &args); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
