package kernrt_test

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	kernrt "github.com/kerngen/kerngen/runtime"
)

// wantNoUse wants every way in to fail alike, at the first and later times.
func wantNoUse(t *testing.T, kind error, texts ...string) {
	t.Helper()
	_, devices := kernrt.Devices()
	_, first := kernrt.Open(0)
	_, second := kernrt.Open(0)
	_, byUUID := kernrt.OpenUUID("GPU-1")
	for _, err := range []error{devices, first, second, byUUID} {
		if !errors.Is(err, kind) || !errors.Is(err, kernrt.ErrNoGPU) {
			t.Errorf("error %v is not %q and %q", err, kind, kernrt.ErrNoGPU)
		}
		for _, text := range texts {
			if err == nil || !strings.Contains(err.Error(), text) {
				t.Errorf("error %v does not say %q", err, text)
			}
		}
	}
}

func TestLibraryThatIsNotThere(t *testing.T) {
	if inOwnProcess(t, func() string { return filepath.Join(t.TempDir(), "missing.so") }) {
		library := os.Getenv(childLibrary)
		wantNoUse(t, kernrt.ErrNoDriver, "no CUDA driver: KERNGEN_LIBCUDA: there is no "+library)
	}
}

func TestFileThatIsNoLibrary(t *testing.T) {
	if inOwnProcess(t, func() string {
		path := filepath.Join(t.TempDir(), "text.so")
		must(t, os.WriteFile(path, []byte("no library at all, but long enough for the loader to read a header of it, which is sixty-four bytes"), 0o666))
		return path
	}) {
		wantNoUse(t, kernrt.ErrNoDriver, "no CUDA driver: KERNGEN_LIBCUDA: "+os.Getenv(childLibrary)+": ", "invalid ELF header")
	}
}

func TestLibraryThatIsNoDriver(t *testing.T) {
	if inOwnProcess(t, func() string {
		dir := t.TempDir()
		source, library := filepath.Join(dir, "other.c"), filepath.Join(dir, "other.so")
		must(t, os.WriteFile(source, []byte("int other(void) { return 0; }\n"), 0o666))
		if out, err := exec.Command("gcc", "-shared", "-fPIC", "-o", library, source).CombinedOutput(); err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
		return library
	}) {
		wantNoUse(t, kernrt.ErrNoDriver, os.Getenv(childLibrary)+" has no cuInit: kerngen needs a driver of CUDA 11.8 (520.61.05) or later")
	}
}

func TestDriverThatIsTooOld(t *testing.T) {
	if inOwnProcess(t, func() string { return fakeLibrary(t, "FAKE_VERSION=11070") }) {
		wantNoUse(t, kernrt.ErrNoDriver, " has no cuOccupancyMaxPotentialClusterSize: kerngen needs a driver of CUDA 11.8 (520.61.05) or later")
	}
}

// The names that a driver is looked for under, on a machine that has it nowhere.
func TestNoLibraryNamed(t *testing.T) {
	if inOwnProcess(t, func() string { return "" }) {
		if _, err := kernrt.Devices(); !errors.Is(err, kernrt.ErrNoDriver) {
			t.Skip("there is a driver: ", err)
		}
		wantNoUse(t, kernrt.ErrNoDriver, "no CUDA driver: there is no libcuda.so.1, libcuda.so, /usr/lib/wsl/lib/libcuda.so.1, /run/opengl-driver/lib/libcuda.so.1; if it is elsewhere, set KERNGEN_LIBCUDA to its path")
	}
}

// A library that lacks a symbol, found first, does not hide a driver found later.
func TestSearchGoesOnAfterALibraryThatIsNoDriver(t *testing.T) {
	if _, child := os.LookupEnv(childLibrary); !child && fake == nil {
		t.Skip("no driver")
	} else if child {
		if _, err := kernrt.Open(0); err != nil {
			t.Error(err)
		}
		return
	}
	wrong, right := t.TempDir(), t.TempDir()
	must(t, os.Rename(fakeLibrary(t, "FAKE_VERSION=11070"), filepath.Join(wrong, "libcuda.so.1")))
	must(t, os.Rename(fakeLibrary(t), filepath.Join(right, "libcuda.so")))
	t.Setenv("LD_LIBRARY_PATH", wrong+":"+right)
	inOwnProcess(t, func() string { return "" })
}

func TestDriverWithoutDevices(t *testing.T) {
	if inOwnProcess(t, func() string { return fakeLibrary(t) }) {
		fake.SetDeviceCount(0)
		wantNoUse(t, kernrt.ErrNoDevice, "no CUDA device: cuInit: CUDA_ERROR_NO_DEVICE: no CUDA-capable device is detected")
	}
}

func TestDriverThatDoesNotStart(t *testing.T) {
	if inOwnProcess(t, func() string { return fakeLibrary(t) }) {
		fake.FailNext("cuInit", 999, 0)
		wantNoUse(t, kernrt.ErrNoDriver, "no CUDA driver: cuInit: CUDA_ERROR_UNKNOWN: unknown error")
	}
}
