package driver

import (
	"bytes"
	"encoding/binary"
	"unsafe"

	"github.com/kerngen/kerngen/runtime/internal/cuda"
)

// bytesAt is host memory as bytes.
func bytesAt(p unsafe.Pointer, n uint64) []byte { return unsafe.Slice((*byte)(p), n) }

// queue queues an operation that may be captured.
func (d *Driver) queue(on cuda.Stream, kind int, w work) cuda.Status {
	return d.enqueue(on, node{kind: kind, work: d.unlessFailed(w)})
}

// wait queues an operation and waits for it.
func (d *Driver) wait(on cuda.Stream, w work) cuda.Status {
	var err error
	status := d.enqueue(on, node{kind: notCaptured, work: d.unlessFailed(func() error {
		err = w()
		return nil // what the caller is told is no fault of the device
	})})
	if status != cuda.OK {
		return status
	}
	if status := d.Synchronize(on); status != cuda.OK {
		return status
	}
	return memoryFault(err)
}

func (d *Driver) read(to unsafe.Pointer, from, bytes uint64) work {
	return func() error { return d.device.Memory.Read(bytesAt(to, bytes), from) }
}

func (d *Driver) write(to uint64, from unsafe.Pointer, bytes uint64) work {
	return func() error { return d.device.Memory.Write(to, bytesAt(from, bytes)) }
}

// CopyIn copies host memory to the device and waits.
func (d *Driver) CopyIn(on cuda.Stream, to uint64, from unsafe.Pointer, bytes uint64) cuda.Status {
	return d.wait(on, d.write(to, from, bytes))
}

// CopyOut copies device memory to the host and waits.
func (d *Driver) CopyOut(on cuda.Stream, to unsafe.Pointer, from, bytes uint64) cuda.Status {
	return d.wait(on, d.read(to, from, bytes))
}

// CopyInAsync queues a copy of host memory to the device.
func (d *Driver) CopyInAsync(on cuda.Stream, to uint64, from unsafe.Pointer, bytes uint64) cuda.Status {
	return d.queue(on, cuda.NodeCopy, d.write(to, from, bytes))
}

// CopyOutAsync queues a copy of device memory to the host.
func (d *Driver) CopyOutAsync(on cuda.Stream, to unsafe.Pointer, from, bytes uint64) cuda.Status {
	return d.queue(on, cuda.NodeCopy, d.read(to, from, bytes))
}

// CopyAsync queues a copy on the device.
func (d *Driver) CopyAsync(on cuda.Stream, to, from, bytes uint64) cuda.Status {
	return d.queue(on, cuda.NodeCopy, func() error { return d.device.Memory.Copy(to, from, bytes) })
}

// eachRow does something for each row of a copy, with how far it is on each side.
func eachRow(rows cuda.Rows, do func(to, from uint64) error) work {
	return func() error {
		for i := range rows.Count {
			if err := do(i*rows.ToPitch, i*rows.FromPitch); err != nil {
				return err
			}
		}
		return nil
	}
}

// CopyRowsIn copies rows of host memory to the device.
func (d *Driver) CopyRowsIn(on cuda.Stream, to uint64, from unsafe.Pointer, rows cuda.Rows, wait bool) cuda.Status {
	return d.rows(on, wait, eachRow(rows, func(there, here uint64) error {
		return d.write(to+there, unsafe.Add(from, here), rows.Width)()
	}))
}

// CopyRowsOut copies rows of device memory to the host.
func (d *Driver) CopyRowsOut(on cuda.Stream, to unsafe.Pointer, from uint64, rows cuda.Rows, wait bool) cuda.Status {
	return d.rows(on, wait, eachRow(rows, func(here, there uint64) error {
		return d.read(unsafe.Add(to, here), from+there, rows.Width)()
	}))
}

func (d *Driver) rows(on cuda.Stream, wait bool, w work) cuda.Status {
	if wait {
		return d.wait(on, w)
	}
	return d.queue(on, cuda.NodeCopy, w)
}

// CopyRowsAsync queues a copy of rows on the device.
func (d *Driver) CopyRowsAsync(on cuda.Stream, to, from uint64, rows cuda.Rows) cuda.Status {
	return d.queue(on, cuda.NodeCopy, eachRow(rows, func(a, b uint64) error {
		return d.device.Memory.Copy(to+a, from+b, rows.Width)
	}))
}

// fillBytes is how much of a fill is made ready at a time; all patterns divide it.
const fillBytes = 1 << 20

// fill queues writing a pattern count times.
func (d *Driver) fill(on cuda.Stream, address uint64, pattern []byte, count uint64) cuda.Status {
	return d.queue(on, cuda.NodeFill, func() error {
		all := uint64(len(pattern)) * count
		part := bytes.Repeat(pattern, int(min(all, fillBytes))/len(pattern))
		for at := uint64(0); at < all; at += fillBytes {
			if err := d.device.Memory.Write(address+at, part[:min(all-at, fillBytes)]); err != nil {
				return err
			}
		}
		return nil
	})
}

// FillAsync queues a fill with one byte value.
func (d *Driver) FillAsync(on cuda.Stream, address uint64, value byte, bytes uint64) cuda.Status {
	return d.fill(on, address, []byte{value}, bytes)
}

// Fill16Async queues a fill with values of 16 bits.
func (d *Driver) Fill16Async(on cuda.Stream, address uint64, value uint16, count uint64) cuda.Status {
	return d.fill(on, address, binary.LittleEndian.AppendUint16(nil, value), count)
}

// Fill32Async queues a fill with values of 32 bits.
func (d *Driver) Fill32Async(on cuda.Stream, address uint64, value uint32, count uint64) cuda.Status {
	return d.fill(on, address, binary.LittleEndian.AppendUint32(nil, value), count)
}
