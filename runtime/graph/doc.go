// Package graph captures launches, copies and fills into CUDA graphs, which
// launch all of them again at the cost of one call.
//
//	g, err := graph.Capture(stream, func() error {
//		if err := vec.LaunchAdd(stream, x, y, sum, n); err != nil {
//			return err
//		}
//		return softmax.LaunchSoftmax(stream, rows, out, sum, ...)
//	})
//	exec, err := g.Instantiate()
//	err = exec.Launch(stream) // as often as needed, on any stream of the device
//
// Graph and Exec own what the driver holds for them, until Close; the device's
// Close gives back what is left. A captured launch holds addresses, so the
// memory that it was given must outlive the executables. Scratch memory that
// kernels need is the executable's own.
//
// All functions and methods are safe for concurrent use.
package graph

import kernrt "github.com/kerngen/kerngen/runtime"

// inside is the core package as seen from its neighbours.
var inside kernrt.Inside
