package config

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"
)

// architectures are those that some Triton from 3.3 on compiles for.
var architectures = []Target{75, 80, 86, 87, 89, 90, 100, 101, 103, 110, 120, 121}

// portableBelow is the first architecture whose PTX runs on nothing else:
// Triton compiles for sm_90a, never sm_90, and so on.
const portableBelow Target = 90

// String is ptxas's spelling.
func (t Target) String() string { return fmt.Sprintf("sm_%d", int(t)) }

// targets reads a list of targets.
func (d *decoder) targets(n *yaml.Node) Targets {
	found := Targets{Pos: map[Target]string{}}
	var ptx *yaml.Node
	known := true
	d.list(n, "targets", func(n *yaml.Node) {
		text, ok := d.text(n, "a target")
		if !ok {
			known = false
			return
		}
		if text == "ptx" {
			if ptx != nil {
				d.fault(n, "target %q is given twice", text)
			}
			ptx = n
			return
		}
		t, ok := d.target(n, text)
		if known = known && ok; !ok {
			return
		}
		if slices.Contains(found.Archs, t) {
			d.fault(n, "target %q is given twice", text)
			return
		}
		found.Archs = append(found.Archs, t)
		found.Pos[t] = d.pos(n)
	})
	slices.Sort(found.Archs)
	for _, t := range found.Archs {
		if ptx != nil && t < portableBelow {
			found.PTX = t
		}
	}
	switch {
	case !known:
	case ptx != nil && found.PTX == 0:
		d.fault(ptx, "target %q needs a target below %s: PTX that Triton makes for %s or newer runs on that very architecture only, so it is no fallback for another",
			"ptx", portableBelow, portableBelow).Fix("add sm_80")
	case len(found.Archs) == 0 && d.resolve(n).Kind == yaml.SequenceNode:
		d.fault(n, "targets is empty").Fix("list the architectures to compile for, such as sm_80")
	}
	return found
}

func (d *decoder) target(n *yaml.Node, text string) (Target, bool) {
	if strings.HasPrefix(text, "hip") || strings.HasPrefix(text, "gfx") {
		d.fault(n, "target %q: kernels for AMD GPUs cannot be launched by kerngen's runtime, which speaks to NVIDIA's driver only", text)
		return 0, false
	}
	digits, prefixed := strings.CutPrefix(text, "sm_")
	number, err := strconv.Atoi(strings.TrimRight(digits, "af"))
	t := Target(number)
	if prefixed && err == nil && slices.Contains(architectures, t) {
		if digits == strconv.Itoa(number) {
			return t, true
		}
		d.fault(n, "target %q: Triton decides about the suffix itself", text).Fix("write %q", t)
		return 0, false
	}
	names := []string{"ptx"}
	for _, a := range architectures {
		names = append(names, a.String())
	}
	fault := d.fault(n, "unknown target %q", text)
	for _, a := range architectures {
		if strings.Trim(text, "_smcudaSMCUDA:-. ") == strconv.Itoa(int(a)) {
			fault.Fix("did you mean %q?", a)
			return 0, false
		}
	}
	Suggest(fault, "", names)
	return 0, false
}
