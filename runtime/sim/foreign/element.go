package main

import (
	"encoding/binary"
	"fmt"
	"math"

	kernrt "github.com/kerngen/kerngen/runtime"
)

// element is how values of a type are compared.
type element struct {
	size int // bytes
	// value gives what bits are worth; nil for integers, which are the same or not.
	value func(bits uint64) float64
}

func elementOf(triton string) (element, error) {
	switch triton {
	case "i1", "i8", "u8":
		return element{size: 1}, nil
	case "i16", "u16":
		return element{size: 2}, nil
	case "i32", "u32":
		return element{size: 4}, nil
	case "i64", "u64":
		return element{size: 8}, nil
	case "fp8e4nv":
		return element{1, func(b uint64) float64 { return float64(kernrt.Float8E4M3FN(b).Float32()) }}, nil
	case "fp8e5":
		return element{1, func(b uint64) float64 { return float64(kernrt.Float8E5M2(b).Float32()) }}, nil
	case "fp16":
		return element{2, func(b uint64) float64 { return float64(kernrt.Float16(b).Float32()) }}, nil
	case "bf16":
		return element{2, func(b uint64) float64 { return float64(kernrt.BFloat16(b).Float32()) }}, nil
	case "fp32":
		return element{4, func(b uint64) float64 { return float64(math.Float32frombits(uint32(b))) }}, nil
	case "fp64":
		return element{8, math.Float64frombits}, nil
	}
	return element{}, fmt.Errorf("elements of type %q are not compared", triton)
}

func (e element) bits(memory []byte, i int) uint64 {
	var word [8]byte
	copy(word[:], memory[i*e.size:(i+1)*e.size])
	return binary.LittleEndian.Uint64(word[:])
}

// rank is the place of a float's bits among all floats of its size, in order of
// value, so that neighbours differ by one.
func (e element) rank(bits uint64) int64 {
	sign := uint64(1) << (8*e.size - 1)
	if bits&sign != 0 {
		return -int64(bits &^ sign)
	}
	return int64(bits)
}
