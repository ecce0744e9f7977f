//go:build cgo

// Command launch measures what a launch costs on the host: the same cubin
// launched by a C loop and by the generated Go function, in one process, in
// bursts that alternate, so that both see the same machine. It prints a table
// in Markdown; compare figures of one run only.
//
// It runs on the device that the driver shows first, whose architecture must
// be sm_90, or on another driver that KERNGEN_LIBCUDA names.
package main

import (
	"flag"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"runtime"

	"github.com/kerngen/kerngen/generated/descriptor"
	"github.com/kerngen/kerngen/generated/tensor"
	"github.com/kerngen/kerngen/generated/vec"
	"github.com/kerngen/kerngen/internal/fakecuda"
	kernrt "github.com/kerngen/kerngen/runtime"
)

func main() {
	cfg := config{out: os.Stdout}
	flag.StringVar(&cfg.cubins, "cubins", "generated", "folder with the generated packages, for the C loop's cubins")
	flag.IntVar(&cfg.pairs, "pairs", 200, "pairs of bursts")
	flag.IntVar(&cfg.burst, "burst", 256, "launches a burst")
	flag.IntVar(&cfg.perThread, "per-thread", 20000, "launches a thread")
	fake := flag.Bool("fake", false, "run on a fake driver, which does next to nothing: what is left is the cost of the way there")
	flag.Parse()
	if *fake {
		if err := useFake(); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
	}
	if err := cfg.run(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// useFake builds the tests' driver and has everything here open it.
func useFake() error {
	dir, err := os.MkdirTemp("", "fakecuda")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	path, err := fakecuda.Build(dir)
	if err != nil {
		return err
	}
	driver, err := fakecuda.Open(path) // from here on the file is not needed
	if err != nil {
		return err
	}
	driver.Record(false)
	return os.Setenv("KERNGEN_LIBCUDA", path)
}

type config struct {
	out                     io.Writer
	cubins                  string
	pairs, burst, perThread int
}

const (
	elements = 1024 // of each vector: the kernel itself must not be the bottleneck
	tile     = 64   // rows and columns of each matrix
	factor   = 2
)

func (cfg config) run() error {
	dev, err := kernrt.Open(0)
	if err != nil {
		return err
	}
	defer dev.Close()
	stream, err := dev.NewStream()
	if err != nil {
		return err
	}
	info := dev.Info()
	fmt.Fprintf(cfg.out, "%v, CUDA %d, %s %s/%s, %d pairs of bursts of %d launches\n\n",
		dev, info.DriverVersion, runtime.Version(), runtime.GOOS, runtime.GOARCH, cfg.pairs, cfg.burst)

	plain, err := cfg.plain(dev)
	if err != nil {
		return err
	}
	scratch, err := cfg.withScratch(dev)
	if err != nil {
		return err
	}
	tensors, err := cfg.withTensors(dev)
	if err != nil {
		return err
	}
	if err := cfg.bursts(stream, plain, scratch, tensors); err != nil {
		return err
	}
	if err := cfg.threads(dev, plain); err != nil {
		return err
	}
	if err := cfg.args(stream, plain); err != nil {
		return err
	}
	return cfg.graphs(dev, stream)
}

// contender is one kernel launched both ways.
type contender struct {
	name string
	c    *cLoop
	goes func(*kernrt.Stream) error
	args vec.AddArgs[float32] // of add
}

// plain is a vector addition.
func (cfg config) plain(dev *kernrt.Device) (contender, error) {
	x, err := kernrt.Alloc[float32](dev, 3*elements)
	if err != nil {
		return contender{}, err
	}
	a, b, out := x.Ptr(), x.Ptr().Add(elements), x.Ptr().Add(2*elements)
	c, err := cfg.cLoop("vec/add_fp32_v1_sm90a.cubin", "add", 8, 0, a.Addr(), b.Addr(), out.Addr(), elements, 0, 0)
	return contender{"add_fp32", c, func(s *kernrt.Stream) error {
		return vec.LaunchAdd(s, a, b, out, elements)
	}, vec.AddArgs[float32]{XPtr: a, YPtr: b, OutPtr: out, N: elements}}, err
}

// withScratch is a kernel that makes tensor descriptors in scratch memory.
func (cfg config) withScratch(dev *kernrt.Device) (contender, error) {
	x, err := kernrt.Alloc[float32](dev, 2*tile*tile)
	if err != nil {
		return contender{}, err
	}
	in, out := x.Ptr(), x.Ptr().Add(tile*tile)
	scratch, err := kernrt.Alloc[uint8](dev, 4096)
	if err != nil {
		return contender{}, err
	}
	c, err := cfg.cLoop("descriptor/scale_sm90a.cubin", "scale", 4, 8200, in.Addr(), out.Addr(), tile, tile,
		uint64(math.Float32bits(factor)), scratch.Ptr().Addr(), 0)
	return contender{name: "scale (scratch)", c: c, goes: func(s *kernrt.Stream) error {
		return descriptor.LaunchScale(s, in, out, tile, tile, factor)
	}}, err
}

// withTensors is a kernel that takes two tensor descriptors; C passes ready maps.
func (cfg config) withTensors(dev *kernrt.Device) (contender, error) {
	x, err := kernrt.Alloc[kernrt.Float16](dev, 2*tile*tile)
	if err != nil {
		return contender{}, err
	}
	in, out := x.Ptr(), x.Ptr().Add(tile*tile)
	c, err := cfg.cLoop("tensor/copy2_fp16_sm90a.cubin", "copy2", 4, 4104,
		0, tile, tile, tile, 1, 0, tile, tile, tile, 1, 0, 0, 0, 0)
	if err != nil {
		return contender{}, err
	}
	for i, p := range map[int]kernrt.Ptr[kernrt.Float16]{0: in, 5: out} {
		if err := c.setMap(i, p.Addr(), tile, tile, tensor.Copy2BlockRows, tensor.Copy2BlockCols, 2); err != nil {
			return contender{}, err
		}
	}
	grid := kernrt.Grid2D(1, 1)
	return contender{name: "copy2 (two tensors)", c: c, goes: func(s *kernrt.Stream) error {
		return tensor.LaunchCopy2(s, grid, kernrt.NewTensorDesc(in, tile, tile), kernrt.NewTensorDesc(out, tile, tile), 0, 0)
	}}, nil
}

func (cfg config) cLoop(file, kernel string, warps, shared int, params ...uint64) (*cLoop, error) {
	library := os.Getenv("KERNGEN_LIBCUDA")
	if library == "" {
		library = "libcuda.so.1"
	}
	cubin, err := os.ReadFile(filepath.Join(cfg.cubins, filepath.FromSlash(file)))
	if err != nil {
		return nil, err
	}
	return newCLoop(library, 0, cubin, kernel, 32*warps, shared, params...)
}
