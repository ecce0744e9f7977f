package model

import (
	"strings"

	"github.com/kerngen/kerngen/gen/internal/artefact"
)

const deviceDescriptor = "make the descriptor in the kernel with tl.make_tensor_descriptor"

// checkDescriptors refuses host tensor descriptors. Below sm_90 the TTIR has
// them taken apart; the module before any pass still shows them.
func (c *checker) checkDescriptors() {
	found := c.descriptorsIn(ttirExt, c.TTIR)
	if !found {
		found = c.descriptorsIn(sourceExt, c.Source)
	}
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
		if strings.HasPrefix(a.Type, descriptorPrefix) {
			found = true
			c.faultAt(ext, a.Line, "parameter %s of %s takes a host tensor descriptor, which kerngen does not launch yet", argName(a), s.Name).
				Fix(deviceDescriptor)
		}
	}
	return found
}

// argName is how to speak of an argument that may have no name.
func argName(a artefact.Arg) string {
	if a.Name == "" {
		return "%" + a.SSA
	}
	return a.Name
}
