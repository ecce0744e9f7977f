package exec

import (
	"fmt"
	"strings"

	"github.com/kerngen/kerngen/runtime/sim/internal/ptx"
)

// Special registers are ordinary ones here, filled when a CTA begins. Those that change while it runs are read by mov, in move.go.

var special64 = map[string]bool{"%gridid": true}

// specialReg gives the register that holds a special register.
func (c *compiler) specialReg(name string, bits int) (int, error) {
	if changing[name] {
		return 0, fmt.Errorf("%s can only be read by mov", name)
	}
	if special64[name] != (bits == 64) {
		return 0, fmt.Errorf("%s has not %d bits", name, bits)
	}
	if r, ok := c.special[name]; ok {
		return r, nil
	}
	r := c.newReg(ptx.Type(fmt.Sprintf("b%d", bits))).reg
	if axis := strings.TrimPrefix(name, "%ctaid."); axis != name {
		c.ctaid = append(c.ctaid, constant[uint32]{r, uint32(axis[0] - 'x')})
	}
	c.special[name] = r
	return r, nil
}

// setIndex fills the special registers that say which CTA of the grid this is.
func (w *warp) setIndex() {
	for _, s := range w.cta.program.ctaid {
		fill(&w.r32[s.reg], [...]uint32{w.cta.index.X, w.cta.index.Y, w.cta.index.Z}[s.value])
	}
}

// setSpecials fills the other special registers, which stay while a launch lasts.
func (w *warp) setSpecials() {
	c := w.cta
	for name, reg := range c.program.special {
		if special64[name] {
			fill(&w.r64[reg], 0)
			continue
		}
		d := &w.r32[reg]
		switch name {
		case "%tid.x", "%tid.y", "%tid.z":
			for i := range d {
				t := c.thread(w.index*32 + i)
				d[i] = [...]uint32{t.X, t.Y, t.Z}[name[5]-'x']
			}
		case "%ntid.x":
			fill(d, c.block.X)
		case "%ntid.y":
			fill(d, c.block.Y)
		case "%ntid.z":
			fill(d, c.block.Z)
		case "%nctaid.x":
			fill(d, c.grid.X)
		case "%nctaid.y":
			fill(d, c.grid.Y)
		case "%nctaid.z":
			fill(d, c.grid.Z)
		case "%warpid":
			fill(d, uint32(w.index))
		case "%nwarpid":
			fill(d, uint32(len(c.warps)))
		case "%smid":
			fill(d, 0)
		case "%nsmid":
			fill(d, 1)
		case "%dynamic_smem_size":
			fill(d, uint32(len(c.shared.data)-c.program.sharedBytes))
		case "%total_smem_size":
			fill(d, uint32(len(c.shared.data)))
		default:
			for i := range d {
				d[i] = laneSpecial(name, i)
			}
		}
	}
}

func laneSpecial(name string, lane int) uint32 {
	bit := uint32(1) << lane
	switch name {
	case "%laneid":
		return uint32(lane)
	case "%lanemask_eq":
		return bit
	case "%lanemask_lt":
		return bit - 1
	case "%lanemask_le":
		return bit - 1 | bit
	case "%lanemask_gt":
		return ^(bit - 1 | bit)
	}
	return ^(bit - 1) // %lanemask_ge
}

func fill[T uint32 | uint64](d *[32]T, v T) {
	for i := range d {
		d[i] = v
	}
}
