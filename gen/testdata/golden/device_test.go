package golden

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	kernrt "github.com/kerngen/kerngen/runtime"

	"example.com/testdata/golden/tuned"
)

// TestTunedOnDevice computes with the kernels of ../tuned on a real device. All
// numbers are small and exact in every type, so results are too.
func TestTunedOnDevice(t *testing.T) {
	device, err := kernrt.Open(0)
	if err != nil {
		if errors.Is(err, kernrt.ErrNoDriver) || errors.Is(err, kernrt.ErrNoDevice) {
			t.Skip(err)
		}
		t.Fatal(err)
	}
	defer device.Close()
	if strings.Contains(device.String(), "Fake") {
		t.Skip("this device runs nothing: ", device)
	}
	stream, err := device.NewStream()
	if err != nil {
		t.Fatal(err)
	}
	defer stream.Close()
	m := machine{t, stream}
	scaleRows(m, func(v float32) float32 { return v }, func(v float32) float32 { return v })
	scaleRows(m, kernrt.NewFloat16, kernrt.Float16.Float32)
	scaleRows(m, kernrt.NewBFloat16, kernrt.BFloat16.Float32)
	convert(m, func(v float32) float32 { return v }, func(v int32) float32 { return float32(v) })
	convert(m, func(v float32) float32 { return v }, kernrt.BFloat16.Float32)
	convert(m, kernrt.NewFloat16, func(v int32) float32 { return float32(v) })
	convert(m, kernrt.NewFloat16, kernrt.BFloat16.Float32)
	fill(m)
}

type machine struct {
	*testing.T
	stream *kernrt.Stream
}

// upload is device memory that holds values, until the device is closed.
func upload[T kernrt.Elem](m machine, values []T) *kernrt.Buffer[T] {
	m.Helper()
	b, err := kernrt.Upload(m.stream, values)
	if err != nil {
		m.Fatal(err)
	}
	return b
}

// equal compares device memory with what it should hold.
func equal[T kernrt.Elem](m machine, name string, b *kernrt.Buffer[T], number func(T) float32, want []float32) {
	m.Helper()
	got, err := b.Download(m.stream)
	if err != nil {
		m.Fatal(err)
	}
	for i, v := range got {
		if number(v) != want[i] {
			m.Errorf("%s: element %d is %v, want %v", name, i, number(v), want[i])
			return
		}
	}
}

const untouched = -3

// scaleRows launches every type's kernel with and without a bias, in each
// configuration and, where config is -1, in the default, on grids of all kinds.
func scaleRows[T float32 | kernrt.Float16 | kernrt.BFloat16](m machine, value func(float32) T, number func(T) float32) {
	for _, size := range [][2]int{{0, 65}, {9, 0}, {1, 1}, {8, 128}, {9, 129}, {100, 300}} {
		for config := -1; config < len(tuned.ScaleRowsConfigs); config++ {
			for _, biased := range []bool{false, true} {
				rows, cols := size[0], size[1]
				stride := cols + 7
				x, out, want := make([]T, rows*stride), make([]T, rows*stride), make([]float32, rows*stride)
				bias := make([]T, cols)
				for col := range bias {
					bias[col] = value(float32(col % 5))
				}
				for i := range x {
					x[i], out[i], want[i] = value(float32(i%13-6)), value(untouched), untouched
					if col := i % stride; col < cols {
						want[i] = float32(i%13-6) * 0.5
						if biased {
							want[i] += float32(col % 5)
						}
					}
				}
				result := upload(m, out)
				args := tuned.ScaleRowsArgs[T]{
					XPtr: upload(m, x).Ptr(), OutPtr: result.Ptr(), Scale: value(0.5), Rows: int32(rows), Cols: int32(cols), Stride: int64(stride),
				}
				if biased {
					args.BiasPtr = upload(m, bias).Ptr()
				}
				name := fmt.Sprintf("scale_rows of %T, %d x %d, configuration %d, bias %v", x, rows, cols, config, biased)
				var err error
				if config < 0 {
					err = tuned.LaunchScaleRows(m.stream, args.XPtr, args.BiasPtr, args.OutPtr, args.Scale, args.Rows, args.Cols, args.Stride)
				} else {
					err = tuned.LaunchScaleRowsConfig(m.stream, config, &args)
				}
				if err != nil {
					m.Errorf("%s: %v", name, err)
					continue
				}
				equal(m, name, result, number, want)
			}
		}
	}
}

func convert[From float32 | kernrt.Float16, To kernrt.BFloat16 | int32](m machine, value func(float32) From, number func(To) float32) {
	for _, n := range []int{0, 1, 255, 256, 1000} {
		x, want := make([]From, n), make([]float32, n)
		for i := range x {
			want[i] = float32(i%200 - 100)
			x[i] = value(want[i])
		}
		out := upload(m, make([]To, n))
		name := fmt.Sprintf("convert of %d %T to %T", n, x, *new(To))
		if err := tuned.LaunchConvert(m.stream, upload(m, x).Ptr(), out.Ptr(), int32(n)); err != nil {
			m.Errorf("%s: %v", name, err)
			continue
		}
		equal(m, name, out, number, want)
	}
}

// fill is launched with a length that is 1, one that is divisible by 16 and one
// that is neither.
func fill(m machine) {
	for config := range tuned.FillConfigs {
		for _, n := range []int{1, 33, 512} {
			values, want := make([]float32, 600), make([]float32, 600)
			for i := range want {
				if i < n {
					want[i] = 7
				}
			}
			out := upload(m, values)
			grid := kernrt.Grid1D((n + tuned.FillBlock - 1) / tuned.FillBlock)
			name := fmt.Sprintf("fill of %d, configuration %d", n, config)
			if err := tuned.LaunchFillConfig(m.stream, config, grid, &tuned.FillArgs{OutPtr: out.Ptr(), Value: 7, N: int64(n)}); err != nil {
				m.Errorf("%s: %v", name, err)
				continue
			}
			equal(m, name, out, func(v float32) float32 { return v }, want)
		}
	}
}
