package main

import (
	"fmt"
	"io"
	"math"
	"strings"
)

// difference is how two devices' results of a case differ. It counts elements
// that either has changed.
type difference struct {
	elements int
	differ   int     // in bits, where not both are NaN
	ulps     int64   // the most, between floats of which neither is NaN
	relative float64 // the most, over the largest magnitude in the buffer
	nan      int     // NaN on one device only
	integers int     // integers that differ
}

// compare writes a table of the differences between two results of the cases.
func compare(w io.Writer, dir, first, second string) error {
	cases, err := readCases(dir, "")
	if err != nil {
		return err
	}
	a, err := readResults(first)
	if err != nil {
		return err
	}
	b, err := readResults(second)
	if err != nil {
		return err
	}
	fmt.Fprintf(w, "%s against %s\n\n", a.Device, b.Device)
	fmt.Fprintf(w, "| package | kernel | elements | result |\n|:--|:--|--:|:--|\n")
	same, total := 0, 0
	for _, c := range cases {
		total++
		line, identical := "", false
		ra, rb := a.Cases[c.name], b.Cases[c.name]
		switch fault := firstFault(a, b, ra, rb); {
		case fault != "":
			line = fmt.Sprintf("| | %s |", strings.ReplaceAll(fault, "|", "\\|"))
		default:
			d, err := c.differences(ra, rb)
			if err != nil {
				return fmt.Errorf("%s: %w", c.name, err)
			}
			identical = d.differ == 0
			line = fmt.Sprintf("| %d | %s |", d.elements, d.describe(ra.Varies || rb.Varies))
		}
		if identical {
			same++
		}
		fmt.Fprintf(w, "| %s %s | `%s` %s\n", c.Package, c.Version, c.Kernel, line)
	}
	fmt.Fprintf(w, "\n%d kernels, %d identical\n", total, same)
	return nil
}

func firstFault(a, b *results, ra, rb *result) string {
	for _, of := range []struct {
		all *results
		r   *result
	}{{a, ra}, {b, rb}} {
		switch {
		case of.r == nil:
			return "not launched on " + of.all.Device
		case of.r.Error != "":
			return of.all.Device + ": " + of.r.Error
		case of.r.Fault != "":
			return "the kernel has a fault: " + of.r.Fault
		}
	}
	return ""
}

func (d *difference) describe(varies bool) string {
	if d.differ == 0 {
		return "identical"
	}
	text := fmt.Sprintf("%d differ", d.differ)
	if d.ulps > 0 {
		text += fmt.Sprintf(", by %d ulp or %.1e of the largest at most", d.ulps, d.relative)
	}
	if d.integers > 0 {
		text += fmt.Sprintf(", %d of them integers", d.integers)
	}
	if d.nan > 0 {
		text += fmt.Sprintf(", %d NaN on one only", d.nan)
	}
	if varies {
		text += "; a device's own launches vary"
	}
	return text
}

func (c *launchCase) differences(a, b *result) (difference, error) {
	var d difference
	before, err := c.contents()
	if err != nil {
		return d, err
	}
	for i, buffer := range c.Buffers {
		e, err := elementOf(buffer.Type)
		if err != nil {
			return d, err
		}
		one, other := before[i], before[i]
		if changed, ok := a.changed[i]; ok {
			one = changed
		}
		if changed, ok := b.changed[i]; ok {
			other = changed
		}
		if len(one) != len(before[i]) || len(other) != len(before[i]) {
			return d, fmt.Errorf("buffer %d has %d and %d bytes in the results, not %d", i, len(one), len(other), len(before[i]))
		}
		d.add(e, before[i], one, other)
	}
	return d, nil
}

func (d *difference) add(e element, before, one, other []byte) {
	largest, farthest := 0.0, 0.0
	for i := range len(before) / e.size {
		was, x, y := e.bits(before, i), e.bits(one, i), e.bits(other, i)
		if x == was && y == was {
			continue
		}
		d.elements++
		if e.value == nil {
			if x != y {
				d.differ++
				d.integers++
			}
			continue
		}
		u, v := e.value(x), e.value(y)
		for _, f := range []float64{u, v} {
			if m := math.Abs(f); m > largest && !math.IsInf(m, 0) {
				largest = m
			}
		}
		switch {
		case x == y || u != u && v != v:
		case u != u || v != v:
			d.differ++
			d.nan++
		default:
			d.differ++
			d.ulps = max(d.ulps, abs(e.rank(x)-e.rank(y)))
			farthest = max(farthest, math.Abs(u-v))
		}
	}
	if largest > 0 {
		d.relative = max(d.relative, farthest/largest)
	}
}

func abs(n int64) int64 {
	if n < 0 {
		return -n
	}
	return n
}
