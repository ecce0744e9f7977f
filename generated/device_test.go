// Package generated_test launches every kernel of the generated packages and
// checks every element that comes out: on the GPU, or else on the simulated device,
// where what is too large for it, or needs a newer one, skips.
package generated_test

import (
	"errors"
	"fmt"
	"os"
	"sync"
	"testing"

	kernrt "github.com/kerngen/kerngen/runtime"
	"github.com/kerngen/kerngen/runtime/sim"
)

// open opens the device that all tests share, the first time one needs it.
var open = sync.OnceValues(openAnother)

// openAnother opens a device: what KERNGEN_DEVICE says, else the first GPU, or the
// simulated device where there is none.
func openAnother() (*kernrt.Device, error) {
	dev, err := kernrt.Open(0)
	if errors.Is(err, kernrt.ErrNoGPU) && os.Getenv("KERNGEN_DEVICE") == "" {
		return sim.Open(sim.Options{})
	}
	return dev, err
}

// simulated reports whether the tests run on the simulated device.
func simulated(t *testing.T) bool {
	t.Helper()
	return device(t).Info().Name == "simulated device"
}

// onGPU skips the test on the simulated device; why says what that lacks.
func onGPU(t *testing.T, why string) {
	t.Helper()
	if simulated(t) {
		t.Skip("not on the simulated device: " + why)
	}
}

// sized skips a test of so many elements where the device is simulated and they
// are too many for it.
func sized(t *testing.T, elements int) {
	t.Helper()
	if elements > 60_000 && simulated(t) {
		t.Skip("not on the simulated device: too large")
	}
}

// scaled is a number of elements or repetitions: the smaller one where the device
// is simulated.
func scaled(t *testing.T, gpu, simulation int) int {
	t.Helper()
	if simulated(t) {
		return simulation
	}
	return gpu
}

func TestMain(m *testing.M) {
	code := m.Run()
	if os.Getenv(brokenChild) != "" {
		os.Exit(code)
	}
	// Where no test opened the device this opens it, and there is little to close.
	if dev, err := open(); err == nil {
		if err := dev.Close(); err != nil {
			fmt.Fprintln(os.Stderr, err)
			code = 1
		}
	}
	os.Exit(code)
}

// device skips the test where there is none.
func device(t *testing.T) *kernrt.Device {
	t.Helper()
	dev, err := open()
	if errors.Is(err, kernrt.ErrNoGPU) {
		t.Skip("launches nothing:", err)
	}
	if err != nil {
		t.Fatal(err)
	}
	return dev
}

// newStream is a stream of that device, closed with the test.
func newStream(t *testing.T) *kernrt.Stream {
	t.Helper()
	s, err := device(t).NewStream()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	return s
}

// launched ends the test where a launch failed.
func launched(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// launchedFromSM90 is launched for a kernel that is compiled for sm_90 and later
// only: on an older device the right answer is ErrNoImage, and the test skips.
func launchedFromSM90(t *testing.T, err error) {
	t.Helper()
	if device(t).Info().ComputeCapability[0] < 9 {
		if !errors.Is(err, kernrt.ErrNoImage) {
			t.Fatalf("got %v, want ErrNoImage", err)
		}
		t.Skip("needs sm_90:", err)
	}
	launched(t, err)
}

func cdiv(a, b int) int { return (a + b - 1) / b }
