package diag

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestOrder sorts faults as a reader would.
func TestOrder(t *testing.T) {
	var l List
	for _, pos := range []string{"a:10:2", "b:1:1", "a:9:10", "a:9:9", "a", "a:010:2", "a:10:2", "a:99999999999999999999:1"} {
		l.Add(Errorf(pos, "x"))
	}
	want := "a: x\na:9:9: x\na:9:10: x\na:10:2: x\na:010:2: x\na:99999999999999999999:1: x\nb:1:1: x"
	if diff := cmp.Diff(want, l.Err().Error()); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
}
