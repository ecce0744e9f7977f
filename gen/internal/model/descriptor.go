package model

import (
	"strings"

	"github.com/kerngen/kerngen/gen/internal/artefact"
)

const deviceDescriptor = "make the descriptor in the kernel with tl.make_tensor_descriptor"

// checkDescriptors refuses host tensor descriptors. Below sm_90 the TTIR has
// them taken apart; the module before any pass still shows them, and since 3.8 so
// do the names of their parts.
func (c *checker) checkDescriptors() {
	found := c.descriptorsIn(ttirExt, c.TTIR) || c.descriptorsIn(sourceExt, c.Source) || c.descriptorParts()
	if !found && c.Meta.TensorDescs > 0 {
		c.fault(metaExt, "%s takes %d host tensor descriptors, which kerngen does not launch yet", c.Meta.Name, c.Meta.TensorDescs).
			Fix(deviceDescriptor)
	}
}

func (c *checker) descriptorsIn(ext string, s *artefact.Signature) bool {
	if s == nil {
		return false
	}
	found := false
	for _, a := range s.Args {
		if strings.HasPrefix(a.Type, descriptorPrefix) || a.TensorMap {
			found = true
			c.refuseDescriptor(ext, a)
		}
	}
	return found
}

// descriptorParts finds arguments whose own name begins that of others, as in
// x_desc and x_desc.shape.0. A tuple's members have no argument to begin theirs.
func (c *checker) descriptorParts() bool {
	if c.TTIR == nil {
		return false
	}
	wholes := map[string]bool{}
	for _, a := range c.TTIR.Args {
		if whole, _, dotted := strings.Cut(a.Name, "."); dotted {
			wholes[whole] = true
		}
	}
	found := false
	for _, a := range c.TTIR.Args {
		if wholes[a.Name] {
			found = true
			c.refuseDescriptor(ttirExt, a)
		}
	}
	return found
}

func (c *checker) refuseDescriptor(ext string, a artefact.Arg) {
	c.faultAt(ext, a.Line, "parameter %s of %s takes a host tensor descriptor, which kerngen does not launch yet", argName(a), c.Meta.Name).
		Fix(deviceDescriptor)
}

// argName is how to speak of an argument that may have no name.
func argName(a artefact.Arg) string {
	if a.Name == "" {
		return "%" + a.SSA
	}
	return a.Name
}
