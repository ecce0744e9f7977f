package generated_test

import (
	"maps"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/kerngen/kerngen/generated/attention"
	"github.com/kerngen/kerngen/generated/cooperative"
	"github.com/kerngen/kerngen/generated/descriptor"
	"github.com/kerngen/kerngen/generated/dropout"
	"github.com/kerngen/kerngen/generated/histogram"
	"github.com/kerngen/kerngen/generated/matmul"
	"github.com/kerngen/kerngen/generated/norm"
	"github.com/kerngen/kerngen/generated/pdl"
	"github.com/kerngen/kerngen/generated/scalars"
	"github.com/kerngen/kerngen/generated/softmax"
	"github.com/kerngen/kerngen/generated/tensor"
	"github.com/kerngen/kerngen/generated/vec"
	kernrt "github.com/kerngen/kerngen/runtime"
)

// registry is all kernels of the generated packages, by package and name.
func registry() map[string]*kernrt.Kernel {
	all := map[string]*kernrt.Kernel{}
	for pkg, kernels := range map[string][]*kernrt.Kernel{
		"attention": attention.Kernels(), "cooperative": cooperative.Kernels(), "descriptor": descriptor.Kernels(), "dropout": dropout.Kernels(),
		"histogram": histogram.Kernels(), "matmul": matmul.Kernels(), "norm": norm.Kernels(), "pdl": pdl.Kernels(),
		"scalars": scalars.Kernels(), "softmax": softmax.Kernels(), "tensor": tensor.Kernels(), "vec": vec.Kernels(),
	} {
		for _, k := range kernels {
			all[pkg+"."+k.Name] = k
		}
	}
	return all
}

// Args can be made for every generated kernel, by a program without a device.
func TestArgsOfEveryKernel(t *testing.T) {
	all := registry()
	if len(all) < len(referenceLaunches) {
		t.Errorf("%d kernels, fewer than have a Launch function", len(all))
	}
	for name, k := range all {
		if _, err := kernrt.NewArgs(k); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
	for name := range referenceLaunches {
		// Of a kernel with a type variable there is one for each type: name_fp32.
		ofName := func(k string) bool { return k == name || strings.HasPrefix(k, name+"_") }
		if !slices.ContainsFunc(slices.Collect(maps.Keys(all)), ofName) {
			t.Errorf("no kernel %s", name)
		}
	}
}

// launchArgs launches a case of a kernel that is chosen at run time.
func (b *boundCase) launchArgs(s *kernrt.Stream, grid kernrt.Grid) error {
	b.t.Helper()
	name := b.c.Package + "." + b.c.Kernel
	if T := b.c.Types["T"]; T != "" {
		name += "_" + T
	}
	k := registry()[name]
	if k == nil {
		b.t.Fatalf("no kernel %s", name)
	}
	args, err := kernrt.NewArgs(k)
	if err != nil {
		return err
	}
	for i, p := range k.Params {
		a := b.args[p.Name]
		a.used = true
		switch {
		case a.buffer != nil:
			err = args.Set(i, kernrt.Address{Elem: p.Type[1:], Addr: a.buffer.Ptr().Addr() + uint64(a.Offset)})
		case a.Kind == "null":
			err = args.Set(i, kernrt.Address{Elem: p.Type[1:]})
		default:
			err = args.Set(i, a.value())
		}
		if err != nil {
			return err
		}
	}
	config := 0
	for i, c := range k.Configs {
		if len(k.Configs) > 1 && c.Name == b.c.Config {
			config = i
		}
		if c.Grid != nil {
			grid = kernrt.Grid{} // the kernel's own
		}
	}
	return args.LaunchConfig(s, config, grid)
}

// value is a scalar in a Go type that Args take for it, another than the args
// struct's where there is one.
func (a *boundArg) value() any {
	switch a.Type {
	case "i1":
		return a.bits != 0
	case "i8":
		return int(int8(a.bits))
	case "i16":
		return int(int16(a.bits))
	case "i32":
		return int(int32(a.bits))
	case "i64":
		return int64(a.bits)
	case "fp16":
		return kernrt.Float16(a.bits)
	case "bf16":
		return kernrt.BFloat16(a.bits)
	case "fp32":
		return math.Float32frombits(uint32(a.bits))
	case "fp64":
		return math.Float64frombits(a.bits)
	}
	return a.bits // u8 to u64
}
