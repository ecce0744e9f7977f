package exec

import "fmt"

// probed is the size in bytes from which it is asked whether the machine has the memory: Go ends the program where it has not.
const probed = 256 << 20

// HostHas says whether the machine would give the program so many bytes more.
func HostHas(bytes uint64) error {
	const most = 1 << 46 // of an address space
	if bytes < probed {
		return nil
	}
	if bytes > most || !reserve(int(bytes)) {
		return fmt.Errorf("%w: this machine has no %d bytes for the simulated device", ErrOutOfMemory, bytes)
	}
	return nil
}
