package kernrt

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unsafe"
)

// guard is a Guard laid out for the args struct.
type guard struct {
	offset uint32
	size   uint8 // bytes
	is     GuardKind
	param  uint16
}

// notNull is what a variant wants of a pointer that it takes and that is not
// nullable: the guard that generated code need not write.
const notNull GuardKind = 0xff

// holds reads the argument in args. CUDA's hosts are little-endian, so an
// integer's or address's lowest byte comes first.
func (g guard) holds(args unsafe.Pointer) bool {
	at := unsafe.Add(args, g.offset)
	switch g.is {
	case DivisibleBy16:
		return *(*uint8)(at)&15 == 0
	case notNull:
		return *(*uint64)(at) != 0
	case Null:
		return *(*uint64)(at) == 0
	}
	return g.value(at) == 1 // EqualTo1
}

func (g guard) value(at unsafe.Pointer) uint64 {
	switch g.size {
	case 1:
		return uint64(*(*uint8)(at))
	case 2:
		return uint64(*(*uint16)(at))
	case 4:
		return uint64(*(*uint32)(at))
	}
	return *(*uint64)(at)
}

// pick returns the first variant that has an image for the device and whose
// guards all hold, or -1.
func (st *state) pick(on *onDevice, args unsafe.Pointer) int {
next:
	for v, guards := range st.guards {
		if len(on.variants[v].candidates) == 0 {
			continue
		}
		for _, g := range guards {
			if !g.holds(args) {
				continue next
			}
		}
		return v
	}
	return -1
}

// pickError tells why no variant takes the arguments: for each the first guard
// that does not hold.
func (st *state) pickError(on *onDevice, args unsafe.Pointer) error {
	var reasons []string
	kind := ErrNoImage
	for v, guards := range st.guards {
		reason := on.noImage(v)
		if len(on.variants[v].candidates) > 0 {
			kind = ErrArgument
			broken := slices.IndexFunc(guards, func(g guard) bool { return !g.holds(args) })
			reason = st.broken(guards[broken], args)
		}
		if len(st.guards) > 1 {
			reason = fmt.Sprintf("variant %d: %s", v+1, reason)
		}
		reasons = append(reasons, reason)
	}
	return faultf(kind, "%s", strings.Join(reasons, "; "))
}

// broken says which argument breaks which promise. It reads the value by hand:
// through reflect the args struct would escape to the heap at every launch.
func (st *state) broken(g guard, args unsafe.Pointer) string {
	p := st.kernel.Params[g.param]
	if g.is == notNull {
		return p.Name + " is null; pass device memory"
	}
	bits := g.value(unsafe.Add(args, g.offset))
	value := strconv.FormatUint(bits, 10)
	switch {
	case isPointer(p.Type):
		value = fmt.Sprintf("%#x", bits)
	case p.Type[0] == 'i':
		unused := 64 - 8*g.size
		value = strconv.FormatInt(int64(bits)<<unused>>unused, 10)
	}
	return fmt.Sprintf("%s = %s is not %v, as the kernel was compiled for", p.Name, value, g.is)
}
