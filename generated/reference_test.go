package generated_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	kernrt "github.com/kerngen/kerngen/runtime"
)

// TestTritonReference launches what kernels/reference.py launched with Triton's
// own launcher, from the same cubins and inputs, and wants the same bits in every
// buffer: NaNs' payloads, untouched inputs and the memory around outputs too.
// No kernel is left out, for none adds floats atomically; the atomic additions of
// histogram and normalize are of integers, which have no order.
//
// KERNGEN_REFERENCE names the folder that reference.py wrote.
func TestTritonReference(t *testing.T) {
	dir := os.Getenv("KERNGEN_REFERENCE")
	if dir == "" {
		t.Skip("KERNGEN_REFERENCE names no folder of kernels/reference.py")
	}
	reference := readReference(t, dir)
	info := device(t).Info()
	if sm := 10*info.ComputeCapability[0] + info.ComputeCapability[1]; sm != reference.SM {
		t.Fatalf("the reference is of sm_%d, the device sm_%d; run reference.py on this machine", reference.SM, sm)
	}
	s := newStream(t)
	var rows []*referenceRow
	byKernel := map[string]*referenceRow{}
	for _, c := range reference.Cases {
		kernel := c.Package + "." + c.Kernel
		key := c.Package + "." + c.Variant
		row := byKernel[key]
		if row == nil {
			row = &referenceRow{kernel: key, identical: true}
			byKernel[key] = row
			rows = append(rows, row)
		}
		row.cases++
		launches := func(b *boundCase) error {
			launch, known := referenceLaunches[kernel]
			if !known {
				b.t.Fatalf("no launch of %s; add it to referenceLaunches", kernel)
			}
			grid := kernrt.Grid3D(c.Grid[0], c.Grid[1], c.Grid[2]) // kernels that declare theirs leave it out
			explained, err := s.Device().Explain(func(s *kernrt.Stream) error { return launch(b, s, grid) })
			if err != nil {
				return err
			}
			b.t.Log(explained)
			for range c.Launches {
				if err := launch(b, s, grid); err != nil {
					return err
				}
			}
			return nil
		}
		row.identical = t.Run(c.Name, func(t *testing.T) {
			b := &boundCase{t: t, dir: dir, c: c, args: map[string]*boundArg{}}
			b.upload(s)
			launched(t, launches(b))
			row.elements += b.compare(s)
		}) && row.identical
		row.identical = t.Run(c.Name+" chosen at run time", func(t *testing.T) {
			b := &boundCase{t: t, dir: dir, c: c, args: map[string]*boundArg{}}
			if c.Package == "tensor" {
				t.Skip("a tensor's type is known at compile time")
			}
			b.upload(s)
			for range c.Launches {
				launched(t, b.launchArgs(s, kernrt.Grid3D(c.Grid[0], c.Grid[1], c.Grid[2])))
			}
			b.compare(s)
		}) && row.identical
		row.identical = t.Run(c.Name+" in a graph", func(t *testing.T) {
			b := &boundCase{t: t, dir: dir, c: c, args: map[string]*boundArg{}}
			b.upload(s)
			_, exec := captured(t, s, func() error { return launches(b) })
			launched(t, exec.Launch(s))
			b.compare(s)
		}) && row.identical
	}
	t.Logf("%s, sm_%d, Triton %s\n\n%s", reference.Device, reference.SM, reference.Triton, table(rows))
}

// referenceRow is what came out of the cases of one kernel or variant.
type referenceRow struct {
	kernel    string
	cases     int
	elements  int // of buffers that the kernel writes
	identical bool
}

func table(rows []*referenceRow) string {
	var b strings.Builder
	fmt.Fprintln(&b, "| kernel, variant | cases | elements compared | bit-identical to Triton |\n| --- | --- | --- | --- |")
	for _, r := range rows {
		answer := "no"
		if r.identical {
			answer = "yes"
		}
		fmt.Fprintf(&b, "| %s | %d | %d | %s |\n", r.kernel, r.cases, r.elements, answer)
	}
	return b.String()
}

// reference is cases.json; kernels/README.md describes it.
type reference struct {
	Schema         int
	Triton, Device string
	SM             int
	Cases          []referenceCase
}

type referenceCase struct {
	Name, Package, Kernel, Variant, Config string
	Types                                  map[string]string // by type variable
	Grid                                   [3]int
	Launches                               int
	Args                                   []referenceArg
	Expected                               []struct{ Arg, File string }
}

type referenceArg struct {
	Name, Type, Kind string
	Bits             string // of a scalar
	Bytes, Offset    int    // of a buffer
	Fill             byte
	File             string
	Out              bool
	Shape, Strides   []int // of a tensor descriptor's buffer
	NaN              bool
}

func readReference(t *testing.T, dir string) reference {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(dir, "cases.json"))
	if err != nil {
		t.Fatal(err)
	}
	var r reference
	if err := json.Unmarshal(text, &r); err != nil {
		t.Fatalf("cases.json: %v", err)
	}
	if r.Schema != 1 || len(r.Cases) == 0 {
		t.Fatalf("cases.json: schema %d with %d cases, want schema 1 and some", r.Schema, len(r.Cases))
	}
	return r
}

// boundCase is a case whose buffers are on the device.
type boundCase struct {
	t    *testing.T
	dir  string
	c    referenceCase
	args map[string]*boundArg
}

type boundArg struct {
	referenceArg
	before []byte // a buffer's bytes before the launch
	buffer *kernrt.Buffer[uint8]
	bits   uint64 // a scalar's value
	used   bool   // by the launch
}

func (b *boundCase) upload(s *kernrt.Stream) {
	b.t.Helper()
	for _, a := range b.c.Args {
		bound := &boundArg{referenceArg: a}
		b.args[a.Name] = bound
		var err error
		if a.Kind == "null" {
			continue
		}
		if a.Kind == "scalar" {
			if bound.bits, err = strconv.ParseUint(a.Bits, 0, 64); err != nil {
				b.t.Fatalf("%s: %v", a.Name, err)
			}
			continue
		}
		bound.before = bytes.Repeat([]byte{a.Fill}, a.Bytes)
		if a.File != "" {
			bound.before = b.readFile(a.File, a.Bytes)
		}
		if bound.buffer, err = kernrt.Alloc[uint8](s.Device(), a.Bytes); err != nil {
			b.t.Fatal(err)
		}
		b.t.Cleanup(func() {
			if err := bound.buffer.Free(); err != nil {
				b.t.Error(err)
			}
		})
		if err := bound.buffer.CopyFrom(s, bound.before); err != nil {
			b.t.Fatal(err)
		}
	}
}

func (b *boundCase) readFile(name string, size int) []byte {
	b.t.Helper()
	content, err := os.ReadFile(filepath.Join(b.dir, name))
	if err != nil {
		b.t.Fatal(err)
	}
	if len(content) != size {
		b.t.Fatalf("%s has %d bytes, want %d", name, len(content), size)
	}
	return content
}

// arg is the argument of a name, which must have Triton's type.
func (b *boundCase) arg(name, triton string) *boundArg {
	b.t.Helper()
	a := b.args[name]
	if a == nil || a.Type != triton {
		b.t.Fatalf("no argument %s of type %s", name, triton)
	}
	a.used = true
	return a
}

// compare compares all buffers and returns the number of elements in those that
// the kernel writes.
func (b *boundCase) compare(s *kernrt.Stream) (elements int) {
	b.t.Helper()
	after := map[string][]byte{}
	for _, e := range b.c.Expected {
		a := b.args[e.Arg]
		if a == nil || !a.Out {
			b.t.Fatalf("%s is expected but no output", e.Arg)
		}
		after[e.Arg] = b.readFile(e.File, a.Bytes)
	}
	for _, a := range b.args {
		if !a.used {
			b.t.Errorf("argument %s was not passed", a.Name)
		}
		if a.buffer == nil {
			continue
		}
		want := a.before
		if a.Out {
			if want = after[a.Name]; want == nil {
				b.t.Errorf("nothing is expected of %s; a dry run of reference.py is no reference", a.Name)
				continue
			}
			elements += len(want) / elementSize(a.Type)
		}
		got := make([]byte, a.Bytes)
		if err := a.buffer.CopyTo(s, got); err != nil {
			b.t.Fatal(err)
		}
		b.same(a, got, want)
	}
	return elements
}

// same reports how many elements of a buffer differ, and the first of them.
func (b *boundCase) same(a *boundArg, got, want []byte) {
	b.t.Helper()
	if bytes.Equal(got, want) {
		return
	}
	size := elementSize(a.Type)
	first, differ := -1, 0
	for at := 0; at < len(got); at += size {
		end := min(at+size, len(got))
		if !bytes.Equal(got[at:end], want[at:end]) {
			if differ == 0 {
				first = at
			}
			differ++
		}
	}
	end := min(first+size, len(got))
	b.t.Errorf("%s (%s): %d of %d elements differ; the first is element %d: bytes %x, with Triton %x, before the launch %x",
		a.Name, a.Type, differ, len(got)/size, (first-a.Offset)/size, got[first:end], want[first:end], a.before[first:end])
}

// elementSize is the size in bytes of what a pointer of Triton's type points to.
func elementSize(triton string) int {
	if descriptor, ok := strings.CutPrefix(triton, "tensordesc<"); ok {
		triton, _, _ = strings.Cut(descriptor, "[")
	}
	switch strings.TrimPrefix(triton, "*") {
	case "i64", "u64", "fp64":
		return 8
	case "i32", "u32", "fp32":
		return 4
	case "i16", "u16", "fp16", "bf16":
		return 2
	}
	return 1
}
