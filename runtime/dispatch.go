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

// fitsUnsigned is Fits32 of an unsigned parameter.
const fitsUnsigned GuardKind = 0xfe

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
	case Fits32:
		v := *(*int64)(at)
		return int64(int32(v)) == v
	case fitsUnsigned:
		return *(*uint64)(at)>>32 == 0
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

// conditions are the guards that variants have. They are few, so a launch finds
// out which are broken and then compares that set with each variant's.
type conditions struct {
	guards  []guard  // each once
	choices []choice // by variant that has an image for the device, in order
}

// choice is a variant and the guards it has, as a set of bits.
type choice struct {
	needs   uint64
	variant *loadable
}

// conditionsOf collects the guards of variants; there are none where one word
// does not hold so many.
func conditionsOf(variants []loadable) conditions {
	var c conditions
	for i := range variants {
		v := &variants[i]
		if len(v.candidates) == 0 {
			continue
		}
		needs := uint64(0)
		for _, g := range v.guards {
			at := slices.Index(c.guards, g)
			if at < 0 {
				at = len(c.guards)
				c.guards = append(c.guards, g)
			}
			if at >= 64 {
				return conditions{}
			}
			needs |= 1 << at
		}
		c.choices = append(c.choices, choice{needs, v})
	}
	return c
}

// pick returns the first variant that has an image for the device and whose
// guards all hold, or nil.
func (c *configured) pick(args unsafe.Pointer) *loadable {
	if c.choices == nil {
		return c.search(args)
	}
	broken := uint64(0)
	for i := range c.guards {
		if !c.guards[i].holds(args) {
			broken |= 1 << (i & 63)
		}
	}
	for i := range c.choices {
		if c.choices[i].needs&broken == 0 {
			return c.choices[i].variant
		}
	}
	return nil
}

// search is pick by one variant after another.
func (c *configured) search(args unsafe.Pointer) *loadable {
next:
	for i := range c.variants {
		v := &c.variants[i]
		for j := range v.guards {
			if !v.guards[j].holds(args) {
				continue next
			}
		}
		if len(v.candidates) > 0 {
			return v
		}
	}
	return nil
}

// pickError tells why no variant of a configuration takes the arguments: for
// each the first guard that does not hold.
func (on *onDevice) pickError(c *configured, args unsafe.Pointer) error {
	var reasons []string
	kind := ErrNoImage
	for i := range c.variants {
		v := &c.variants[i]
		var reason string
		if len(v.candidates) == 0 {
			reason = on.noImage(&on.kernel.Variants[c.first+i])
		} else {
			kind = ErrArgument
			reason = "the arguments changed while they were checked; leave them alone until the launch returns"
			if broken := on.allBroken(v, args); broken != nil {
				reason = broken[0]
			}
		}
		if len(on.variants) > 1 {
			reason = fmt.Sprintf("variant %d: %s", c.first+i+1, reason)
		}
		reasons = append(reasons, reason)
	}
	return faultf(kind, "%s", strings.Join(reasons, "; "))
}

// ofVariant tells which variant an error is of, where there are several.
func (on *onDevice) ofVariant(v *loadable, err error) error {
	for i := range on.variants {
		if &on.variants[i] == v && len(on.variants) > 1 {
			return fmt.Errorf("variant %d: %w", i+1, err)
		}
	}
	return err
}

// allBroken says which of a variant's guards do not hold, in order.
func (on *onDevice) allBroken(v *loadable, args unsafe.Pointer) []string {
	var all []string
	for _, g := range v.guards {
		if !g.holds(args) {
			all = append(all, on.broken(g, args))
		}
	}
	return all
}

// noImage tells why a variant has no candidate on the device.
func (on *onDevice) noImage(v *Variant) string {
	var have []string
	for i := range v.Images {
		have = append(have, v.Images[i].String())
	}
	return fmt.Sprintf("no image runs on sm_%d; there are %s", on.dev.info.sm(), strings.Join(have, ", "))
}

// broken says which argument breaks which promise. It reads the value by hand:
// through reflect the args struct would escape to the heap at every launch.
func (on *onDevice) broken(g guard, args unsafe.Pointer) string {
	p := on.kernel.Params[g.param]
	if g.is == notNull {
		return p.Name + " is null; pass device memory"
	}
	is := g.is
	if is == fitsUnsigned {
		is = Fits32
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
	return fmt.Sprintf("%s = %s is not %v, as the kernel was compiled for", p.Name, value, is)
}
