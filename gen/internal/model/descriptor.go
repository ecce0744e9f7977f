package model

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/kerngen/kerngen/gen/internal/artefact"
)

// What a launch can encode a tensor map of.
const (
	maxRank       = 5   // dimensions
	maxBox        = 256 // elements along one of them
	tensorMapSize = 128 // bytes
	maxFlags      = 2   // NaN padding, rounding to TF32
)

var tensorMapForms = []string{".b8"}

// isDescriptor reports whether a signature's type is a host tensor descriptor.
func isDescriptor(s string) bool { return strings.HasPrefix(s, "tensordesc") }

// What follows the block, a layout of Gluon's, does not change how a descriptor
// is passed.
var (
	descriptorPattern     = regexp.MustCompile(`^tensordesc<([a-z0-9]+)\[([0-9, ]*)\](?:,.*)?>$`)
	descriptorMLIRPattern = regexp.MustCompile(`^!tt\.tensordesc<(?:tensor<((?:\d+x)+)(\w+)>|((?:\d+x)+)(\w+))(?:,.*)?>$`)
)

// parseDescriptor reads "tensordesc<fp16[64, 64]>".
func parseDescriptor(s string) (Type, error) {
	m := descriptorPattern.FindStringSubmatch(s)
	if m == nil {
		return Type{}, fmt.Errorf("unknown type %q; a tensor descriptor is tensordesc<fp16[64, 64]>", s)
	}
	e, err := parseElement(m[1])
	if err != nil {
		return Type{}, fmt.Errorf("type %q: %w", s, err)
	}
	return descriptorOf(s, e, strings.Split(m[2], ","))
}

// parseDescriptorMLIR reads "!tt.tensordesc<tensor<64x64xf16>>" and the form
// without "tensor" that later releases print.
func parseDescriptorMLIR(s string) (Type, error) {
	m := descriptorMLIRPattern.FindStringSubmatch(s)
	if m == nil {
		return Type{}, fmt.Errorf("unknown TTIR type %q", s)
	}
	e, err := elementMLIR(m[2] + m[4])
	if err != nil {
		return Type{}, fmt.Errorf("TTIR type %q: %w", s, err)
	}
	return descriptorOf(s, e, strings.Split(strings.TrimSuffix(m[1]+m[3], "x"), "x"))
}

// elementMLIR reads the type of a descriptor's elements: here, and nowhere else,
// TTIR tells signs, "si32" and "ui8".
func elementMLIR(s string) (element, error) {
	if signed, ok := strings.CutPrefix(s, "si"); ok {
		return parseElement("i" + signed)
	}
	if unsigned, ok := strings.CutPrefix(s, "ui"); ok {
		return parseElement("u" + unsigned)
	}
	t, err := parseMLIR(s)
	return t.element(), err
}

func descriptorOf(s string, e element, block []string) (Type, error) {
	if len(block) > maxRank {
		return Type{}, fmt.Errorf("type %q has %d dimensions; a tensor descriptor has 1 to %d", s, len(block), maxRank)
	}
	for i, extent := range block {
		block[i] = strings.TrimSpace(extent)
		if n, err := strconv.Atoi(block[i]); err != nil || n < 1 {
			return Type{}, fmt.Errorf("type %q: %q is not the extent of a block", s, block[i])
		}
	}
	return Type{Elem: e.name, Rank: len(block), Block: strings.Join(block, ", ")}, nil
}

// descriptorString spells extents that are not known as Python's full slices.
func (t Type) descriptorString() string {
	block := t.Block
	if block == "" {
		block = strings.TrimSuffix(strings.Repeat(":, ", t.Rank), ", ")
	}
	return fmt.Sprintf("tensordesc<%s[%s]>", t.Elem, block)
}

// ownMap refuses the tensor maps of 3.2 and 3.3, which a program made itself: no
// file tells their boxes.
func (c *checker) ownMap() {
	if c.TTIR == nil {
		return
	}
	for _, a := range c.TTIR.Args {
		if a.TensorMap {
			c.faultAt(ttirExt, a.Line, "parameter %s of %s is a tensor map that no file tells how to encode", argName(a), c.Meta.Name).
				Fix("recompile with Triton 3.4 or later, and pass a tensor descriptor")
		}
	}
}

// descriptors says how the image takes its tensor descriptors. The metadata has
// an entry for each that is passed as a map, and none where they are taken
// apart; then the code tells how many flags there are.
func (c *checker) descriptors(params []param) []Descriptor {
	var ds []Descriptor
	sizes := c.codeSizes()
	at := 0 // of the code's parameters
	for _, p := range params {
		switch {
		case !p.passed():
		case p.Type.Rank == 0:
			at++
		case len(ds) < len(c.Meta.Descriptors):
			ds = append(ds, c.tensorMap(p, c.Meta.Descriptors[len(ds)]))
			at += 1 + 2*p.Type.Rank
		default:
			d := Descriptor{}
			for first := at + 1 + 2*p.Type.Rank; d.Flags < maxFlags && first+d.Flags < len(sizes) && sizes[first+d.Flags] == 1; {
				d.Flags++
			}
			ds = append(ds, d)
			at += 1 + 4*p.Type.Rank + d.Flags
		}
	}
	if n := len(c.Meta.Descriptors); n > 0 && n != len(ds) {
		c.fault(metaExt, "tensordesc_meta has %d entries, but %s has %d tensor descriptors", n, c.argFile(), len(ds)).Fix("%s", c.remedy())
	}
	return ds
}

// codeSizes are the sizes in bytes of the code's parameters.
func (c *checker) codeSizes() []int {
	var sizes []int
	if c.PTX != nil {
		for _, p := range c.PTX.Params {
			sizes = append(sizes, p.Size)
		}
		return sizes
	}
	for _, p := range c.Cubin.Params {
		sizes = append(sizes, p.Size)
	}
	return sizes
}

// dataTypes are CUtensorMapDataType by the numbers that devices have for them,
// with the size in bytes of an element that the descriptor's strides count; the
// last ones are of types that no launch passes.
var dataTypes = map[int]struct{ host, size int }{
	0: {0, 1}, 1: {1, 2}, 2: {2, 4}, 3: {3, 4}, 4: {4, 8}, 5: {5, 8}, // integers
	6: {6, 2}, 7: {7, 4}, 8: {10, 4}, 9: {8, 8}, 10: {9, 2}, // fp16, fp32, fp32 without subnormal numbers, fp64, bf16
	11: {11, 4}, 12: {12, 4}, // TF32
}

// paddedFP4 is the device's and the driver's number of 4-bit elements that take
// a byte each in shared memory. Two share a byte of the tensor.
const paddedFP4 = 14

// tensorMap checks how a descriptor's map is encoded.
func (c *checker) tensorMap(p param, m artefact.Descriptor) Descriptor {
	d := Descriptor{Box: m.Block, Swizzle: m.Swizzle, FP4Padded: m.FP4Padded}
	fault := func(format string, args ...any) {
		c.fault(metaExt, "tensordesc_meta of %s: %s", p.Name, fmt.Sprintf(format, args...)).Fix(remake)
	}
	dataType, known := dataTypes[m.ElemType]
	switch {
	case m.Im2col:
		c.fault(metaExt, "tensordesc_meta of %s: it is an im2col map, which kerngen does not encode", p.Name).Fix("pass a tiled tensor descriptor")
		return d
	case m.FP4Padded != (m.ElemType == paddedFP4):
		fault("fp4_padded is %t, but elem_type %d", m.FP4Padded, m.ElemType)
	case m.FP4Padded:
		dataType.host, dataType.size = paddedFP4, 1
	case !known:
		fault("unknown elem_type %d", m.ElemType)
		return d
	}
	d.DataType = dataType.host
	if size := p.Type.element().size; m.ElemSize != size || dataType.size != size {
		fault("elem_size is %d and elem_type %d, of %d bytes, but the elements are %s of %d", m.ElemSize, m.ElemType, dataType.size, p.Type.Elem, size)
	}
	if len(m.Block) != p.Type.Rank {
		fault("block_size %d has %d dimensions, but the descriptor %d", m.Block, len(m.Block), p.Type.Rank)
	} else if slices.Max(m.Block) > maxBox {
		fault("block_size %d has more than %d elements along a dimension", m.Block, maxBox)
	}
	if r, _ := parseRelease(c.Meta.TritonVersion); m.FP4Padded {
		d.DoubledArg = r.has(doubledFP4Argument) && !r.has(trueFP4Argument)
	}
	return d
}

// slot is one parameter of the code before the scratch pointers: an argument or
// a part of a descriptor.
type slot struct {
	name  string // "n", "x_desc", "x_desc.shape.0"
	param int    // index into the parameters
	typ   Type   // a descriptor's own is that of its map
	guard GuardKind
}

// layOut are the code's parameters that the arguments make up.
func layOut(params []param, ds []Descriptor) []slot {
	var slots []slot
	for i, p := range params {
		switch {
		case !p.passed():
		case p.Type.Rank == 0:
			slots = append(slots, slot{p.Name, i, p.Type, p.guard})
		case len(ds) == 0: // refused
		default:
			for _, part := range ds[0].parts(p.Type) {
				slots = append(slots, slot{p.Name + part.name, i, part.typ, 0})
			}
			ds = ds[1:]
		}
	}
	return slots
}

// parts are what a descriptor of type t is passed as.
func (d Descriptor) parts(t Type) []slot {
	var parts []slot
	add := func(name, elem string, n int) {
		for i := range n {
			parts = append(parts, slot{name: fmt.Sprintf("%s.%d", name, i), typ: Type{Elem: elem}})
		}
	}
	if d.Box != nil {
		parts = append(parts, slot{typ: t})
	} else {
		parts = append(parts, slot{typ: Type{Elem: t.Elem, Pointer: 1}})
		add(".shape", "i64", t.Rank)
		add(".stride", "i64", t.Rank)
		for _, name := range []string{".padding", ".roundF32ToTF32"}[:d.Flags] {
			parts = append(parts, slot{name: name, typ: Type{Elem: "i1"}})
		}
	}
	add(".shape", "i32", t.Rank)
	add(".stride", "i64", t.Rank)
	return parts
}

// named reports whether an argument of the TTIR can be the slot: releases name a
// descriptor's parts after the descriptor or by themselves, and a tuple's members
// after the tuple.
func (s slot) named(a artefact.Arg, params []param, outer string) bool {
	return a.Name == "" || a.Name == s.name || a.Name == params[s.param].Name || a.Name == outer
}

// takenApart reports whether the TTIR has, instead of the descriptors that the
// module before any pass has, what they were taken apart into.
func (c *checker) takenApart() bool {
	isWhole := func(a artefact.Arg) bool { return strings.HasPrefix(a.Type, descriptorPrefix) }
	return c.TTIR != nil && c.Source != nil && slices.ContainsFunc(c.Source.Args, isWhole) && !slices.ContainsFunc(c.TTIR.Args, isWhole)
}

// heads are the arguments of a module without the extents and strides that follow
// each descriptor.
func (c *checker) heads(ext string, args []artefact.Arg) []artefact.Arg {
	var heads []artefact.Arg
	for i := 0; i < len(args); i++ {
		a := args[i]
		if strings.Contains(a.Name, ".") && i > 0 && args[i-1].Name != "" && strings.HasPrefix(a.Name, args[i-1].Name+".") {
			c.faultAt(ext, a.Line, "argument %s is a part of a host tensor descriptor, which only %s tells", args[i-1].Name, c.file(sourceExt)).
				Fix("put %s or %s beside it", c.file(sourceExt), c.file(sidecarExt))
			return nil
		}
		heads = append(heads, a)
		t, err := parseMLIR(a.Type)
		if err != nil || t.Rank == 0 {
			continue
		}
		for _, part := range (Descriptor{Box: []int{}}).parts(t)[1:] {
			i++
			if i == len(args) || !sameSpelling(args[i].Type, part.typ) || args[i].Name != a.Name && args[i].Name != a.Name+part.name {
				c.faultAt(ext, a.Line, "argument %s is a tensor descriptor, but its extents and strides do not follow it", argName(a)).Fix(remake)
				return heads
			}
		}
	}
	return heads
}

// sameSpelling reports whether a module spells type t as mlir, but for const.
func sameSpelling(mlir string, t Type) bool {
	got, err := parseMLIR(mlir)
	return err == nil && got.spelled(t)
}

// spelled reports whether a type read from TTIR can be t, but for const: of
// integers only descriptors tell the sign.
func (got Type) spelled(t Type) bool {
	if got.Rank > 0 {
		return got == t
	}
	return t.Rank == 0 && got.Pointer == t.Pointer && got.element().mlir == t.element().mlir
}

// checkWhole compares the module before any pass, where the TTIR has descriptors
// taken apart, with what the image is passed.
func (c *checker) checkWhole(out *compiled) {
	whole := make([]Descriptor, len(out.image.Descriptors))
	for i := range whole {
		whole[i].Box = []int{}
	}
	c.compareSlots(sourceExt, c.Source.Args, out, layOut(out.params, whole))
}

// compareSlots compares a module's arguments with what they should be.
func (c *checker) compareSlots(ext string, args []artefact.Arg, out *compiled, slots []slot) {
	if len(args) != len(slots) {
		c.fault(ext, "%s has %d arguments, but by %s there are %d", c.Meta.Name, len(args), c.argFile(), len(slots)).Fix("%s", c.remedy())
		return
	}
	for i, a := range args {
		if want := slots[i]; !sameSpelling(a.Type, want.typ) {
			c.faultAt(ext, a.Line, "argument %d, %s, is %s, but should be %s", i, want.name, a.Type, want.typ).Fix("%s", c.remedy())
		}
	}
}

// argName is how to speak of an argument that may have no name.
func argName(a artefact.Arg) string {
	if a.Name == "" {
		return "%" + a.SSA
	}
	return a.Name
}
