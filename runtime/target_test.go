package kernrt

import (
	"cmp"
	"fmt"
	"strings"
	"testing"
)

func TestCandidates(t *testing.T) {
	const all = "sm_75 sm_80 sm_86 sm_89 sm_90 sm_90a sm_100a sm_120a"
	tests := []struct {
		device       int
		cubins, ptxs string
		want         string
	}{
		{80, all, all, "sm_80, sm_80 PTX, sm_75 PTX"},
		{86, all, "sm_80", "sm_86, sm_80, sm_80 PTX"},
		{87, all, "", "sm_86, sm_80"},
		{89, all, "sm_89", "sm_89, sm_86, sm_80, sm_89 PTX"},
		{90, all, all, "sm_90a, sm_90, sm_90a PTX, sm_90 PTX, sm_89 PTX, sm_86 PTX, sm_80 PTX, sm_75 PTX"},
		{90, "sm_90 sm_90a", "", "sm_90a, sm_90"},
		{100, all, "sm_90a sm_80 sm_100a", "sm_100a, sm_100a PTX, sm_80 PTX"},
		{103, all, "sm_90a sm_80", "sm_80 PTX"},
		{103, "sm_100", "", "sm_100"},
		{121, all, "sm_120a sm_90a", ""},
		{70, all, all, ""},
		{80, "sm_80a compute_80 sm_ sm_x sm_-80", "", "sm_80a"},
	}
	for _, test := range tests {
		var images []Image
		for _, target := range strings.Fields(test.cubins) {
			images = append(images, Image{Target: target})
		}
		for _, target := range strings.Fields(test.ptxs) {
			images = append(images, Image{Target: target, PTX: true})
		}
		var got []string
		for _, m := range candidates(images, test.device) {
			got = append(got, strings.TrimSuffix(m.String(), " cubin"))
		}
		if got := strings.Join(got, ", "); got != test.want {
			t.Errorf("sm_%d of cubins %q and PTX %q: %q, want %q", test.device, test.cubins, test.ptxs, got, test.want)
		}
	}
}

// What is said of a target is what runs decides.
func TestRunsOnIsWhatRuns(t *testing.T) {
	for _, name := range []string{"sm_75", "sm_80", "sm_86", "sm_89", "sm_90", "sm_90a", "sm_100a", "sm_120"} {
		target, err := parseTarget(name)
		if err != nil {
			t.Fatal(err)
		}
		for _, ptx := range []bool{false, true} {
			var first, last int
			for sm := 10; sm < 1000; sm++ {
				if target.runs(sm, ptx) {
					first, last = cmp.Or(first, sm), sm
				}
			}
			want := fmt.Sprintf("on sm_%d to sm_%d", first, last)
			switch last {
			case first:
				want = fmt.Sprintf("on sm_%d alone", first)
			case 999:
				want = fmt.Sprintf("on sm_%d and later", first)
			}
			if got := target.runsOn(ptx); got != want {
				t.Errorf("%s, PTX %t: runs %s, want %s", name, ptx, got, want)
			}
		}
	}
}
