package main

import (
	"bytes"
	"encoding/binary"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// addCase is a case of runtime/testdata's add_kernel with 3000 elements, of which
// x and out have room for so many.
const addCase = `{
 "package": "add", "version": "1", "module": "add", "kernel": "add_kernel", "symbol": "add_kernel", "constants": {"BLOCK_SIZE": "1024"},
 "grid": [3, 1, 1], "num_warps": 4, "hidden": 2, "global_scratch": [0, 1], "profile_scratch": [0, 1],
 "params": [
  {"name": "x", "type": "*fp32", "buffer": 0, "offset": 256}, {"name": "y", "type": "*fp32", "buffer": 1},
  {"name": "out", "type": "*fp32", "buffer": 2}, {"name": "n", "type": "i32", "value": "3000"}],
 "buffers": [
  {"type": "fp32", "bytes": 12256, "contents": "0.bin"}, {"type": "fp32", "bytes": 12000, "contents": "zero"},
  {"type": "fp32", "bytes": 12000, "contents": "undefined"}]
}`

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// writeCase writes addCase, changed by replacing old by new.
func writeCase(t *testing.T, old, new string) (dir string) {
	t.Helper()
	if !strings.Contains(addCase, old) {
		t.Fatalf("the case does not say %q", old)
	}
	dir = t.TempDir()
	folder := filepath.Join(dir, "add")
	must(t, os.Mkdir(folder, 0o755))
	ptx, err := os.ReadFile("../../testdata/add.sm80.ptx")
	must(t, err)
	must(t, os.WriteFile(filepath.Join(folder, "kernel.ptx"), ptx, 0o644))
	x := make([]byte, 12256)
	for i := range 3000 {
		binary.LittleEndian.PutUint32(x[256+4*i:], math.Float32bits(float32(i)+0.5))
	}
	must(t, os.WriteFile(filepath.Join(folder, "0.bin"), x, 0o644))
	must(t, os.WriteFile(filepath.Join(folder, "case.json"), []byte(strings.Replace(addCase, old, new, 1)), 0o644))
	return dir
}

func TestRunAndCompare(t *testing.T) {
	t.Setenv("KERNGEN_DEVICE", "sim")
	dir := writeCase(t, "", "")
	path := filepath.Join(t.TempDir(), "a.tar.gz")
	must(t, command([]string{"run", "-only", "add", dir, path}))
	a, err := readResults(path)
	must(t, err)
	r := a.Cases["add"]
	if r == nil || r.Error != "" || r.Checked != "" || r.Varies || len(r.changed) != 1 {
		t.Fatalf("%+v, want one changed buffer", r)
	}
	for i := range 3000 {
		if got := math.Float32frombits(binary.LittleEndian.Uint32(r.changed[2][4*i:])); got != float32(i)+0.5 {
			t.Fatalf("element %d is %v", i, got)
		}
	}

	// Other results: one element 2 ulp off, one NaN.
	binary.LittleEndian.PutUint32(r.changed[2][40:], math.Float32bits(10.5)+2)
	binary.LittleEndian.PutUint32(r.changed[2][80:], 0x7fc00000)
	other := filepath.Join(t.TempDir(), "b.tar.gz")
	must(t, a.write(other))
	for _, test := range []struct{ second, want string }{
		{path, "| 3000 | identical |"},
		{other, "| 3000 | 2 differ, by 2 ulp or 6.4e-10 of the largest at most, 1 NaN on one only |"},
	} {
		var table bytes.Buffer
		must(t, compare(&table, dir, path, test.second))
		if !strings.Contains(table.String(), test.want) {
			t.Errorf("%s\ndoes not say %q", &table, test.want)
		}
	}
}

// What is wrong with a launch is in the results.
func TestFaults(t *testing.T) {
	t.Setenv("KERNGEN_DEVICE", "sim")
	for name, test := range map[string]struct{ old, new, failed, checked string }{
		"memory never written": {`"contents": "zero"`, `"contents": "undefined"`, "", "never been written"},
		"past the end":         {`"value": "3000"`, `"value": "3072"`, "past the end", "past the end"},
		"no such buffer":       {`"buffer": 2`, `"buffer": 3`, "there is no buffer 3", "there is no buffer 3"},
		"contents too short":   {`"bytes": 12256`, `"bytes": 12257`, "has 12256 bytes, not 12257", "has 12256 bytes"},
		"value of no integer":  {`"value": "3000"`, `"value": "3e3"`, `parsing "3e3"`, `parsing "3e3"`},
		"parameter too few":    {`, {"name": "n", "type": "i32", "value": "3000"}`, "", "parameter 3 has 4 bytes", "parameter 3 has 4 bytes"},
	} {
		t.Run(name, func(t *testing.T) {
			cases, err := readCases(writeCase(t, test.old, test.new), "")
			must(t, err)
			r := runCase(nil, cases[0])
			if (r.Error != "") != (test.failed != "") || !strings.Contains(r.Error, test.failed) || !strings.Contains(r.Checked, test.checked) {
				t.Errorf("error %q, check %q; want %q, %q", r.Error, r.Checked, test.failed, test.checked)
			}
		})
	}
}

// A kernel's own fault is to be found, and nothing else.
func TestExpectedFault(t *testing.T) {
	t.Setenv("KERNGEN_DEVICE", "sim")
	for _, test := range []struct {
		value, fault string
		found        bool
	}{{"3072", "past the end", true}, {"3072", "a race", false}, {"3000", "past the end", false}} {
		dir := writeCase(t, `"value": "3000"}],`, `"value": "`+test.value+`"}], "fault": "`+test.fault+`",`)
		path := filepath.Join(t.TempDir(), "a.tar.gz")
		err := command([]string{"run", dir, path})
		a, failed := readResults(path)
		must(t, failed)
		if r := a.Cases["add"]; (err == nil) != test.found || (r.Error == "") != test.found || (r.Fault != "") != test.found {
			t.Errorf("n = %s, fault %q: %v, %+v", test.value, test.fault, err, r)
		}
	}
}

func TestUsage(t *testing.T) {
	for _, args := range [][]string{nil, {"run"}, {"compare", "a", "b"}, {"launch", "a", "b"}, {"run", "-only", "(", "a", "b"}, {"run", t.TempDir(), "b"}} {
		if err := command(args); err == nil {
			t.Errorf("%q: no error", args)
		}
	}
}
