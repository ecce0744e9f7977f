package ptx

import (
	"os"
	"testing"
)

func TestParseRuntimeImages(t *testing.T) {
	for _, name := range []string{"add.sm80.ptx", "add.sm90.ptx"} {
		text, err := os.ReadFile("../../../testdata/" + name)
		if err != nil {
			t.Fatal(err)
		}
		m, err := Parse(string(text))
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		f := m.Func("add_kernel")
		if f == nil || !f.Entry || len(f.Params) != 6 {
			t.Fatalf("%s: add_kernel is %+v", name, f)
		}
		last := f.Body[len(f.Body)-1]
		if last.Name() != "ret" || last.Loc.Line != 11 || m.Files[last.Loc.File] != "/src/kernels.py" {
			t.Errorf("%s: the last instruction is %q at %+v of %v", name, last.Name(), last.Loc, m.Files)
		}
	}
}
