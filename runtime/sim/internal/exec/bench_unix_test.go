//go:build unix

package exec

import (
	"context"
	"syscall"
	"testing"
)

// bench times a launch on a checking and on an unchecking device; cpu-ns/op is processor time, which does not depend on what else the machine does.
func bench(b *testing.B, load func(d *Device) (*Entry, Config)) {
	for _, unchecked := range []bool{true, false} {
		name := "checked"
		if unchecked {
			name = "unchecked"
		}
		b.Run(name, func(b *testing.B) {
			d := NewDevice(Options{Unchecked: unchecked})
			e, c := load(d)
			before := cpu()
			for b.Loop() {
				if err := e.Launch(context.Background(), c); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64(cpu()-before)/float64(b.N), "cpu-ns/op")
		})
	}
}

func cpu() int64 {
	var u syscall.Rusage
	syscall.Getrusage(syscall.RUSAGE_SELF, &u)
	return u.Utime.Nano() + u.Stime.Nano()
}

func BenchmarkVectorAdd(b *testing.B) {
	bench(b, func(d *Device) (*Entry, Config) {
		const n = 1 << 20
		z := make([]float32, n)
		return kernel(b, d, "runtime/testdata/add.sm80.ptx", "add_kernel"),
			Config{Grid: Dim{n / 1024, 1, 1}, Block: Dim{128, 1, 1}, Params: params(upload(b, d, z), upload(b, d, z), upload(b, d, z), uint32(n), uint64(0), uint64(0))}
	})
}

func BenchmarkSoftmax(b *testing.B) {
	bench(b, func(d *Device) (*Entry, Config) {
		const rows, cols = 256, 1024
		x := random(rows*cols, 1)
		return kernel(b, d, "runtime/sim/internal/exec/testdata/softmax.sm80.ptx", "softmax"),
			Config{Grid: Dim{rows, 1, 1}, Block: Dim{256, 1, 1}, Shared: 32, Params: params(upload(b, d, x), upload(b, d, x), int32(cols), int32(cols), int32(cols), uint64(0), uint64(0))}
	})
}

func BenchmarkLayerNorm(b *testing.B) {
	bench(b, func(d *Device) (*Entry, Config) {
		const rows, cols = 256, 1024
		x, w := random(rows*cols, 1), random(cols, 2)
		return kernel(b, d, "runtime/sim/internal/exec/testdata/layer_norm_fp32.sm80.ptx", "layer_norm_fp32"),
			Config{Grid: Dim{rows, 1, 1}, Block: Dim{256, 1, 1}, Shared: 4096, Params: params(upload(b, d, x), upload(b, d, w), upload(b, d, w), upload(b, d, x), int32(cols), int32(cols), int32(cols), float32(1e-5), uint64(0), uint64(0))}
	})
}

func BenchmarkMatmul(b *testing.B) {
	bench(b, func(d *Device) (*Entry, Config) {
		const n = 256
		x := halvesOf(random(n*n, 1))
		return kernel(b, d, "runtime/sim/internal/exec/testdata/matmul.rows.sm80.ptx", "matmul"),
			Config{Grid: Dim{4, 1, 1}, Block: Dim{256, 1, 1}, Shared: 49152, Params: params(upload(b, d, x), upload(b, d, x), upload(b, d, x), int32(n), int32(n), int32(n), int32(n), int32(n), int32(n), uint64(0), uint64(0))}
	})
}

func BenchmarkAttention(b *testing.B) {
	bench(b, func(d *Device) (*Entry, Config) {
		x := halvesOf(random(2*256*64, 1))
		return kernel(b, d, "runtime/sim/internal/exec/testdata/attention.sm80.ptx", "attention"),
			Config{Grid: Dim{4, 2, 1}, Block: Dim{128, 1, 1}, Shared: 49152, Params: params(upload(b, d, x), upload(b, d, x), upload(b, d, x), upload(b, d, x), float32(0.18), int32(256), uint64(0), uint64(0))}
	})
}
