package sim_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"testing"

	kernrt "github.com/kerngen/kerngen/runtime"
	"github.com/kerngen/kerngen/runtime/sim"
)

// plantedArgs are the arguments of the kernels of testdata/planted.py.
type plantedArgs struct {
	X, Out kernrt.Ptr[float32]
	N      int32
}

// planted is a kernel of testdata/planted.py; each change takes a text out of its
// PTX and puts another in, once.
func planted(t testing.TB, name string, changes ...string) *kernrt.Kernel {
	t.Helper()
	data, err := os.ReadFile("testdata/" + name + ".ptx")
	must(t, err)
	code := string(data)
	var shared int
	if _, err := fmt.Sscanf(code, "// shared memory: %d bytes", &shared); err != nil {
		t.Fatal(err)
	}
	for i := 0; i < len(changes); i += 2 {
		if !strings.Contains(code, changes[i]) {
			t.Fatalf("%s.ptx has no %q", name, changes[i])
		}
		code = strings.Replace(code, changes[i], changes[i+1], 1)
	}
	return &kernrt.Kernel{
		Name:   name,
		Params: []kernrt.Param{{Name: "x_ptr", Type: "*fp32"}, {Name: "out_ptr", Type: "*fp32"}, {Name: "n", Type: "i32"}},
		Variants: []kernrt.Variant{{Images: []kernrt.Image{{
			Target: "sm_80", PTX: true, Code: &code, Symbol: name, Args: []int{0, 1, 2}, Hidden: 2, NumWarps: 4, Shared: shared,
		}}}},
	}
}

// line is the number of the line that holds a text in testdata/planted.py.
func line(t *testing.T, text string) string {
	t.Helper()
	source, err := os.ReadFile("testdata/planted.py")
	must(t, err)
	before, _, found := strings.Cut(string(source), text)
	if !found {
		t.Fatalf("planted.py has no %q", text)
	}
	return fmt.Sprintf("planted.py:%d", strings.Count(before, "\n")+1)
}

// kinds are those of a driver's errors.
var kinds = map[string]sim.FaultKind{
	"CUDA_ERROR_ILLEGAL_ADDRESS":    sim.FaultAddress,
	"CUDA_ERROR_MISALIGNED_ADDRESS": sim.FaultMisaligned,
	"CUDA_ERROR_ASSERT":             sim.FaultAssertion,
	"CUDA_ERROR_LAUNCH_FAILED":      sim.FaultOther,
}

// Each fault that is planted in a kernel or its launch is found, and named: the
// kernel, the line of the PTX and of the Python, the program and thread, and the
// argument whose memory it is.
func TestPlantedFaults(t *testing.T) {
	const n = 500 // of two programs
	tests := map[string]struct {
		kernel    string
		changes   []string
		wrong     func(t *testing.T, s *kernrt.Stream, x *kernrt.Buffer[float32], args *plantedArgs)
		want      []string
		argument  int
		driver    string
		unchecked bool // found by an unchecking device too
	}{
		"a mask that is off by one": {
			kernel: "off_by_one",
			want:   []string{line(t, "x = tl.load(x_ptr + i, mask=i <= n)"), "program (1, 0, 0), thread (122, 0, 0)", "ld.global", "0 bytes past the end of allocation", "argument x_ptr"},
			driver: "CUDA_ERROR_ILLEGAL_ADDRESS", unchecked: true,
		},
		"a missing barrier": {
			kernel: "row_sum", changes: []string{"bar.sync", "// bar.sync"},
			// In the lines of tl.sum, which the kernel's line calls.
			want:     []string{"standard.py:", "called from " + line(t, "tl.sum(x)"), "program (0, 0, 0)", "ld.shared"},
			argument: -1, driver: "CUDA_ERROR_ILLEGAL_ADDRESS",
		},
		"a misaligned pointer": {
			kernel: "row_sum",
			wrong: func(t *testing.T, s *kernrt.Stream, x *kernrt.Buffer[float32], args *plantedArgs) {
				args.X = kernrt.PtrFromAddr[float32](x.Ptr().Addr() + 2)
			},
			want:   []string{line(t, "x = tl.load(x_ptr + tl.program_id(0) * n + i"), "program (0, 0, 0), thread (0, 0, 0)", "is not a multiple of 4", "argument x_ptr"},
			driver: "CUDA_ERROR_MISALIGNED_ADDRESS", unchecked: true,
		},
		"a freed buffer": {
			kernel: "row_sum",
			wrong: func(t *testing.T, s *kernrt.Stream, x *kernrt.Buffer[float32], args *plantedArgs) {
				args.X = x.Ptr()
				must(t, x.Free())
			},
			want:   []string{line(t, "x = tl.load(x_ptr + tl.program_id(0) * n + i"), "program (0, 0, 0), thread (0, 0, 0)", "into freed allocation", "argument x_ptr"},
			driver: "CUDA_ERROR_ILLEGAL_ADDRESS", unchecked: true,
		},
		"a size that is too large": {
			kernel: "row_sum",
			wrong:  func(t *testing.T, s *kernrt.Stream, x *kernrt.Buffer[float32], args *plantedArgs) { args.N = 300 },
			want:   []string{line(t, "x = tl.load(x_ptr + tl.program_id(0) * n + i"), "program (1, 0, 0)", "past the end", "argument x_ptr"},
			driver: "CUDA_ERROR_ILLEGAL_ADDRESS", unchecked: true,
		},
		"memory that nobody wrote": {
			kernel: "row_sum",
			wrong: func(t *testing.T, s *kernrt.Stream, x *kernrt.Buffer[float32], args *plantedArgs) {
				fresh, err := kernrt.Alloc[float32](s.Device(), 2*n)
				must(t, err)
				args.X = fresh.Ptr()
			},
			want:   []string{line(t, "x = tl.load(x_ptr + tl.program_id(0) * n + i"), "have never been written", "argument x_ptr"},
			driver: "CUDA_ERROR_ILLEGAL_ADDRESS",
		},
		"a barrier that half of a warp misses": {
			kernel: "row_sum", changes: []string{"bar.sync \t0;", "{ .reg .pred %half; .reg .b32 %i; mov.u32 %i, %tid.x; setp.lt.u32 %half, %i, 16; @%half bar.sync 0; }"},
			want:     []string{"bar.sync", "has taken another way"},
			argument: -1, driver: "CUDA_ERROR_LAUNCH_FAILED", unchecked: true,
		},
		"an assertion": {
			kernel: "positive",
			wrong: func(t *testing.T, s *kernrt.Stream, x *kernrt.Buffer[float32], args *plantedArgs) {
				// Element 300 is in program 1, whose threads have two elements each.
				slice, err := x.Slice(300, 301)
				must(t, err)
				must(t, slice.CopyFrom(s, []float32{-1}))
			},
			want:     []string{"assertion failed: x must be positive", line(t, "tl.device_assert"), "program (1, 0, 0), thread (22, 0, 0)"},
			argument: -1, driver: "CUDA_ERROR_ASSERT", unchecked: true,
		},
	}
	for name, test := range tests {
		for _, unchecked := range []bool{false, true} {
			if unchecked && !test.unchecked {
				continue
			}
			t.Run(fmt.Sprintf("%s/unchecked=%t", name, unchecked), func(t *testing.T) {
				dev, s := open(t, sim.Options{Unchecked: unchecked, Deterministic: true, Output: &bytes.Buffer{}})
				values := make([]float32, n)
				for i := range values {
					values[i] = float32(i + 1)
				}
				x, err := kernrt.Upload(s, values)
				must(t, err)
				out, err := kernrt.Alloc[float32](dev, n)
				must(t, err)
				args := &plantedArgs{x.Ptr(), out.Ptr(), n}
				grid := kernrt.Grid1D(2)
				if test.kernel == "row_sum" {
					args.N = n / 2
				}
				if test.wrong != nil {
					test.wrong(t, s, x, args)
				}
				must(t, kernrt.Launch(planted(t, test.kernel, test.changes...), s, grid, args))
				err = s.Synchronize()
				var fault *sim.Fault
				if !errors.As(err, &fault) {
					t.Fatalf("%v, want a Fault", err)
				}
				if fault.Kernel != test.kernel || fault.Line == 0 || fault.Argument != test.argument {
					t.Errorf("%+v", fault)
				}
				if want := kinds[test.driver]; fault.Kind != want {
					t.Errorf("kind %d, want %d", fault.Kind, want)
				}
				for _, part := range append(test.want, fmt.Sprintf("kernel %q, ptx line %d", test.kernel, fault.Line)) {
					if !strings.Contains(err.Error(), part) {
						t.Errorf("%v does not say %q", err, part)
					}
				}
				var failed *kernrt.DriverError
				if !errors.As(err, &failed) || failed.Name != test.driver {
					t.Errorf("%v is no %s", err, test.driver)
				}
			})
		}
	}
}

// The same kernels, launched as they should be, have no fault.
func TestPlantedWithoutFault(t *testing.T) {
	const n = 250
	var printed bytes.Buffer
	dev, s := open(t, sim.Options{Output: &printed})
	values := make([]float32, 2*n+1)
	for i := range values {
		values[i] = float32(i + 1)
	}
	x, err := kernrt.Upload(s, values)
	must(t, err)
	for _, name := range []string{"off_by_one", "row_sum", "positive"} {
		out, err := kernrt.Alloc[float32](dev, 2*n)
		must(t, err)
		args := &plantedArgs{x.Ptr(), out.Ptr(), 2 * n}
		if name == "row_sum" {
			args.N = n
		}
		must(t, kernrt.Launch(planted(t, name), s, kernrt.Grid1D(2), args))
		if err := s.Synchronize(); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if name == "row_sum" {
			continue
		}
		got, err := out.Download(s)
		must(t, err)
		for i, v := range got {
			if v != values[i] {
				t.Fatalf("%s: element %d is %v, want %v", name, i, v, values[i])
			}
		}
	}
	if text := printed.String(); strings.Count(text, "\n") < 2*n || !strings.Contains(text, "x is: 500.000000\n") {
		t.Errorf("printed %d lines, %.200q...", strings.Count(text, "\n"), text)
	}
}

// A kernel that never ends stops with the Context, and the device that had it can
// be closed.
func TestContextStopsWaitingKernel(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	dev, s := open(t, sim.Options{Context: ctx})
	x, err := kernrt.Upload(s, []float32{0})
	must(t, err)
	must(t, kernrt.Launch(planted(t, "endless"), s, kernrt.Grid1D(2), &plantedArgs{x.Ptr(), x.Ptr(), 1}))
	closed := make(chan error)
	go func() { closed <- dev.Close() }()
	cancel()
	if err := <-closed; !errors.Is(err, context.Canceled) {
		t.Errorf("closing gives %v", err)
	}
}
