//go:build !cgo && linux

package kernrt_test

import (
	"testing"

	kernrt "github.com/kerngen/kerngen/runtime"
)

func TestWithoutCgo(t *testing.T) {
	t.Setenv("KERNGEN_DEVICE", "")
	wantNoUse(t, kernrt.ErrNoDriver, "no CUDA driver: this program was built without cgo")
}
