package kernrt

import (
	"fmt"
	"strconv"
	"strings"
	"unsafe"
)

// guard is a Guard laid out for the args struct.
type guard struct {
	offset uint32
	size   uint8 // bytes
	is     GuardKind
}

// holds reads the argument in args. CUDA's hosts are little-endian, so an
// integer's or address's lowest byte comes first.
func (g guard) holds(args unsafe.Pointer) bool {
	at := unsafe.Add(args, g.offset)
	if g.is == DivisibleBy16 {
		return *(*uint8)(at)&15 == 0
	}
	return g.value(at) == g.wanted()
}

func (g guard) wanted() uint64 {
	if g.is == EqualTo1 {
		return 1
	}
	return 0 // Null
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

// hasNull reports whether a pointer is null that must not be.
func (st *state) hasNull(args unsafe.Pointer) bool {
	for _, offset := range st.pointers {
		if *(*uint64)(unsafe.Add(args, offset)) == 0 {
			return true
		}
	}
	return false
}

// nullError names the pointers that hasNull found.
func (st *state) nullError(args unsafe.Pointer) error {
	var null []string
	for i, p := range st.kernel.Params {
		if isPointer(p.Type) && !p.Nullable && *(*uint64)(unsafe.Add(args, st.offsets[i])) == 0 {
			null = append(null, p.Name)
		}
	}
	return faultf(ErrArgument, "%s must not be null; pass device memory", strings.Join(null, ", "))
}

// pickError tells why no variant takes the arguments: for each the first guard
// that does not hold.
func (st *state) pickError(on *onDevice, args unsafe.Pointer) error {
	var reasons []string
	available := false
	for v, guards := range st.guards {
		reason := ""
		if len(on.variants[v].candidates) == 0 {
			reason = on.noImage(v)
		} else {
			available = true
			for i, g := range guards {
				if !g.holds(args) {
					reason = st.broken(v, i, args)
					break
				}
			}
		}
		if len(st.guards) > 1 {
			reason = fmt.Sprintf("variant %d: %s", v, reason)
		}
		reasons = append(reasons, reason)
	}
	kind := ErrArgument
	if !available {
		kind = ErrNoImage
	}
	return faultf(kind, "%s", strings.Join(reasons, "; "))
}

// broken says which argument breaks which promise. It reads the value by hand:
// through reflect the args struct would escape to the heap at every launch.
func (st *state) broken(v, i int, args unsafe.Pointer) string {
	g := st.guards[v][i]
	p := st.kernel.Params[st.kernel.Variants[v].Guards[i].Param]
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
