package kernrt

import (
	"errors"
	"fmt"
	"math"
	"math/bits"
	"strings"
	"unsafe"

	"github.com/kerngen/kerngen/runtime/internal/cuda"
)

const (
	maxExtent     = math.MaxInt32 // elements: extents are passed as i32
	maxStride     = 1 << 40       // bytes that a stride must be below
	tensorMapSize = 128           // bytes

	// The newest driver that marks small tensors wrongly: CUDA 13.1. See
	// cuda.MapSpec.
	lastMarking = 13010
)

// tensorType reads a parameter's type "tensordesc<fp16[64, 64]>"; extents of
// blocks are for the reader.
func tensorType(triton string) (elem string, rank int, ok bool) {
	inner, ok := strings.CutPrefix(triton, "tensordesc<")
	elem, block, found := strings.Cut(inner, "[")
	if !ok || !found || !strings.HasSuffix(block, "]>") {
		return "", 0, false
	}
	return elem, 1 + strings.Count(block, ","), true
}

func isTensor(triton string) bool {
	_, _, ok := tensorType(triton)
	return ok
}

// tensorParam is what every launch asks of one of its TensorDescs.
type tensorParam struct {
	offset   uintptr // in the args struct
	name     string
	elem     string
	rank     int
	elemSize int64  // bytes
	align    uint64 // bytes, of the base and the strides
	most     int64  // elements along a dimension
	noNaN    string // why it cannot have NaN outside; "" where it can
	noTF32   string // likewise, rounding to TF32
}

// tensorParams are the kernel's TensorDescs. What one of its images cannot do is
// refused on every device: a program shall not learn of it on another.
func (k *Kernel) tensorParams(offsets []uintptr) []tensorParam {
	var all []tensorParam
	for i, p := range k.Params {
		elem, rank, ok := tensorType(p.Type)
		if !ok {
			continue
		}
		t := tensorParam{
			offset: offsets[i], name: p.Name, elem: elem, rank: rank,
			elemSize: int64(elemTypes()[elem].Size()), align: 16, most: maxExtent,
		}
		switch elem {
		case "fp16", "bf16", "fp32", "fp64":
		default:
			t.noNaN = "a tensor map has no NaN of " + elem
		}
		if elem != "fp32" {
			t.noTF32 = "its elements are " + elem + ", not fp32"
		}
		for v := range k.Variants {
			for m := range k.Variants[v].Images {
				t.restrict(&k.Variants[v].Images[m], k, i)
			}
		}
		all = append(all, t)
	}
	return all
}

// restrict takes away what an image cannot do with parameter p.
func (t *tensorParam) restrict(m *Image, k *Kernel, p int) {
	d := m.descriptorOf(k, p)
	switch {
	case d == nil:
	case d.FP4Padded:
		t.align, t.most = 32, maxExtent/2
	case d.Box == nil && d.Flags < 1 && t.noNaN == "":
		t.noNaN = "the kernel's image for " + m.Target + " cannot; compile it with Triton 3.5 or later"
	}
	if d != nil && d.Box == nil && d.Flags < 2 && t.noTF32 == "" {
		t.noTF32 = "the kernel's image for " + m.Target + " cannot; compile it with Triton 3.7 or later"
	}
}

// descriptorOf says how the image takes parameter p, nil where it takes none.
func (m *Image) descriptorOf(k *Kernel, p int) *Descriptor {
	next := 0
	for _, arg := range m.Args {
		if !isTensor(k.Params[arg].Type) {
			continue
		}
		if arg == p {
			return &m.Descriptors[next]
		}
		next++
	}
	return nil
}

// check refuses what no tensor map can be made of. It reads the args struct and
// keeps nothing of it.
func (t *tensorParam) check(args unsafe.Pointer) error {
	d := (*cuda.Desc)(unsafe.Add(args, t.offset))
	if int(d.Rank) != t.rank || d.Strided != d.Rank || d.Address&(t.align-1) != 0 || d.Address == 0 ||
		d.NaN && t.noNaN != "" || d.RoundTF32 && t.noTF32 != "" || d.Strides[(t.rank-1)%maxRank] != 1 {
		return t.fault(*d)
	}
	for i := range t.rank - 1 {
		if uint64(d.Shape[i]-1) >= uint64(t.most) || !t.strides(d.Strides[i]) {
			return t.fault(*d)
		}
	}
	if uint64(d.Shape[t.rank-1]-1) >= uint64(t.most) {
		return t.fault(*d)
	}
	return nil
}

// strides reports whether a dimension but the innermost may have the stride.
func (t *tensorParam) strides(stride int64) bool {
	return uint64(stride) <= uint64((maxStride-1)/t.elemSize) && uint64(stride*t.elemSize)&(t.align-1) == 0
}

// fault says what is wrong with a tensor that check refuses.
func (t *tensorParam) fault(d cuda.Desc) error {
	switch {
	case d.Rank == 0 && d.Address == 0:
		return faultf(ErrArgument, "%s is the zero TensorDesc; use NewTensorDesc", t.name)
	case int(d.Rank) != t.rank:
		return faultf(ErrArgument, "%s has %d dimensions, but the kernel was compiled for %d; give as many extents", t.name, d.Rank, t.rank)
	case d.Strided != d.Rank:
		return faultf(ErrArgument, "%s has %d dimensions, but %d strides; give a stride for each", t.name, d.Rank, d.Strided)
	case d.Address == 0:
		return faultf(ErrArgument, "%s is null; pass device memory", t.name)
	case d.Address&(t.align-1) != 0:
		return faultf(ErrArgument, "%s begins at %#x, which is not a multiple of %d bytes; begin at an element that is aligned", t.name, d.Address, t.align)
	case d.NaN && t.noNaN != "":
		return faultf(ErrArgument, "%s is to have NaN outside: %s", t.name, t.noNaN)
	case d.RoundTF32 && t.noTF32 != "":
		return faultf(ErrArgument, "%s is to be rounded to TF32: %s", t.name, t.noTF32)
	}
	for i := range t.rank {
		extent, stride := d.Shape[i], d.Strides[i]
		switch {
		case extent < 1 || extent > t.most:
			return faultf(ErrArgument, "%s has %d elements along dimension %d; a tensor has 1 to %d", t.name, extent, i, t.most)
		case i == t.rank-1 && stride != 1:
			return faultf(ErrArgument, "%s has stride %d along dimension %d, the innermost, which must be 1; transpose the tensor or copy it", t.name, stride, i)
		case i < t.rank-1 && (stride < 0 || stride > (maxStride-1)/t.elemSize):
			return faultf(ErrArgument, "%s has stride %d along dimension %d, which is not 0 to %d elements", t.name, stride, i, (maxStride-1)/t.elemSize)
		case i < t.rank-1 && !t.strides(stride):
			return faultf(ErrArgument, "%s has stride %d along dimension %d, %d bytes, which is not a multiple of %d; pad its rows to a multiple of %d elements",
				t.name, stride, i, stride*t.elemSize, t.align, int64(t.align)/t.elemSize)
		}
	}
	return nil
}

// checkTensors is check of all TensorDescs.
func (on *onDevice) checkTensors(args unsafe.Pointer) error {
	for i := range on.tensors {
		if err := on.tensors[i].check(args); err != nil {
			return err
		}
	}
	return nil
}

// withTensors adds to the driver's refusal of a tensor map what was to be encoded.
func (on *onDevice) withTensors(err error, args unsafe.Pointer) error {
	var driver *DriverError
	if err == nil || !errors.As(err, &driver) || driver.Call != "cuTensorMapEncodeTiled" {
		return err
	}
	for i := range on.tensors {
		t := &on.tensors[i]
		d := *(*cuda.Desc)(unsafe.Add(args, t.offset))
		err = fmt.Errorf("%w; %s is %s", err, t.name, descText(&d))
	}
	return err
}

// last is the address of the tensor's last byte, the highest there is where that
// lies beyond. The tensor has passed check.
func (t *tensorParam) last(d *cuda.Desc) uint64 {
	last := d.Address + uint64(t.elemSize) - 1
	for i := range t.rank {
		over, bytes := bits.Mul64(uint64(d.Shape[i]-1), uint64(d.Strides[i]*t.elemSize))
		var carry uint64
		if last, carry = bits.Add64(last, bytes, 0); over != 0 || carry != 0 {
			return math.MaxUint64
		}
	}
	return last
}

// passTensor appends to a plan what the image takes of parameter p, a tensor in
// the args struct at offset.
func (on *onDevice) passTensor(spec *cuda.PlanSpec, d *Descriptor, p int, offset uintptr) {
	elem, rank, _ := tensorType(on.kernel.Params[p].Type)
	add := func(field uintptr, n int, size uintptr) {
		for i := range n {
			spec.Offsets = append(spec.Offsets, offset+field+uintptr(i)*size)
		}
	}
	var desc cuda.Desc
	shape, strides := unsafe.Offsetof(desc.Shape), unsafe.Offsetof(desc.Strides)
	if d.Box != nil {
		m := cuda.MapSpec{
			Param: len(spec.Offsets), Rank: rank, ElemSize: int(elemTypes()[elem].Size()),
			DataType: d.DataType, Swizzle: d.Swizzle, FP4Padded: d.FP4Padded, DoubledArg: d.DoubledArg,
			Unmarked: on.dev.info.DriverVersion <= lastMarking,
		}
		for i, extent := range d.Box {
			m.Box[rank-1-i] = uint32(extent)
		}
		spec.Maps = append(spec.Maps, m)
		add(0, 1, 0)
	} else {
		add(unsafe.Offsetof(desc.Address), 1, 0)
		add(shape, rank, 8)
		add(strides, rank, 8)
		add(unsafe.Offsetof(desc.NaN), min(d.Flags, 1), 0)
		add(unsafe.Offsetof(desc.RoundTF32), d.Flags-min(d.Flags, 1), 0)
	}
	add(shape, rank, 8)
	add(strides, rank, 8)
}

// sizes are what a tensor of a rank is passed as, in bytes.
func (d *Descriptor) sizes(rank int) []int {
	var sizes []int
	add := func(n, size int) {
		for range n {
			sizes = append(sizes, size)
		}
	}
	if d.Box != nil {
		add(1, tensorMapSize)
	} else {
		add(1+2*rank, pointerSize)
		add(d.Flags, 1)
	}
	add(rank, 4)
	add(rank, 8)
	return sizes
}

// checkDescriptors refuses an image that does not say how it takes each of its
// tensors.
func (k *Kernel) checkDescriptors(m *Image) string {
	var ranks []int
	for _, arg := range m.Args {
		if _, rank, ok := tensorType(k.Params[arg].Type); ok {
			ranks = append(ranks, rank)
		}
	}
	if len(ranks) != len(m.Descriptors) {
		return "it does not say how it takes each of its tensor descriptors"
	}
	for i, d := range m.Descriptors {
		whole := d.Box != nil
		switch {
		case whole && len(d.Box) != ranks[i], whole && d.Flags != 0, d.Flags < 0, d.Flags > 2,
			!whole && (d.DataType != 0 || d.Swizzle != 0 || d.FP4Padded), d.DoubledArg && !d.FP4Padded:
			return "a descriptor contradicts itself"
		}
		for _, extent := range d.Box {
			if extent < 1 || extent > math.MaxInt32 {
				return "a descriptor's box has an extent that is none"
			}
		}
	}
	return ""
}
