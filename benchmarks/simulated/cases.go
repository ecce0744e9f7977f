//go:build unix

package main

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math"
	"math/rand/v2"
	"os"

	"github.com/kerngen/kerngen/generated/attention"
	"github.com/kerngen/kerngen/generated/matmul"
	"github.com/kerngen/kerngen/generated/norm"
	"github.com/kerngen/kerngen/generated/softmax"
	"github.com/kerngen/kerngen/generated/vec"
	kernrt "github.com/kerngen/kerngen/runtime"
)

// kernelCase is a launch of a kernel; interpreter.py has the same ones by name.
type kernelCase struct {
	name, title string
	inputs      [][]byte
	start       func(*kernrt.Stream) (*started, error)
	wide        func([]byte) []float64 // the output's elements
}

// started is a case with its buffers on a device.
type started struct {
	launch func() error
	output func() ([]byte, error)
}

const (
	elements             = 1 << 20
	rows, cols           = 256, 1024
	size                 = 256
	heads, tokens, width = 2, 256, 64
	scale                = 1.0 / 8
	epsilon              = 1e-5
)

var cases = []*kernelCase{
	newCase("add", "vector addition, 2^20", float32s, []int{elements, elements}, func(s *kernrt.Stream, p []kernrt.Ptr[float32]) error {
		return vec.LaunchAdd(s, p[0], p[1], p[2], elements)
	}),
	newCase("softmax", "softmax, 256 x 1024", float32s, []int{rows * cols}, func(s *kernrt.Stream, p []kernrt.Ptr[float32]) error {
		return softmax.LaunchSoftmax(s, kernrt.Grid1D(rows), p[1], p[0], cols, cols, cols)
	}),
	newCase("layer_norm", "layer norm, 256 x 1024", float32s, []int{rows * cols, cols, cols}, func(s *kernrt.Stream, p []kernrt.Ptr[float32]) error {
		return norm.LaunchLayerNorm(s, kernrt.Grid1D(rows), p[0], p[1], p[2], p[3], cols, cols, cols, epsilon)
	}),
	newCase("matmul", "matmul, fp16, 256^3", float16s, []int{size * size, size * size}, func(s *kernrt.Stream, p []kernrt.Ptr[kernrt.Float16]) error {
		return matmul.LaunchMatmul(s, p[0], p[1], p[2], size, size, size, size, 1, size, 1, size, 1)
	}),
	newCase("attention", "attention, fp16, 2 x 256 x 64", float16s, []int{heads * tokens * width, heads * tokens * width, heads * tokens * width},
		func(s *kernrt.Stream, p []kernrt.Ptr[kernrt.Float16]) error {
			return attention.LaunchAttention(s, kernrt.Grid2D(tokens/attention.AttentionBlockM, heads), p[0], p[1], p[2], p[3], scale, tokens)
		}),
}

// element is an element type: from a number and back.
type element[T any] struct {
	narrow func(float32) T
	wide   func(T) float32
}

var (
	float32s = element[float32]{func(v float32) float32 { return v }, func(v float32) float32 { return v }}
	float16s = element[kernrt.Float16]{kernrt.NewFloat16, kernrt.Float16.Float32}
)

// newCase makes a case with normally distributed inputs and an output as long as
// the first.
func newCase[T kernrt.Elem](name, title string, kind element[T], lengths []int, launch func(*kernrt.Stream, []kernrt.Ptr[T]) error) *kernelCase {
	random := rand.New(rand.NewPCG(1, uint64(len(name))))
	var inputs [][]T
	c := &kernelCase{name: name, title: title}
	for _, n := range lengths {
		values := make([]T, n)
		for i := range values {
			values[i] = kind.narrow(float32(random.NormFloat64()))
		}
		inputs = append(inputs, values)
		c.inputs = append(c.inputs, encode(values))
	}
	c.start = func(s *kernrt.Stream) (*started, error) {
		var pointers []kernrt.Ptr[T]
		for _, values := range inputs {
			b, err := kernrt.Upload(s, values)
			if err != nil {
				return nil, err
			}
			pointers = append(pointers, b.Ptr())
		}
		out, err := kernrt.Alloc[T](s.Device(), lengths[0])
		if err != nil {
			return nil, err
		}
		pointers = append(pointers, out.Ptr())
		return &started{
			launch: func() error { return launch(s, pointers) },
			output: func() ([]byte, error) {
				values, err := out.Download(s)
				return encode(values), err
			},
		}, nil
	}
	c.wide = func(data []byte) (all []float64) {
		values := make([]T, len(data)/(len(c.inputs[0])/lengths[0]))
		binary.Read(bytes.NewReader(data), binary.LittleEndian, values) // as long as what it reads
		for _, v := range values {
			all = append(all, float64(kind.wide(v)))
		}
		return all
	}
	return c
}

func encode(values any) []byte {
	var b bytes.Buffer
	binary.Write(&b, binary.LittleEndian, values) // to memory, of a fixed size
	return b.Bytes()
}

func (c *kernelCase) writeInputs(folder string) error {
	for i, data := range c.inputs {
		if err := os.WriteFile(input(folder, c.name, i), data, 0o600); err != nil {
			return err
		}
	}
	return nil
}

// difference is the largest between an element of the first contender's output
// and of another's. Rounding to fp16 of numbers up to 64 explains 2^-5.
func (c *kernelCase) difference(contenders []contender) (largest float64, err error) {
	var first []float64
	for i, contender := range contenders {
		data, err := contender.output(c)
		if err != nil {
			return 0, err
		}
		got := c.wide(data)
		if i == 0 {
			first = got
			continue
		}
		if len(got) != len(first) {
			return 0, fmt.Errorf("contender %d has %d elements of output, the first %d", i, len(got), len(first))
		}
		for j, v := range got {
			largest = max(largest, math.Abs(v-first[j])) // NaN stays NaN
		}
	}
	if !(largest <= 0x1p-5) {
		return 0, fmt.Errorf("outputs differ by %v", largest)
	}
	return largest, nil
}
