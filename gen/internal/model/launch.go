package model

import "github.com/kerngen/kerngen/gen/internal/artefact"

// Limits that every architecture so far has; a device may have lower ones,
// which the launch checks.
const (
	warpSize         = 32
	maxThreads       = 1024       // per CTA
	maxCluster       = 16         // CTAs
	clustersFrom     = 90         // the first architecture with clusters
	maxShared        = 256 * 1024 // bytes per CTA: all the L1 of an SM
	maxTensorColumns = 512        // of tensor memory
)

// readLaunch takes what a launch needs beside the arguments, checked.
func (c *checker) readLaunch(im *Image) {
	m := c.Meta
	im.NumWarps = m.NumWarps
	im.Shared = m.Shared
	im.Cooperative = m.Cooperative
	c.checkThreads()
	im.Cluster = c.cluster()
	c.checkMemory()
	im.GlobalScratch = c.scratch("global", m.GlobalScratch, 1, im.Hidden)
	im.ProfileScratch = c.scratch("profile", m.ProfileScratch, 2, im.Hidden)
	im.PDL = c.pdl()
}

// checkThreads compares the warps with the size that the code was compiled for.
// A CTA of another size would fail to launch under .reqntid and, smaller, go
// wrong in silence under .maxntid.
func (c *checker) checkThreads() {
	if n := c.Meta.NumWarps; n < 1 || n > maxThreads/warpSize {
		c.fault(metaExt, "%s has %d warps; a CTA has 1 to %d", c.Meta.Name, c.Meta.NumWarps, maxThreads/warpSize).Fix(remake)
		return
	}
	want := [3]int{warpSize * c.Meta.NumWarps, 1, 1}
	stated := false
	compare := func(ext, what string, got [3]int) {
		if got == [3]int{} {
			return
		}
		stated = true
		if got != want {
			c.fault(ext, "%s is %d, but %d warps in %s make %d", what, got, c.Meta.NumWarps, c.file(metaExt), want).Fix(remake)
		}
	}
	if c.PTX != nil {
		compare(ptxExt, ".reqntid", c.PTX.ReqNTID)
		compare(ptxExt, ".maxntid", c.PTX.MaxNTID)
	}
	if c.Cubin != nil {
		compare(cubinExt, "the required CTA size", c.Cubin.ReqNTID)
	}
	if !stated {
		c.fault(metaExt, "no file says for how many threads %s was compiled, so its %d warps cannot be checked", c.Meta.Name, c.Meta.NumWarps).
			Fix("put %s beside it", c.file(ptxExt))
	}
}

// cluster checks the cluster against the code and returns its shape.
func (c *checker) cluster() [3]int {
	m := c.Meta
	shape, n := m.ClusterDims, m.NumCTAs
	switch {
	case n < 1 || n > maxCluster:
		c.fault(metaExt, "num_ctas is %d; a cluster has 1 to %d CTAs", n, maxCluster).Fix(remake)
		return shape
	case min(shape[0], shape[1], shape[2]) < 1 || max(shape[0], shape[1], shape[2]) > n || shape[0]*shape[1]*shape[2] != n:
		c.fault(metaExt, "cluster_dims %d do not make num_ctas %d", shape, n).Fix(remake)
		return shape
	case n > 1 && m.Arch < clustersFrom:
		c.fault(metaExt, "num_ctas is %d, but sm_%d has no clusters", n, m.Arch).Fix("recompile with num_ctas=1 or for sm_%d and later", clustersFrom)
		return shape
	}
	stated := false
	compare := func(ext string, got [3]int) {
		if got == [3]int{} {
			return
		}
		stated = true
		if got != shape {
			c.fault(ext, "is compiled for clusters of %d, but %s says %d", got, c.file(metaExt), shape).Fix(remake)
		}
	}
	if c.PTX != nil {
		compare(ptxExt, c.PTX.Cluster)
		if c.PTX.ExplicitCluster && n == 1 {
			c.fault(ptxExt, "requires a cluster, but %s says num_ctas 1", c.file(metaExt)).Fix(remake)
		}
	}
	if c.Cubin != nil {
		compare(cubinExt, c.Cubin.Cluster)
	}
	if r, _ := parseRelease(m.TritonVersion); n > 1 && !stated && r.has(clusterInCode) {
		c.fault(metaExt, "num_ctas is %d, but the code is not compiled for clusters", n).Fix(remake)
	}
	return shape
}

func (c *checker) checkMemory() {
	m := c.Meta
	if m.Shared < 0 || m.Shared > maxShared {
		c.fault(metaExt, "%s needs %d bytes of shared memory; no architecture has more than %d", m.Name, m.Shared, maxShared).
			Fix("recompile with smaller blocks or fewer stages")
	}
	switch {
	case c.PTX == nil: // no other file tells
	case m.Shared == 0 && c.PTX.UsesShared:
		c.fault(metaExt, "needs no shared memory, but the code uses some").Fix(remake)
	case m.Shared > 0 && !c.PTX.UsesShared:
		c.fault(metaExt, "needs %d bytes of shared memory, but the code uses none", m.Shared).Fix(remake)
	}
	if m.TensorMemory < 0 || m.TensorMemory > maxTensorColumns {
		c.fault(metaExt, "%s needs %d columns of tensor memory; there are %d", m.Name, m.TensorMemory, maxTensorColumns).
			Fix("recompile with smaller blocks")
	}
}

// scratch checks one kind of scratch memory, which is passed as the hidden
// pointer number at, from 1.
func (c *checker) scratch(kind string, s artefact.Scratch, at, hidden int) Scratch {
	switch {
	case s.Size == 0:
		if c.usesHidden(at, hidden) {
			c.fault(metaExt, "needs no %s scratch, but the code uses its pointer to it", kind).Fix(remake)
		}
		return Scratch{}
	case s.Size < 0:
		c.fault(metaExt, "%s scratch of %d bytes", kind, s.Size).Fix(remake)
	case s.Align < 1 || s.Align&(s.Align-1) != 0:
		c.fault(metaExt, "%s scratch is aligned to %d bytes, which is not a power of two", kind, s.Align).Fix(remake)
	case c.PTX != nil && hidden >= at && !c.usesHidden(at, hidden):
		c.fault(metaExt, "needs %d bytes of %s scratch, but the code does not use its pointer to it", s.Size, kind).Fix(remake)
	case hidden < at:
		c.fault(metaExt, "needs %d bytes of %s scratch, but the code takes %d scratch pointers", s.Size, kind, hidden).Fix(remake)
	}
	return Scratch(s)
}

// usesHidden reports whether the code is seen to use the hidden pointer number
// at, from 1.
func (c *checker) usesHidden(at, hidden int) bool {
	if c.PTX == nil || at > hidden {
		return false
	}
	i := len(c.PTX.Params) - hidden + at - 1
	return i >= 0 && c.PTX.Params[i].Used
}

// pdl reports whether to launch with programmatic stream serialisation. A
// kernel that does not wait for its predecessor could then read what that has
// not written yet, so it is only for code that is seen to wait.
func (c *checker) pdl() bool {
	if !c.Meta.PDL {
		return false
	}
	const without = "launch_pdl is dropped, and it starts once its predecessor has ended"
	switch {
	case c.PTX == nil:
		c.warn(metaExt, "%s is not there to show that %s waits for its predecessor; %s", c.file(ptxExt), c.Meta.Name, without)
	case !c.PTX.WaitsForGrid:
		c.warn(metaExt, "%s has no griddepcontrol.wait; %s", c.Meta.Name, without)
	}
	return c.PTX != nil && c.PTX.WaitsForGrid
}
