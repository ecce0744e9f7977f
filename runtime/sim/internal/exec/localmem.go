package exec

import "github.com/kerngen/kerngen/runtime/sim/internal/ptx"

// translate finds the memory of local and generic addresses and turns w.addr into addresses within it; nil when the lanes are in several or in none.
func (w *warp) translate(space ptx.Space, size uint64) (s *segment, lo, hi uint64) {
	f := first(w.exec)
	window := localWindow
	if space == ptx.Generic {
		window = w.addr[f] & windowMask
		for i := range w.addr { // lanes that are off have the first one's address
			if w.addr[i]&windowMask != window {
				return nil, 0, 0
			}
			w.addr[i] -= window
		}
	}
	switch window {
	case 0:
		s = w.globalSegment(w.addr[f])
	case sharedWindow:
		s = &w.cta.shared
	case paramWindow:
		s = &w.cta.launch.params
	case localWindow:
		// Each lane has a part of its own.
		per := uint64(w.cta.program.localBytes)
		for i := range w.addr {
			if w.exec>>i&1 == 0 {
				continue
			}
			if v := w.addr[i]; v > per || size > per-v {
				return nil, 0, 0
			}
			w.addr[i] += uint64(i) * per
		}
		for i := range w.addr {
			if w.exec>>i&1 == 0 {
				w.addr[i] = w.addr[f]
			}
		}
		s = &w.local
	default:
		return nil, 0, 0
	}
	lo, hi = w.addr[f], w.addr[f]
	for _, v := range w.addr {
		lo, hi = min(lo, v), max(hi, v)
	}
	return s, lo, hi
}
