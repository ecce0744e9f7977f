//go:build cgo && linux

package cuda

// #include "calls.h"
import "C"

// ActiveBlocks is how many such CTAs one multiprocessor runs at once; 0 where it
// cannot run one.
func (c Context) ActiveBlocks(f Function, threads, shared int) (int, Status) {
	var n C.int
	s := C.kg_function_blocks(c.c(), f.c(), C.uint32_t(threads), C.uint32_t(shared), &n)
	return int(n), Status(s)
}

// ActiveClusters is how many clusters of such CTAs the device runs at once.
func (c Context) ActiveClusters(f Function, threads, shared int, cluster [3]int) (int, Status) {
	var n C.int
	s := C.kg_function_clusters(c.c(), f.c(), C.uint32_t(threads), C.uint32_t(shared),
		C.uint32_t(cluster[0]), C.uint32_t(cluster[1]), C.uint32_t(cluster[2]), &n)
	return int(n), Status(s)
}
