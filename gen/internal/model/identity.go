package model

import (
	"path"
	"strconv"
	"strings"
)

// checkBackend refuses what the rest of the package has no rules for.
func (c *checker) checkBackend() {
	m := c.Meta
	if m.Backend != "cuda" {
		c.fault(metaExt, "%s is compiled for backend %q; kerngen launches cuda kernels only", m.Name, m.Backend).
			Fix("recompile it for an NVIDIA target")
		return
	}
	if m.WarpSize != 32 {
		c.fault(metaExt, "%s is compiled for warps of %d threads, but NVIDIA's have 32", m.Name, m.WarpSize).Fix(remake)
	}
	if m.Instrumentation != "" {
		c.fault(metaExt, "%s is instrumented (%q), which can change its parameters", m.Name, m.Instrumentation).
			Fix("recompile it without TRITON_INSTRUMENTATION_MODE")
	}
	if _, err := parseRelease(m.TritonVersion); err != nil {
		c.fault(metaExt, "triton_version: %v", err)
	}
	if c.PTX == nil && c.Cubin == nil {
		c.fault(metaExt, "%s has neither %s nor %s beside it: there is nothing to launch", m.Name, c.file(cubinExt), c.file(ptxExt)).
			Fix("copy the whole folder that Triton wrote")
	}
}

// longestFileName is where Triton cuts a function's name to make a file's.
const longestFileName = 150

// kernelName checks that all files speak of one symbol, and returns the Python
// function's name. The symbol is another only where @jit(repr=…) made it;
// Triton's files are then still named after the function.
func (c *checker) kernelName() string {
	symbol := c.Meta.Name
	agree := func(ext, what, name string) {
		if name != symbol {
			c.fault(ext, "%s is %q, but %s says %q", what, name, c.file(metaExt), symbol).Fix(remake)
		}
	}
	if c.TTIR != nil {
		agree(ttirExt, "the public function", c.TTIR.Name)
	}
	if c.Source != nil {
		agree(sourceExt, "the public function", c.Source.Name)
	}
	if c.PTX != nil {
		agree(ptxExt, "the entry", c.PTX.Entry)
	}
	if c.Cubin != nil {
		agree(cubinExt, "the kernel", c.Cubin.Symbol)
	}
	if c.Sidecar == nil {
		return symbol
	}
	name := c.Sidecar.Kernel
	if name != symbol && (name == "" || name[:min(len(name), longestFileName)] != path.Base(c.Path)) {
		c.fault(sidecarExt, "describes kernel %q, but %s says %q", name, c.file(metaExt), symbol).
			Fix("recompile the kernel, or keep the files' names where @jit(repr=…) renames it")
	}
	if v := c.Meta.TritonVersion; v != "" && c.Sidecar.Triton != v {
		c.fault(sidecarExt, "is of Triton %q, but %s of %q", c.Sidecar.Triton, c.file(metaExt), v).Fix(remake)
	}
	return name
}

// acceleratedFrom is the first architecture for which Triton compiles with the
// "a" suffix, always.
const acceleratedFrom = 90

// target checks that all files are for one architecture. The PTX is the better
// witness of the suffix: some toolchains leave the cubin's flag clear.
func (c *checker) target() Target {
	t := Target{SM: c.Meta.Arch}
	if c.Cubin != nil {
		if c.Cubin.Arch != t.SM {
			c.fault(cubinExt, "is for sm_%d, but %s says %d", c.Cubin.Arch, c.file(metaExt), t.SM).Fix(remake)
		}
		if c.Cubin.Accelerated || t.SM >= acceleratedFrom {
			t.Suffix = "a"
		}
	}
	if c.PTX == nil {
		return t
	}
	digits, ok := strings.CutPrefix(c.PTX.Target, "sm_")
	number := strings.TrimRight(digits, "abcdefghijklmnopqrstuvwxyz")
	sm, err := strconv.Atoi(number)
	suffix := digits[len(number):]
	switch {
	case !ok || err != nil || suffix != "" && suffix != "a":
		c.fault(ptxExt, "unknown target %q; kerngen knows sm_80 and the like, and sm_90a for one architecture only", c.PTX.Target)
	case sm != t.SM:
		c.fault(ptxExt, "is for %s, but %s says %d", c.PTX.Target, c.file(metaExt), t.SM).Fix(remake)
	case suffix == "" && c.Cubin != nil && c.Cubin.Accelerated:
		c.fault(cubinExt, "is for sm_%da, but %s for %s", t.SM, c.file(ptxExt), c.PTX.Target).Fix(remake)
	}
	t.Suffix = suffix
	return t
}

// readCode takes the cubin where there is one, else the PTX, which the driver
// then compiles.
func (c *checker) readCode(im *Image) {
	if c.Cubin != nil {
		im.Kind, im.Code = Cubin, c.Cubin.Bytes
		return
	}
	im.Kind, im.Code = PTX, c.PTX.Text
	if c.PTX.SetsStride && !strideInBytes(c.PTX.Version) {
		c.fault(ptxExt, "sets a tensor map's stride in PTX %s, where compilers before CUDA 12.5 and later ones take the number for different strides", c.PTX.Version).
			Fix("give the cubin too, or recompile with Triton 3.4 or later")
	}
	if o := c.Meta.PTXOptions; o != "" {
		c.fault(metaExt, "%s was compiled with ptx_options %q, which the driver's compiler cannot apply to %s", c.Meta.Name, o, c.file(ptxExt)).
			Fix("give the cubin too, or recompile without ptx_options")
	}
}

// strideInBytes reports whether all compilers of this PTX read the number that
// sets a tensor map's stride alike, in bytes. ptxas before CUDA 12.5, which brought
// PTX 8.5, wanted it divided by 16, and Triton wrote it so: PTX of 3.3 stores only
// a tensor's first row when a driver of CUDA 13.0 compiles it (seen on an H200).
func strideInBytes(version string) bool {
	major, minor, _ := strings.Cut(version, ".")
	a, _ := strconv.Atoi(major)
	b, _ := strconv.Atoi(minor)
	return a > 8 || a == 8 && b >= 5
}
