package kernrt

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// target is an architecture that an image was compiled for.
type target struct {
	sm    int  // 80, 90, 120
	exact bool // the "a" suffix: runs on this very architecture only
}

func parseTarget(s string) (target, error) {
	digits, ok := strings.CutPrefix(s, "sm_")
	digits, exact := strings.CutSuffix(digits, "a")
	sm, err := strconv.Atoi(digits)
	if !ok || err != nil || sm < 10 {
		return target{}, fmt.Errorf("target %q is not sm_NN or sm_NNa", s)
	}
	return target{sm, exact}, nil
}

// runs reports whether a device of architecture sm runs an image of the target:
// a cubin runs on later minor versions of its major one, PTX on all that is
// later, and what was compiled with "a" on its own architecture only (CUDA C
// programming guide, compute capabilities).
func (t target) runs(sm int, ptx bool) bool {
	switch {
	case t.exact:
		return t.sm == sm
	case ptx:
		return t.sm <= sm
	}
	return t.sm/10 == sm/10 && t.sm <= sm
}

// runsOn says where an image of the target runs.
func (t target) runsOn(ptx bool) string {
	switch {
	case t.exact, !ptx && t.sm%10 == 9:
		return fmt.Sprintf("on sm_%d alone", t.sm)
	case ptx:
		return fmt.Sprintf("on sm_%d and later", t.sm)
	}
	return fmt.Sprintf("on sm_%d to sm_%d", t.sm, t.sm/10*10+9)
}

// candidates are the images that a device of architecture sm can run, best
// first: cubins before PTX, then the closest architecture.
func candidates(images []Image, sm int) []*Image {
	var found []*Image
	for i := range images {
		if t, err := parseTarget(images[i].Target); err == nil && t.runs(sm, images[i].PTX) {
			found = append(found, &images[i])
		}
	}
	slices.SortStableFunc(found, func(a, b *Image) int {
		if a.PTX != b.PTX {
			return boolCompare(a.PTX, b.PTX)
		}
		ta, _ := parseTarget(a.Target) // both parsed above
		tb, _ := parseTarget(b.Target)
		return cmp.Or(cmp.Compare(tb.sm, ta.sm), boolCompare(tb.exact, ta.exact))
	})
	return found
}

// boolCompare orders false before true.
func boolCompare(a, b bool) int {
	switch {
	case a == b:
		return 0
	case b:
		return -1
	}
	return 1
}
