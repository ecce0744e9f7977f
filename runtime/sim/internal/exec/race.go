package exec

import (
	"fmt"
	"math/bits"
)

// races finds accesses to shared memory of two warps, one of them a write, with no barrier between. For each byte it keeps who wrote it and who read it since the last barrier.
// A barrier of some warps is taken for one of all: what races only across it is not found, and what is found does race.
type races struct {
	writer []mark
	reader []mark
}

// mark is who touched a byte: the warp plus one in the upper bits, its epoch in the lower ones; 0 is nobody.
type mark uint32

const (
	epochBits = 22
	manyWarps = 1<<(32-epochBits) - 1 // instead of a warp: several
)

func newRaces(n int) *races { return &races{writer: make([]mark, n), reader: make([]mark, n)} }

func (r *races) reset() {
	clear(r.writer)
	clear(r.reader)
}

func (w *warp) mark() mark { return mark(w.index+1)<<epochBits | mark(w.cta.epoch&(1<<epochBits-1)) }

// conflicts says whether a mark is another warp's of the same epoch.
func (m mark) conflicts(now mark) bool {
	return m != 0 && m != now && m&(1<<epochBits-1) == now&(1<<epochBits-1)
}

func (r *races) read(w *warp, a *access) bool {
	now := w.mark()
	for m := w.exec; m != 0; m &= m - 1 {
		i := bits.TrailingZeros32(m) & 31
		at := w.addr[i]
		for b := at; b < at+uint64(a.size); b++ {
			if r.writer[b].conflicts(now) {
				return w.race(i, a, "reads", r.writer[b], "wrote")
			}
			switch old := r.reader[b]; {
			case old == now:
			case old.conflicts(now):
				r.reader[b] = manyWarps<<epochBits | now&(1<<epochBits-1)
			default:
				r.reader[b] = now
			}
		}
	}
	return true
}

func (r *races) write(w *warp, a *access) bool {
	now := w.mark()
	for m := w.exec; m != 0; m &= m - 1 {
		i := bits.TrailingZeros32(m) & 31
		at := w.addr[i]
		for b := at; b < at+uint64(a.size); b++ {
			switch {
			case r.writer[b].conflicts(now):
				return w.race(i, a, "writes", r.writer[b], "wrote")
			case r.reader[b].conflicts(now):
				return w.race(i, a, "writes", r.reader[b], "read")
			}
			r.writer[b] = now
		}
	}
	return true
}

func (w *warp) race(lane int, a *access, does string, other mark, did string) bool {
	who := fmt.Sprintf("warp %d", int(other>>epochBits)-1)
	if other>>epochBits == manyWarps {
		who = "other warps"
	}
	w.fail(lane, "warp %d %s %d bytes of shared memory at %#x that %s %s with no barrier between", w.index, does, a.size, w.laneAddr(a, lane)&^windowMask, who, did)
	return false
}
