package sim_test

import (
	"os/exec"
	"strings"
	"testing"
)

// Only a program that imports the simulated device carries it.
func TestLinkedOnlyWhereImported(t *testing.T) {
	const module = "github.com/kerngen/kerngen/"
	linked := func(pattern string) bool {
		t.Helper()
		out, err := exec.Command("go", "list", "-deps", module+pattern).Output()
		must(t, err)
		if !strings.Contains(string(out), module+"runtime\n") {
			t.Fatalf("%s does not import the runtime:\n%s", pattern, out)
		}
		return strings.Contains(string(out), module+"runtime/sim")
	}
	for _, pattern := range []string{"generated/...", "runtime", "runtime/graph"} {
		if linked(pattern) {
			t.Errorf("%s imports the simulated device", pattern)
		}
	}
	if !linked("examples/vecadd") {
		t.Error("examples/vecadd, which imports the simulated device, does not seem to")
	}
}
