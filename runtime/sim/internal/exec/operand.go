package exec

import (
	"fmt"
	"math"
	"slices"

	"github.com/kerngen/kerngen/runtime/sim/internal/float"
	"github.com/kerngen/kerngen/runtime/sim/internal/ptx"
)

// newReg makes a register for a type.
func (c *compiler) newReg(t ptx.Type) operand {
	o := operand{kind: opReg, typ: t}
	switch {
	case t == "pred":
		o.reg = c.preds
		c.preds++
	case t.Bits() <= 32:
		o.reg = c.r32
		c.r32++
	default: // two of them for 128 bits
		o.reg = c.r64
		c.r64 += t.Bits() / 64
	}
	return o
}

func wants(ops []operand, n int) error {
	if len(ops) != n {
		return fmt.Errorf("%d operands where %d were expected", len(ops), n)
	}
	return nil
}

// dst32 is the register that a result of at most 32 bits goes to.
func (c *compiler) dst32(o operand) (int, error) {
	if o.kind == opSink {
		return c.newReg("b32").reg, nil
	}
	if o.kind != opReg || o.typ == "pred" || o.typ.Bits() > 32 {
		return 0, fmt.Errorf("%v is not a register for a result of 32 bits", o)
	}
	return o.reg, nil
}

func (c *compiler) dst64(o operand) (int, error) {
	if o.kind == opSink {
		return c.newReg("b64").reg, nil
	}
	if o.kind != opReg || o.typ.Bits() != 64 {
		return 0, fmt.Errorf("%v is not a register for a result of 64 bits", o)
	}
	return o.reg, nil
}

func (c *compiler) dstPred(o operand) (int, error) {
	if o.kind == opSink {
		return c.newReg("pred").reg, nil
	}
	if o.kind != opReg || o.typ != "pred" || o.not {
		return 0, fmt.Errorf("%v is not a predicate register for a result", o)
	}
	return o.reg, nil
}

// src32 is the register of a source of type t of at most 32 bits; an immediate gets one of its own.
func (c *compiler) src32(o operand, t ptx.Type) (int, error) {
	switch o.kind {
	case opReg:
		if o.typ == "pred" || o.typ.Bits() > 32 || o.not {
			return 0, fmt.Errorf("%v is not a register of %d bits", o, t.Bits())
		}
		return o.reg, nil
	case opSpecial:
		return c.specialReg(o.name, 32)
	}
	v, err := c.value(o, t)
	if err != nil {
		return 0, err
	}
	return c.constant32(uint32(v)), nil
}

func (c *compiler) src64(o operand, t ptx.Type) (int, error) {
	switch o.kind {
	case opReg:
		if o.typ.Bits() != 64 || o.not {
			return 0, fmt.Errorf("%v is not a register of 64 bits", o)
		}
		return o.reg, nil
	case opSpecial:
		return c.specialReg(o.name, 64)
	}
	v, err := c.value(o, t)
	if err != nil {
		return 0, err
	}
	return c.constant64(v), nil
}

// srcPred is a predicate and what to flip in it; an immediate is a constant of all lanes.
func (c *compiler) srcPred(o operand) (reg int, flip uint32, err error) {
	if o.not {
		flip = allLanes
	}
	switch {
	case o.kind == opReg && o.typ == "pred":
		return o.reg, flip, nil
	case o.kind == opImm && !o.float:
		// A predicate that nobody writes is false.
		if o.imm != 0 {
			flip ^= allLanes
		}
		return c.newReg("pred").reg, flip, nil
	}
	return 0, 0, fmt.Errorf("%v is not a predicate", o)
}

// value is an immediate or an address as a value of type t.
func (c *compiler) value(o operand, t ptx.Type) (uint64, error) {
	v := uint64(o.imm)
	switch {
	case o.kind == opPlace:
		v += o.place.offset
	case o.kind != opImm:
		return 0, fmt.Errorf("%v is not a value", o)
	case o.float && o.single && t.Bits() == 64:
		v = math.Float64bits(float64(math.Float32frombits(uint32(v))))
	case o.float && !o.single && t.Bits() == 32:
		v = uint64(math.Float32bits(float32(math.Float64frombits(v))))
	case o.float && t == "f16":
		v = uint64(float.F16.Round(math.Float64frombits(v), float.RN))
	case o.float && t.Bits() < 32:
		return 0, fmt.Errorf("a floating-point literal has no value of type %s", t)
	}
	if b := t.Bits(); b < 64 {
		v &= 1<<b - 1
	}
	return v, nil
}

func (c *compiler) constant32(v uint32) int {
	i := slices.IndexFunc(c.const32, func(k constant[uint32]) bool { return k.value == v })
	if i >= 0 {
		return c.const32[i].reg
	}
	r := c.newReg("b32").reg
	c.const32 = append(c.const32, constant[uint32]{r, v})
	return r
}

func (c *compiler) constant64(v uint64) int {
	i := slices.IndexFunc(c.const64, func(k constant[uint64]) bool { return k.value == v })
	if i >= 0 {
		return c.const64[i].reg
	}
	r := c.newReg("b64").reg
	c.const64 = append(c.const64, constant[uint64]{r, v})
	return r
}
