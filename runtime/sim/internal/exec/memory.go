package exec

import (
	"errors"
	"fmt"
	"math/bits"
	"sync"
	"sync/atomic"
	"unsafe"
)

// The address space. A generic address says by its upper bits which window it is in; everything else is global memory.
const (
	globalBase   = uint64(0x7f00_0000_0000)
	sharedWindow = uint64(1) << 48
	localWindow  = uint64(2) << 48
	paramWindow  = uint64(3) << 48
	windowMask   = ^(uint64(1)<<48 - 1)

	// slotBits is the granularity of the table of allocations: each allocation begins at a multiple of it and is followed by at least as much of nothing.
	slotBits = 16

	// keptSlots is for how many slots of freed allocations of a size are kept before their addresses are used again: faults name what was freed.
	keptSlots = 1 << 16
)

// ErrOutOfMemory is an allocation that a device has no room for.
var ErrOutOfMemory = errors.New("out of device memory")

// Memory is the global memory of a device. It is safe for concurrent use.
type Memory struct {
	mu    sync.Mutex
	table atomic.Pointer[[]*allocation] // by slot; what has been freed stays for long, to be named in faults
	freed map[int][]*allocation         // by slots, oldest first
	track bool                          // know what has been written
	limit uint64                        // bytes
	used  uint64                        // bytes
	count uint64
}

// allocation is one piece of global memory; after it is freed, perhaps another at the same address.
type allocation struct {
	base    uint64
	slots   int                     // a power of two
	about   atomic.Pointer[about]   // of what is there, or was last
	segment atomic.Pointer[segment] // nil once freed
}

// about is what faults say of an allocation.
type about struct {
	size   uint64
	number uint64 // from 1, in order of allocation
	name   string // of a module's variable; "" for an allocation of the host
}

// segment is memory that a warp can reach: base is the address of its first byte. Words are aligned as their addresses are, up to 8 bytes.
type segment struct {
	base     uint64
	data     []byte
	written  []byte // one byte for each of data: 1 once written; nil where nobody asks
	readOnly bool
}

// newMemory makes a memory of at most limit bytes.
func newMemory(limit uint64, track bool) *Memory {
	m := &Memory{limit: limit, track: track, freed: map[int][]*allocation{}}
	m.table.Store(new([]*allocation))
	return m
}

// alignedBytes is zeroed memory whose first byte is aligned to 8.
func alignedBytes(n int) []byte {
	if n == 0 {
		return []byte{}
	}
	return unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(make([]uint64, (n+7)/8)))), n)
}

// Alloc gives the address of size bytes that are never written; it is a multiple of 65,536.
func (m *Memory) Alloc(size uint64) (uint64, error) {
	return m.alloc(size, "")
}

func (m *Memory) alloc(size uint64, name string) (uint64, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if size == 0 {
		return 0, fmt.Errorf("an allocation of 0 bytes; ask for at least 1")
	}
	if size > m.limit-m.used {
		return 0, fmt.Errorf("%w: %d bytes are asked for, %d of %d are in use", ErrOutOfMemory, size, m.used, m.limit)
	}
	if err := HostHas(size); err != nil {
		return 0, err
	}
	m.used += size
	m.count++
	a := m.place(size)
	a.about.Store(&about{size, m.count, name})
	seg := &segment{base: a.base, data: alignedBytes(int(size))}
	if m.track {
		seg.written = alignedBytes(int(size))
	}
	a.segment.Store(seg)
	return a.base, nil
}

// place finds addresses for size bytes and at least a slot of nothing behind them. The caller holds m.mu.
func (m *Memory) place(size uint64) *allocation {
	slots := 1 << bits.Len64((size-1)>>slotBits+1)
	if free := m.freed[slots]; len(free)*slots > keptSlots {
		m.freed[slots] = free[1:]
		return free[0]
	}
	// A launch that runs keeps the slice it began with: this only appends.
	table := *m.table.Load()
	a := &allocation{base: globalBase + uint64(len(table))<<slotBits, slots: slots}
	for range slots {
		table = append(table, a)
	}
	m.table.Store(&table)
	return a
}

// Free gives the memory at an address that Alloc gave back. A launch that still uses it may fault.
func (m *Memory) Free(addr uint64) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	a := find(*m.table.Load(), addr)
	switch {
	case a == nil || a.base != addr:
		return fmt.Errorf("address %#x is not the beginning of an allocation", addr)
	case a.segment.Load() == nil:
		return fmt.Errorf("address %#x has been freed already", addr)
	}
	a.segment.Store(nil)
	m.used -= a.about.Load().size
	m.freed[a.slots] = append(m.freed[a.slots], a)
	return nil
}

// Read copies device memory to p. All of it must be in one allocation.
func (m *Memory) Read(p []byte, addr uint64) error {
	s, off, err := m.host(addr, uint64(len(p)))
	if err != nil {
		return err
	}
	copy(p, s.data[off:])
	return nil
}

// Write copies p to device memory. All of it must be in one allocation.
func (m *Memory) Write(addr uint64, p []byte) error {
	s, off, err := m.host(addr, uint64(len(p)))
	if err != nil {
		return err
	}
	copy(s.data[off:], p)
	if s.written != nil {
		w := s.written[off:]
		for i := range p {
			w[i] = 1
		}
	}
	return nil
}

// host finds the memory of n bytes that the host wants to use, and where in it they begin.
func (m *Memory) host(addr, n uint64) (*segment, uint64, error) {
	a := find(*m.table.Load(), addr)
	if a == nil {
		return nil, 0, fmt.Errorf("address %#x is in no allocation", addr)
	}
	s := a.segment.Load()
	if s == nil {
		return nil, 0, fmt.Errorf("address %#x is in an allocation that has been freed", addr)
	}
	off := addr - a.base
	if size := uint64(len(s.data)); off > size || n > size-off {
		return nil, 0, fmt.Errorf("%d bytes at %#x end after the %d bytes of the allocation at %#x", n, addr, size, a.base)
	}
	return s, off, nil
}

// find gives the allocation at or before an address within its slots, freed or not, or nil.
func find(table []*allocation, addr uint64) *allocation {
	if slot := (addr - globalBase) >> slotBits; slot < uint64(len(table)) {
		return table[slot]
	}
	return nil
}

// describe says where an address lies, for a fault.
func (a *allocation) describe(addr uint64) string {
	about := a.about.Load()
	what := fmt.Sprintf("allocation %d of %d bytes at %#x", about.number, about.size, a.base)
	if about.name != "" {
		what = fmt.Sprintf("variable %q of %d bytes", about.name, about.size)
	}
	if a.segment.Load() == nil {
		what = "freed " + what
	}
	if end := a.base + about.size; addr >= end {
		return fmt.Sprintf("%d bytes past the end of %s", addr-end, what)
	}
	return fmt.Sprintf("%d bytes into %s", addr-a.base, what)
}

// Copy copies n bytes of device memory; each side must be in one allocation. What
// was never written stays so.
func (m *Memory) Copy(to, from, n uint64) error {
	src, a, err := m.host(from, n)
	if err != nil {
		return err
	}
	dst, b, err := m.host(to, n)
	if err != nil {
		return err
	}
	copy(dst.data[b:b+n], src.data[a:])
	if dst.written != nil {
		copy(dst.written[b:b+n], src.written[a:])
	}
	return nil
}

// Usage is how many bytes are allocated, and how many there are.
func (m *Memory) Usage() (used, limit uint64) {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.used, m.limit
}
