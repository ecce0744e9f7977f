package model

import (
	"fmt"
	"slices"
	"strings"

	"github.com/kerngen/kerngen/gen/internal/artefact"
	"github.com/kerngen/kerngen/gen/internal/diag"
)

// nameless is the fault of an image whose TTIR does not name its arguments. It
// leaves what the TTIR tells of them in out, for the fault of the whole kernel.
func (c *checker) nameless(out *compiled) {
	unnamed := c.TTIR.Args[slices.IndexFunc(c.TTIR.Args, func(a artefact.Arg) bool { return a.Name == "" })]
	ext, args := ttirExt, c.TTIR.Args
	if c.takenApart() {
		ext, args = sourceExt, c.Source.Args
	}
	if args = c.heads(ext, args); !c.ok() {
		return
	}
	for _, a := range args {
		text := a.Type
		if t, err := parseMLIR(text); err == nil {
			text = t.String()
		}
		if a.Divisibility != 0 {
			text += fmt.Sprintf(":%d", a.Divisibility)
		}
		out.untold = append(out.untold, text)
	}
	c.faultAt(ttirExt, unnamed.Line, "argument %s has no name; Triton keeps names since %s", argName(unnamed), argumentNames).
		Fix("name the arguments with --signature '%s=%s', put %s beside it, or recompile with a later Triton",
			out.kernel, blanks(out.untold), c.file(sidecarExt))
}

// blanks is a signature whose names are to be filled in. A tensor descriptor
// makes types necessary.
func blanks(types []string) string {
	typed := slices.ContainsFunc(types, func(t string) bool { return strings.HasPrefix(t, "tensordesc<") })
	items := make([]string, len(types))
	for i, t := range types {
		items[i] = "NAME"
		if typed {
			items[i] += ": " + t
		}
	}
	return strings.Join(items, ", ")
}

// namelessKernel is the fault of all images of a kernel whose TTIR does not
// name their arguments: one option names those of all.
func namelessKernel(all []compiled) error {
	most, folded := all[0], ""
	for _, c := range all {
		if len(c.untold) != len(all[0].untold) {
			folded = fmt.Sprintf(", and with --fold %s.NAME=1 or =null for those that are not in all images, which were the integer 1 or None there", c.kernel)
		}
		if len(c.untold) > len(most.untold) {
			most = c
		}
	}
	e := diag.Errorf("", "%s: no file names the arguments of these images; Triton's do since %s", most.kernel, argumentNames).
		Fix("name them, without constants, with --signature '%s=%s'%s; or put a NAME%s beside each, or recompile with a later Triton",
			most.kernel, blanks(most.untold), folded, sidecarExt)
	for _, c := range all {
		e.List = append(e.List, fmt.Sprintf("%s: %s", c.image.Origin, strings.Join(c.untold, ", ")))
	}
	return e
}
