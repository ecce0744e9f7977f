package exec

import (
	"fmt"

	"github.com/kerngen/kerngen/runtime/sim/internal/ptx"
)

// program is a kernel compiled to steps, shared by every warp that runs it.
type program struct {
	name    string
	module  *ptx.Module
	insts   []inst
	blocks  []block
	r32     int // number of registers of each kind
	r64     int
	preds   int
	const32 []constant[uint32]
	const64 []constant[uint64]
	ctaid   []constant[uint32] // registers of %ctaid, the value being the axis
	special map[string]int     // special registers in use, to an index in r32 or r64

	paramBytes  int
	sharedBytes int // static; dynamic shared memory follows
	localBytes  int // per thread
	reqTID      [3]int
	maxTID      [3]int
	params      []Param
}

// constant is a register that keeps one value.
type constant[T uint32 | uint64] struct {
	reg   int
	value T
}

// block is a run of instructions that is entered at the first and left at the last.
type block struct {
	first  int // index of the first step's instruction
	steps  []step
	end    ending
	guard  int // of the ending, a predicate; -1 without
	not    bool
	target int // of a jump
	next   int // in program order
	join   int // the nearest block that every way from here passes; -1 for the end
}

type ending uint8

const (
	endNext ending = iota
	endJump
	endExit
)

// source is FILE:LINE of a position, with that of the call where it was inlined, or "".
func (p *program) source(l ptx.Loc) string {
	if l.File == 0 && l.Line == 0 {
		return ""
	}
	name, ok := p.module.Files[l.File]
	if !ok {
		return ""
	}
	at := fmt.Sprintf("%s:%d", name, l.Line)
	if l.Caller != "" {
		at += ", called from " + l.Caller
	}
	return at
}
