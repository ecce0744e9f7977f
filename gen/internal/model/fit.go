package model

import (
	"strings"

	"github.com/kerngen/kerngen/gen/internal/artefact"
)

// fit returns those of a signature's arguments that the image takes, with
// their types. An image may lack what --fold says was compiled away; which it
// lacks must follow from the types.
func (c *checker) fit(args []signatureArg, kernel string) []signatureArg {
	if c.TTIR == nil || describesTensor(args) {
		c.checkTyped(args)
		return args
	}
	taken := args
	if len(args) > len(c.TTIR.Args) {
		if taken = c.leaveOut(args, kernel); taken == nil {
			return nil
		}
	}
	return c.typed(taken)
}

// describesTensor reports whether one of the arguments is a host tensor
// descriptor, which is several of the TTIR's.
func describesTensor(args []signatureArg) bool {
	for _, a := range args {
		if a.typ.Rank > 0 {
			return true
		}
	}
	return false
}

// checkTyped refuses names without a type where the TTIR cannot tell it.
func (c *checker) checkTyped(args []signatureArg) {
	var names []string
	for _, a := range args {
		if a.typ == (Type{}) {
			names = append(names, a.name)
		}
	}
	if names == nil {
		return
	}
	why := "there is no " + c.file(ttirExt) + " to tell"
	if c.TTIR != nil {
		why = "beside a tensor descriptor each must be told"
	}
	c.fault(metaExt, "%s gives no type for %s, and %s", c.option, strings.Join(names, ", "), why).Fix("write NAME: TYPE")
}

// typed gives the arguments the types that the TTIR tells.
func (c *checker) typed(args []signatureArg) []signatureArg {
	typed := append([]signatureArg(nil), args...)
	for i := range typed[:min(len(typed), len(c.TTIR.Args))] {
		a := c.TTIR.Args[i]
		if typed[i].typ != (Type{}) {
			continue
		}
		t, err := parseMLIR(a.Type)
		if err == nil {
			err = t.checkArgument()
		}
		if err == nil && t.Rank > 0 {
			c.faultAt(ttirExt, a.Line, "%s is a tensor descriptor, whose type %s must give", typed[i].name, c.option).Fix("write %s: %s", typed[i].name, t)
			continue
		}
		if err != nil {
			c.faultAt(ttirExt, a.Line, "argument %s: %v", typed[i].name, err)
		}
		typed[i].typ = t
	}
	if n := len(c.TTIR.Args); n > len(args) {
		c.fault(ttirExt, "%s has %d arguments, but %d in %s", c.TTIR.Name, n, len(args), c.option).Fix("name all the arguments that any image takes")
	}
	return typed
}

// leaveOut is args without those that the image lacks. Of those that --fold
// names, any may be lacking; only one choice may fit the TTIR.
func (c *checker) leaveOut(args []signatureArg, kernel string) []signatureArg {
	code := c.TTIR.Args
	lack := len(args) - len(code)
	optional := 0
	for _, a := range args {
		if _, ok := c.folds[kernel+"."+a.name]; ok {
			optional++
		}
	}
	e := "%s has %d arguments, but %d in %s"
	if lack > optional {
		c.fault(ttirExt, e, c.TTIR.Name, len(code), len(args), c.option).
			Fix("say what was compiled away here: --fold %s.NAME=1 for the integer 1, =null for an absent pointer", kernel)
		return nil
	}
	// ways[i][k] counts, up to 2, the ways to fit args[i:] once k are left out.
	ways := make([][]uint8, len(args)+1)
	for i := range ways {
		ways[i] = make([]uint8, lack+2)
	}
	ways[len(args)][lack] = 1
	takes := func(i, k int, fold Fold) bool {
		return i >= k && i-k < len(code) && args[i].fits(code[i-k], fold)
	}
	for i := len(args) - 1; i >= 0; i-- {
		fold, optional := c.folds[kernel+"."+args[i].name]
		for k := range lack + 1 {
			n := uint8(0)
			if optional {
				n += ways[i+1][k+1]
			}
			if takes(i, k, fold) {
				n += ways[i+1][k]
			}
			ways[i][k] = min(n, 2)
		}
	}
	switch ways[0][0] {
	case 0:
		c.fault(ttirExt, e+", and no choice of what --fold says was compiled away fits", c.TTIR.Name, len(code), len(args), c.option).
			Fix("correct the types, or leave those out that differ between images: the TTIR of each tells them")
		return nil
	case 2:
		c.fault(ttirExt, e+", and more than one choice of what --fold says was compiled away fits", c.TTIR.Name, len(code), len(args), c.option).
			Fix("give types in the option where they tell, or put %s beside it", c.file(sidecarExt))
		return nil
	}
	taken := make([]signatureArg, 0, len(code))
	for i, k := 0, 0; i < len(args); i++ {
		fold := c.folds[kernel+"."+args[i].name]
		if takes(i, k, fold) && ways[i+1][k] > 0 {
			taken = append(taken, args[i])
			continue
		}
		k++
	}
	return taken
}

// fits reports whether a can be an argument of the TTIR. One that is folded at
// 1 elsewhere is an integer, and one that is absent elsewhere a pointer.
func (a signatureArg) fits(arg artefact.Arg, fold Fold) bool {
	t, err := parseMLIR(arg.Type)
	switch {
	case err != nil:
		return false
	case a.typ != Type{}:
		return t.spelled(a.typ)
	case fold == FoldOne:
		return t.isInteger()
	case fold == FoldNull:
		return t.Pointer > 0
	}
	return true
}
