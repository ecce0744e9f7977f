package exec

import (
	"bytes"
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

// nextEpoch is called after a barrier. Marks forget before their epochs' numbers are used again.
func (c *cta) nextEpoch() {
	c.epoch++
	if c.races != nil && c.epoch&(1<<epochBits-1) == 0 {
		c.races.reset()
	}
}

func (w *warp) mark() mark { return mark(w.index+1)<<epochBits | mark(w.cta.epoch&(1<<epochBits-1)) }

// conflicts says whether a mark is another warp's of the same epoch.
func (m mark) conflicts(now mark) bool {
	return m != 0 && m != now && m&(1<<epochBits-1) == now&(1<<epochBits-1)
}

func (m mark) many() bool { return m>>epochBits == manyWarps }

// conflict is a write to bytes that another warp has written: a race unless it leaves them as they were, as it does where the compiler lets several warps write the same.
type conflict struct {
	lane  int
	other mark
	at    uint64
	old   [32]byte
}

func (r *races) read(w *warp, a *access) bool {
	now := w.mark()
	for m := w.exec; m != 0; m &= m - 1 {
		i := bits.TrailingZeros32(m) & 31
		at := w.addr[i]
		for b := at; b < at+uint64(a.size); b++ {
			// What several warps have written alike, any of them may read.
			if o := r.writer[b]; o.conflicts(now) && !o.many() {
				return w.race(i, a, "reads", o, "wrote")
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

// write looks for readers, and keeps what other warps have written for settle.
func (r *races) write(w *warp, a *access) bool {
	now := w.mark()
	w.conflicts = w.conflicts[:0]
	for m := w.exec; m != 0; m &= m - 1 {
		i := bits.TrailingZeros32(m) & 31
		at := w.addr[i]
		var other mark
		for b := at; b < at+uint64(a.size); b++ {
			if o := r.reader[b]; o.conflicts(now) {
				return w.race(i, a, "writes", o, "read")
			}
			if o := r.writer[b]; o.conflicts(now) {
				other = o
				r.writer[b] = manyWarps<<epochBits | now&(1<<epochBits-1)
			} else {
				r.writer[b] = now
			}
		}
		if other != 0 {
			c := conflict{lane: i, other: other, at: at}
			copy(c.old[:], w.cta.shared.data[at:at+uint64(a.size)])
			w.conflicts = append(w.conflicts, c)
		}
	}
	return true
}

// settle is called after a write: it fails where the write has changed what another warp wrote.
func (w *warp) settle(a *access) {
	for i := range w.conflicts {
		c := &w.conflicts[i]
		if !bytes.Equal(c.old[:a.size], w.cta.shared.data[c.at:c.at+uint64(a.size)]) {
			w.race(c.lane, a, "writes", c.other, "wrote otherwise")
			return
		}
	}
}

func (w *warp) race(lane int, a *access, does string, other mark, did string) bool {
	who := fmt.Sprintf("warp %d", int(other>>epochBits)-1)
	if other.many() {
		who = "other warps"
	}
	w.fail(lane, "warp %d %s %d bytes of shared memory at %#x that %s %s with no barrier between", w.index, does, a.size, w.laneAddr(a, lane)&^windowMask, who, did)
	return false
}
