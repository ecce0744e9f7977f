// Package capture is what the core package and package graph share of a capture:
// the scratch memory that the graph's launches need. A capture allocates none.
// Its launches are given placeholders, and each executable of the graph has
// memory of its own put in their places, so that no two share any.
package capture

import "sync"

// Buffer is scratch memory that launches on one stream use one after another.
type Buffer struct {
	Size  uint64 // bytes
	Align uint64 // a power of two

	stream uintptr
	kind   int
}

// Scratch is the buffers of one capture. Safe for concurrent use.
type Scratch struct {
	mu      sync.Mutex
	buffers []Buffer
}

// No address of a device's has these upper bits.
const (
	placeholder = 0xfeed << 48
	upper       = 0xffff << 48
)

// Take returns the placeholder of a launch's scratch memory: of a stream, by its
// handle, and a kind, global or profile, which share none.
func (s *Scratch) Take(stream uintptr, kind int, size, align uint64) uint64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	for i := range s.buffers {
		if b := &s.buffers[i]; b.stream == stream && b.kind == kind {
			b.Size, b.Align = max(b.Size, size), max(b.Align, align)
			return placeholder | uint64(i)
		}
	}
	s.buffers = append(s.buffers, Buffer{size, max(align, 1), stream, kind})
	return placeholder | uint64(len(s.buffers)-1)
}

// Buffers is what the launches so far need.
func (s *Scratch) Buffers() []Buffer {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]Buffer(nil), s.buffers...)
}

// IndexOf is the index in Buffers that a placeholder stands for; another address
// is none.
func IndexOf(address uint64) (int, bool) {
	return int(address &^ upper), address&upper == placeholder
}
