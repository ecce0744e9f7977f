package model

import (
	"slices"
	"strings"

	"github.com/kerngen/kerngen/gen/internal/artefact"
)

// maxHidden is how many scratch pointers Triton appends at most: global, then
// profile.
const maxHidden = 2

// hidden compares the parameters with what the PTX and the cubin take, and
// returns how many scratch pointers those append.
func (c *checker) hidden(args []slot) int {
	if c.PTX != nil && c.Cubin != nil && len(c.PTX.Params) != len(c.Cubin.Params) {
		c.fault(cubinExt, "takes %d parameters, but the entry in %s %d", len(c.Cubin.Params), c.file(ptxExt), len(c.PTX.Params)).Fix("%s", c.remedy())
		return 0
	}
	ext, n := cubinExt, 0
	if c.PTX != nil {
		ext, n = ptxExt, len(c.PTX.Params)
	} else {
		n = len(c.Cubin.Params)
	}
	hidden := n - len(args)
	if hidden < 0 || hidden > maxHidden {
		c.fault(ext, "takes %d parameters, but %s has %d arguments, after which come 0 to %d scratch pointers", n, c.argFile(), len(args), maxHidden).Fix("%s", c.remedy())
		return 0
	}
	c.checkHidden(hidden)
	if c.PTX != nil {
		c.checkPTX(args)
	}
	if c.Cubin != nil {
		c.checkCubin(args)
	}
	return hidden
}

// argFile is the file that the arguments come from.
func (c *checker) argFile() string {
	switch {
	case c.option != "":
		return c.option
	case c.TTIR != nil:
	case c.Sidecar != nil:
		return c.file(sidecarExt)
	case c.Launch != nil:
		return c.file(launchExt)
	}
	return c.file(ttirExt)
}

// remedy is for what disagrees with the code.
func (c *checker) remedy() string {
	if c.option != "" {
		return "correct the option"
	}
	return remake
}

// checkPTX compares each parameter's declaration. PTX of older Triton marks no
// pointers; where it marks any, it marks all.
func (c *checker) checkPTX(args []slot) {
	marks := slices.ContainsFunc(c.PTX.Params, func(p artefact.PTXParam) bool { return p.Pointer })
	for i, p := range c.PTX.Params {
		if i >= len(args) {
			if p.Size != pointerSize || !slices.Contains(pointerForms, p.Type) || marks && !p.Pointer {
				c.faultAt(ptxExt, p.Line, "parameter %d follows the arguments of %s and should be a scratch pointer, but is %s of %d bytes", i, c.argFile(), p.Type, p.Size).Fix("%s", c.remedy())
			}
			continue
		}
		a := args[i]
		switch pointer := a.typ.Pointer > 0; {
		case p.Size != a.typ.Size() || !slices.Contains(a.typ.ptxForms(), p.Type):
			c.faultAt(ptxExt, p.Line, "parameter %d is %s of %d bytes, but %s is %s in %s, which is %s of %d", i, p.Type, p.Size,
				a.name, a.typ, c.argFile(), strings.Join(a.typ.ptxForms(), " or "), a.typ.Size()).Fix("%s", c.remedy())
		case marks && pointer && !p.Pointer:
			c.faultAt(ptxExt, p.Line, "parameter %d is not a pointer, but %s is %s in %s", i, a.name, a.typ, c.argFile()).Fix("%s", c.remedy())
		case !pointer && p.Pointer:
			c.faultAt(ptxExt, p.Line, "parameter %d is a pointer, but %s is %s in %s", i, a.name, a.typ, c.argFile()).Fix("%s", c.remedy())
		}
	}
}

// checkCubin compares each parameter's place in the constant bank.
func (c *checker) checkCubin(args []slot) {
	end := 0
	for i, p := range c.Cubin.Params {
		name, size, align := "a scratch pointer", pointerSize, pointerSize
		if i < len(args) {
			name, size = args[i].name, args[i].typ.Size()
			align = size
			if args[i].typ.Rank > 0 {
				align = 1 // a map's is of the bank, whose start the file does not tell
			}
		}
		switch {
		case p.Ordinal != i:
			c.fault(cubinExt, "lacks parameter %d", i).Fix("%s", c.remedy())
			return
		case p.Size != size:
			c.fault(cubinExt, "parameter %d has %d bytes, but is %s of %d bytes by %s", i, p.Size, name, size, c.argFile()).Fix("%s", c.remedy())
			return
		case p.Offset%align != 0:
			c.fault(cubinExt, "parameter %d (%s of %d bytes) lies at offset %d, which is not a multiple of its size", i, name, size, p.Offset).Fix("%s", c.remedy())
			return
		case p.Offset < end:
			c.fault(cubinExt, "parameter %d (%s of %d bytes) lies at offset %d, after one that ends at %d", i, name, size, p.Offset, end).Fix("%s", c.remedy())
			return
		}
		end = p.Offset + p.Size
	}
}
