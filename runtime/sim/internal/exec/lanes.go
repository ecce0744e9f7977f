package exec

import "math/bits"

// A register of a warp holds one value per lane; narrower types are kept zero-extended. A predicate is a mask instead, one bit a lane.
type (
	lanes32 = [32]uint32
	lanes64 = [32]uint64
)

const allLanes = ^uint32(0)

// blend copies the lanes of mask.
func blend[T uint32 | uint64](d, s *[32]T, mask uint32) {
	for m := mask; m != 0; m &= m - 1 {
		i := bits.TrailingZeros32(m) & 31
		d[i] = s[i]
	}
}

// each1 to each3 make lane functions of scalar ones. A lane function written as a loop is several times faster; these are for instructions that no inner loop is full of.
func each1[D, A uint32 | uint64](f func(A) D) func(d *[32]D, a *[32]A) {
	return func(d *[32]D, a *[32]A) {
		for i := range d {
			d[i] = f(a[i])
		}
	}
}

func each2[D, A, B uint32 | uint64](f func(A, B) D) func(d *[32]D, a *[32]A, b *[32]B) {
	return func(d *[32]D, a *[32]A, b *[32]B) {
		for i := range d {
			d[i] = f(a[i], b[i])
		}
	}
}

func each3[D, A, B, C uint32 | uint64](f func(A, B, C) D) func(d *[32]D, a *[32]A, b *[32]B, c *[32]C) {
	return func(d *[32]D, a *[32]A, b *[32]B, c *[32]C) {
		for i := range d {
			d[i] = f(a[i], b[i], c[i])
		}
	}
}

// mask2 makes a lane function of a comparison.
func mask2[A uint32 | uint64](f func(a, b A) bool) func(a, b *[32]A) uint32 {
	return func(a, b *[32]A) uint32 {
		var m uint32
		for i := range a {
			if f(a[i], b[i]) {
				m |= 1 << i
			}
		}
		return m
	}
}
