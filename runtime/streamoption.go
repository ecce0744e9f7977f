package kernrt

// StreamOption changes what NewStream and StreamFromHandle make.
type StreamOption func(*Stream)

// WithZeroedScratch zeroes the scratch memory of every launch on the stream
// first. Triton's own launcher does not, and its kernels do not need it: they
// write scratch before they read it.
func WithZeroedScratch() StreamOption { return func(s *Stream) { s.zeroed = true } }

// WithScratch has launches on the stream use memory of the caller's for scratch,
// instead of memory that the stream allocates. One that needs more is ErrLimit,
// which says how much. The memory must stay until the stream is closed, and what
// else uses it must not run at the same time: other streams, and graphs that were
// captured on this one, in which its address stays.
func WithScratch(memory Slice[uint8]) StreamOption {
	return func(s *Stream) { s.scratch.given = &memory }
}

// WithPriority gives the stream a priority: of work that waits for the device's
// multiprocessors, that of the lowest number starts first. 0 is the default, and
// the lowest; -5, say, is the highest; a number beyond stands for the nearest
// that the device has. It is for NewStream.
func WithPriority(priority int) StreamOption {
	return func(s *Stream) { s.priority, s.prioritized = priority, true }
}
