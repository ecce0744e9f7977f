package exec

import (
	"encoding/binary"
	"fmt"
)

func init() {
	families["call"] = compileCall
	families["trap"] = func(c *compiler, in *inst) (step, error) {
		return func(w *warp) { w.fail(first(w.exec), "the kernel trapped") }, wants(in.ops, 0)
	}
	// A warp that sleeps lets others run when its turn is over.
	families["nanosleep"] = func(c *compiler, in *inst) (step, error) {
		c.mods.has("u32")
		return func(*warp) {}, wants(in.ops, 1)
	}
}

// compileCall compiles calls of the two functions that the driver provides; other functions have been put in place of their calls.
func compileCall(c *compiler, in *inst) (step, error) {
	name := in.Mods[0]
	c.mods.has(name)
	switch name {
	case "__assertfail":
		return c.assertion(in)
	case "vprintf":
		return c.printing(in)
	}
	return nil, fmt.Errorf("function %q is declared but not defined; of the driver's functions only vprintf and __assertfail are supported", name)
}

// callArgument reads one of a call's arguments or results, of size bytes.
func (w *warp) callArgument(lane int, p place) uint64 {
	var b [8]byte
	at := lane*w.cta.program.localBytes + int(p.offset)
	copy(b[:min(p.size, 8)], w.local.data[at:])
	return binary.LittleEndian.Uint64(b[:])
}

// assertion compiles __assertfail(message, file, line, function, size of a character).
func (c *compiler) assertion(in *inst) (step, error) {
	if err := wants(in.ops, 5); err != nil {
		return nil, err
	}
	ops := in.ops
	return func(w *warp) {
		lane := first(w.exec)
		text := func(n int) string { return w.text(w.callArgument(lane, ops[n].place)) }
		w.fail(lane, "assertion failed: %s (%s:%d, in %s)", text(0), text(1), uint32(w.callArgument(lane, ops[2].place)), text(3))
		w.fault.Kind = Assertion
	}, nil
}

// maxText bounds the strings that a kernel can pass.
const maxText = 1 << 12

// text reads a zero-terminated string of global memory.
func (w *warp) text(addr uint64) string {
	s := w.globalSegment(addr)
	if s == nil || addr-s.base >= uint64(len(s.data)) {
		return fmt.Sprintf("<no string at %#x>", addr)
	}
	b := s.data[addr-s.base:]
	b = b[:min(len(b), maxText)]
	for i, c := range b {
		if c == 0 {
			return string(b[:i])
		}
	}
	return string(b)
}

// printing compiles vprintf(format, arguments), whose result is the number of arguments.
func (c *compiler) printing(in *inst) (step, error) {
	if err := wants(in.ops, 3); err != nil {
		return nil, err
	}
	if n := in.ops[0].place.size; n < 4 {
		return nil, fmt.Errorf("a result of %d bytes; it has 4", n)
	}
	result, format, arguments := in.ops[0].place, in.ops[1].place, in.ops[2].place
	return func(w *warp) {
		d := w.cta.launch.device
		for m := w.exec; m != 0; m &= m - 1 {
			i := first(m)
			out, n, err := sprintf(w.text(w.callArgument(i, format)), w.arguments(i, w.callArgument(i, arguments)), w.text)
			if err != nil {
				w.fail(i, "vprintf: %v", err)
				return
			}
			at := i*w.cta.program.localBytes + int(result.offset)
			binary.LittleEndian.PutUint32(w.local.data[at:], uint32(n))
			d.print(out)
		}
	}, nil
}

// arguments is the memory at a generic address that a lane has put its arguments in.
func (w *warp) arguments(lane int, addr uint64) []byte {
	if addr&windowMask == localWindow {
		per := w.cta.program.localBytes
		own := w.local.data[lane*per : (lane+1)*per]
		if off := addr - localWindow; off < uint64(per) {
			return own[off:]
		}
		return nil
	}
	if s := w.globalSegment(addr); s != nil && addr-s.base < uint64(len(s.data)) {
		return s.data[addr-s.base:]
	}
	return nil
}

// print writes what a kernel prints, one call's text at a time.
func (d *Device) print(text string) {
	d.printMu.Lock()
	defer d.printMu.Unlock()
	d.output.Write([]byte(text)) // a device has nobody to tell
}
