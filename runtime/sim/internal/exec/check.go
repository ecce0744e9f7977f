package exec

import (
	"math/bits"
	"unsafe"
)

// checkRead looks for bytes that nobody has written and for races in shared memory.
func (a *access) checkRead(w *warp, win *window, strong bool) bool {
	if win.written != nil {
		for m := w.exec; m != 0; m &= m - 1 {
			i := bits.TrailingZeros32(m) & 31
			if !allWritten(unsafe.Add(win.written, w.addr[i]-win.base), a.size) {
				what := "have never been written"
				for _, v := range unsafe.Slice((*byte)(unsafe.Add(win.written, w.addr[i]-win.base)), a.size) {
					if v == pending {
						what = "an asynchronous copy writes that has not been waited for"
					}
				}
				w.failAt(i, a, "read of %d bytes at %#x that "+what, a.size)
				return false
			}
		}
	}
	if win.shared && !strong {
		return w.cta.races.read(w, a)
	}
	return true
}

// checkWrite notes what is written and looks for races in shared memory; settle follows the write.
func (a *access) checkWrite(w *warp, win *window, strong bool) bool {
	w.conflicts = w.conflicts[:0]
	if win.written != nil {
		for m := w.exec; m != 0; m &= m - 1 {
			i := bits.TrailingZeros32(m) & 31
			setWritten(unsafe.Add(win.written, w.addr[i]-win.base), a.size)
		}
	}
	if win.shared && !strong {
		return w.cta.races.write(w, a)
	}
	return true
}

// failAt reports a fault of a lane's access; the format takes the size and the address.
func (w *warp) failAt(lane int, a *access, format string, size int) {
	addr := w.laneAddr(a, lane)
	w.fail(lane, format+"%s", size, addr, w.whose(a, addr))
	w.fault.Kind, w.fault.Argument = Address, w.argumentOf(a, addr)
}

// allWritten looks at size bytes of a record of writes; p is aligned to the size, or to 8.
func allWritten(p unsafe.Pointer, size int) bool {
	switch size {
	case 1:
		return *(*uint8)(p) == 1
	case 2:
		return *(*uint16)(p) == 0x0101
	case 4:
		return *(*uint32)(p) == 0x01010101
	}
	for n := 0; n < size; n += 8 {
		if *(*uint64)(unsafe.Add(p, n)) != 0x0101010101010101 {
			return false
		}
	}
	return true
}

func setWritten(p unsafe.Pointer, size int) {
	switch size {
	case 1:
		*(*uint8)(p) = 1
	case 2:
		*(*uint16)(p) = 0x0101
	case 4:
		*(*uint32)(p) = 0x01010101
	default:
		for n := 0; n < size; n += 8 {
			*(*uint64)(unsafe.Add(p, n)) = 0x0101010101010101
		}
	}
}
