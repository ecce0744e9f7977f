package kernrt

import (
	"fmt"
	"math"
	"math/bits"

	"github.com/kerngen/kerngen/runtime/internal/cuda"
)

// Rows is the shape of a copy of rows, in elements. A pitch is the distance from
// the start of one row to that of the next: Width, or more where rows are padded;
// 0 stands for Width. What lies between rows is left as it is.
type Rows struct {
	Count     int
	Width     int
	ToPitch   int // where rows are copied to
	FromPitch int // where they are copied from
}

const maxPitch = math.MaxInt32 // bytes, of every device

// CopyRowsFrom is CopyFrom of rows of src, which come to lie in s.
func (s Slice[T]) CopyRowsFrom(stream *Stream, src []T, rows Rows) error {
	r, o, err := s.beginRows(stream, toDevice, rows, len(src), s.len, waiting)
	if err != nil || o.bytes == 0 {
		return err
	}
	defer o.end()
	return o.result(stream.dev.ctx.CopyRowsIn(stream.handle, s.ptr.address, start(src), r, true))
}

// CopyRowsTo is CopyTo of rows of s, which come to lie in dst.
func (s Slice[T]) CopyRowsTo(stream *Stream, dst []T, rows Rows) error {
	r, o, err := s.beginRows(stream, fromDevice, rows, s.len, len(dst), waiting)
	if err != nil || o.bytes == 0 {
		return err
	}
	defer o.end()
	err = o.result(stream.dev.ctx.CopyRowsOut(stream.handle, start(dst), s.ptr.address, r, true))
	normalizeBools(dst)
	return err
}

// CopyRowsFromAsync is CopyFromAsync of rows of src, which come to lie in s.
func (s Slice[T]) CopyRowsFromAsync(stream *Stream, src *HostBuffer[T], rows Rows) error {
	host, err := src.use()
	if err != nil {
		return fmt.Errorf("%s: %w", toDevice, err)
	}
	r, o, err := s.beginRows(stream, toDevice, rows, len(host), s.len, queued)
	if err != nil || o.bytes == 0 {
		return err
	}
	defer o.end()
	return o.result(stream.dev.ctx.CopyRowsIn(stream.handle, s.ptr.address, start(host), r, false))
}

// CopyRowsToAsync is CopyToAsync of rows of s, which come to lie in dst.
func (s Slice[T]) CopyRowsToAsync(stream *Stream, dst *HostBuffer[T], rows Rows) error {
	host, err := dst.use()
	if err != nil {
		return fmt.Errorf("%s: %w", fromDevice, err)
	}
	r, o, err := s.beginRows(stream, fromDevice, rows, s.len, len(host), queued)
	if err != nil || o.bytes == 0 {
		return err
	}
	defer o.end()
	return o.result(stream.dev.ctx.CopyRowsOut(stream.handle, start(host), s.ptr.address, r, false))
}

// CopyRowsFromDevice is CopyFromDevice of rows of src, which come to lie in s.
// The elements that are copied must not overlap, which is not checked: rows may
// lie between one another.
func (s Slice[T]) CopyRowsFromDevice(stream *Stream, src Slice[T], rows Rows) error {
	if err := src.refuse(onDeviceCopy, s); err != nil {
		return err
	}
	r, o, err := s.beginRows(stream, onDeviceCopy, rows, src.len, s.len, queued)
	if err != nil || o.bytes == 0 {
		return err
	}
	defer o.end()
	return o.result(stream.dev.ctx.CopyRowsAsync(stream.handle, s.ptr.address, src.ptr.address, r))
}

// beginRows is begin for rows between so many elements and so many others.
func (s Slice[T]) beginRows(stream *Stream, what string, rows Rows, from, to int, wait bool) (cuda.Rows, operation, error) {
	if s.mem != nil && s.mem.freed.Load() {
		return cuda.Rows{}, operation{}, faultf(ErrClosed, "%s: the buffer is freed", what)
	}
	if rows.Count < 0 || rows.Width < 0 {
		return cuda.Rows{}, operation{}, faultf(ErrArgument, "%s: %d rows of %d elements", what, rows.Count, rows.Width)
	}
	size := elemSize[T]()
	fromPitch, err := rows.pitch("copied from", rows.FromPitch, from, size)
	if err == nil {
		var toPitch uint64
		toPitch, err = rows.pitch("copied to", rows.ToPitch, to, size)
		if err == nil {
			r := cuda.Rows{Width: uint64(rows.Width) * uint64(size), Count: uint64(rows.Count), ToPitch: toPitch, FromPitch: fromPitch}
			o, err := s.hold(stream, what, r.Width*r.Count, wait)
			return r, o, err
		}
	}
	return cuda.Rows{}, operation{}, fmt.Errorf("%s: %w", what, err)
}

// pitch checks one side of the copy, which has length elements, and returns its
// pitch in bytes.
func (r Rows) pitch(side string, pitch, length int, size uintptr) (uint64, error) {
	if pitch == 0 {
		pitch = r.Width
	}
	if pitch < r.Width {
		return 0, faultf(ErrArgument, "rows of %d elements do not fit a pitch of %d where they are %s", r.Width, pitch, side)
	}
	if r.Count == 0 || r.Width == 0 {
		return 0, nil
	}
	high, before := bits.Mul64(uint64(r.Count-1), uint64(pitch))
	if high != 0 || before > uint64(length) || uint64(r.Width) > uint64(length)-before {
		return 0, faultf(ErrArgument, "%d rows of %d elements with a pitch of %d do not fit the %d elements where they are %s", r.Count, r.Width, pitch, length, side)
	}
	if uint64(pitch) > maxPitch/uint64(size) {
		return 0, faultf(ErrLimit, "a pitch of %d elements is beyond %d bytes where rows are %s", pitch, maxPitch, side)
	}
	return uint64(pitch) * uint64(size), nil
}
