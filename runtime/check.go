package kernrt

import (
	"fmt"
)

const (
	maxWarps   = 64   // per CTA: 2048 threads, more than any device runs
	maxCluster = 16   // CTAs
	maxArgs    = 4096 // the driver passes 32,764 bytes of parameters at most
)

// check refuses a Kernel that contradicts itself: generated code never does,
// edited code may.
func (k *Kernel) check() error {
	if len(k.Variants) == 0 {
		return faultf(ErrMalformed, "it has no variants")
	}
	if len(k.Params) > maxArgs {
		return faultf(ErrMalformed, "%d parameters are more than %d", len(k.Params), maxArgs)
	}
	for _, p := range k.Params {
		elem, rank, tensor := tensorType(p.Type)
		if !tensor {
			elem, _ = pointedTo(p.Type)
		}
		if _, known := elemTypes()[elem]; !known || rank > maxRank {
			return faultf(ErrMalformed, "parameter %s has unknown type %q; this runtime may be too old for the package", p.Name, p.Type)
		}
		if p.Nullable && !isPointer(p.Type) {
			return faultf(ErrMalformed, "parameter %s is nullable but %s is no pointer", p.Name, p.Type)
		}
	}
	if err := k.checkConfigs(); err != nil {
		return faultf(ErrMalformed, "%v", err)
	}
	for v := range k.Variants {
		if err := k.checkVariant(&k.Variants[v]); err != nil {
			return faultf(ErrMalformed, "variant %d: %v", v+1, err)
		}
	}
	return nil
}

// checkConfigs wants variants for each configuration, in order, and a grid for
// all configurations or for none.
func (k *Kernel) checkConfigs() error {
	next := 0
	for v := range k.Variants {
		switch c := k.Variants[v].Config; {
		case c < 0 || c >= max(1, len(k.Configs)):
			return fmt.Errorf("variant %d: it is of configuration %d of %d", v+1, c, len(k.Configs))
		case c != next-1 && c != next:
			return fmt.Errorf("variant %d: it is of configuration %d, which is out of order", v+1, c)
		default:
			next = c + 1
		}
	}
	if next < len(k.Configs) {
		return fmt.Errorf("configuration %d has no variants", next)
	}
	for i := range k.Configs {
		if (len(k.Configs[i].Grid) > 0) != k.declares() {
			return fmt.Errorf("configuration %d: either all declare a grid or none does", i)
		}
		if _, err := k.parseGrid(k.Configs[i].Grid); err != nil {
			return fmt.Errorf("configuration %d: %w", i, err)
		}
	}
	return nil
}

func (k *Kernel) checkVariant(v *Variant) error {
	folded := map[int]bool{}
	for _, g := range v.Guards {
		if g.Param < 0 || g.Param >= len(k.Params) {
			return fmt.Errorf("a guard is on parameter %d of %d", g.Param, len(k.Params))
		}
		p := k.Params[g.Param]
		switch {
		case g.Is == DivisibleBy16 && (isPointer(p.Type) || isInteger(p.Type)):
		case g.Is == EqualTo1 && isInteger(p.Type), g.Is == Null && isPointer(p.Type):
			folded[g.Param] = true
		case g.Is == Fits32 && (p.Type == "i64" || p.Type == "u64"):
		default:
			return fmt.Errorf("guard %v does not suit parameter %s, a %s", g.Is, p.Name, p.Type)
		}
	}
	if len(v.Images) == 0 {
		return fmt.Errorf("it has no images")
	}
	for i := range v.Images {
		if err := k.checkImage(&v.Images[i], folded); err != nil {
			return fmt.Errorf("image %s: %w", v.Images[i].Target, err)
		}
	}
	return nil
}

func (k *Kernel) checkImage(m *Image, folded map[int]bool) error {
	if _, err := parseTarget(m.Target); err != nil {
		return err
	}
	if m.Code == nil || *m.Code == "" || m.Symbol == "" {
		return fmt.Errorf("it has no code or no symbol")
	}
	next := 0
	for _, arg := range m.Args {
		if arg < next || arg >= len(k.Params) || folded[arg] {
			return fmt.Errorf("arguments %v do not name passed parameters in order", m.Args)
		}
		next = arg + 1
	}
	if fault := k.checkDescriptors(m); fault != "" {
		return fmt.Errorf("%s", fault)
	}
	if m.Hidden < 0 || m.Hidden > 2 {
		return fmt.Errorf("%d hidden parameters are not 0, 1 or 2", m.Hidden)
	}
	if m.NumWarps < 1 || m.NumWarps > maxWarps {
		return fmt.Errorf("%d warps are not 1 to %d", m.NumWarps, maxWarps)
	}
	if m.Shared < 0 {
		return fmt.Errorf("%d bytes of shared memory", m.Shared)
	}
	c := m.cluster()
	if c[0] < 1 || c[1] < 1 || c[2] < 1 || c[0] > maxCluster || c[1] > maxCluster || c[2] > maxCluster || c[0]*c[1]*c[2] > maxCluster {
		return fmt.Errorf("cluster %v is not 1 to %d CTAs", m.Cluster, maxCluster)
	}
	for i, scratch := range []Scratch{m.GlobalScratch, m.ProfileScratch} {
		if scratch.Size < 0 || scratch.Align < 0 || scratch.Align&(scratch.Align-1) != 0 {
			return fmt.Errorf("scratch %+v is not a size and a power of two", scratch)
		}
		if scratch.Size > 0 && m.Hidden <= i {
			return fmt.Errorf("it needs scratch but takes %d hidden parameters", m.Hidden)
		}
	}
	return nil
}

// cluster is the image's cluster, {1, 1, 1} for none.
func (m *Image) cluster() [3]int {
	if m.Cluster == [3]int{} {
		return [3]int{1, 1, 1}
	}
	return m.Cluster
}

func (k GuardKind) String() string {
	switch k {
	case DivisibleBy16:
		return "divisible by 16"
	case EqualTo1:
		return "equal to 1"
	case Null:
		return "null"
	case Fits32:
		return "within 32 bits"
	}
	return fmt.Sprintf("GuardKind(%d)", uint8(k))
}

// paramSize is the size of a parameter of Triton's type in bytes.
func paramSize(triton string) int {
	if isPointer(triton) {
		return pointerSize
	}
	return int(elemTypes()[triton].Size())
}
