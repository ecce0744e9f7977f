//go:build unix && !solaris && !aix

package exec

import "syscall"

// reserve says whether the system grants so many bytes, as Go would ask for them.
func reserve(bytes int) bool {
	p, err := syscall.Mmap(-1, 0, bytes, syscall.PROT_READ|syscall.PROT_WRITE, syscall.MAP_ANON|syscall.MAP_PRIVATE)
	if err != nil {
		return false
	}
	return syscall.Munmap(p) == nil
}
