package exec

import (
	"strings"
	"testing"
)

// Addresses are used again, though not soon, so that a long run of allocations takes bounded memory and faults still name what was freed.
func TestAddressesAreUsedAgain(t *testing.T) {
	m := newMemory(1<<40, false)
	seen := map[uint64]bool{}
	var last uint64
	for i := range 3 * keptSlots {
		size := uint64(1 + i%3<<slotBits) // of two, four and four slots
		addr, err := m.Alloc(size)
		if err != nil {
			t.Fatal(err)
		}
		if addr == last {
			t.Fatalf("allocation %d has the address that was freed last", i)
		}
		if err := m.Write(addr, make([]byte, 1)); err != nil {
			t.Fatal(err)
		}
		if err := m.Free(addr); err != nil {
			t.Fatal(err)
		}
		seen[addr], last = true, addr
	}
	if n := len(*m.table.Load()); n > 3*keptSlots {
		t.Errorf("the table has %d slots", n)
	}
	if len(seen) < keptSlots/4 {
		t.Errorf("only %d addresses are used", len(seen))
	}
	if what := find(*m.table.Load(), last).describe(last); !strings.HasPrefix(what, "0 bytes into freed allocation 196608 of ") {
		t.Errorf("what was freed last is %q", what)
	}
	if used, _ := m.Usage(); used != 0 {
		t.Errorf("%d bytes are in use", used)
	}
}
