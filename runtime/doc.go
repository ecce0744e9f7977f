// Package kernrt launches compiled Triton kernels from Go. Packages that
// kerngen generates call it; programs use it to open a device, hold memory and
// streams, and pass both to the generated Launch functions.
//
//	dev, err := kernrt.Open(0)
//	stream, err := dev.NewStream()
//	x, err := kernrt.Alloc[float32](dev, n)
//	err = x.CopyFrom(stream, values)
//	err = vec.LaunchAdd(stream, x.Ptr(), y.Ptr(), out.Ptr(), int32(n))
//	err = out.CopyTo(stream, result)
//
// It opens the CUDA driver (libcuda, 11.8 or later) at run time, at the first
// use: importing it costs nothing, and a program that imports it builds and
// starts on a machine without a GPU, where the first use returns ErrNoGPU.
// KERNGEN_LIBCUDA names another library to open in its place. KERNGEN_DEBUG=1
// makes every launch check its pointers and wait, so that a failure names the
// launch that caused it. Device.Explain tells which of a kernel's variants and
// images a call would launch.
//
// Launches, copies of HostBuffers, fills and events are queued; Synchronize,
// Query, Done and SynchronizeContext tell when they are done. An error within a
// kernel comes from a later call. Where it is one that the device does not recover
// from (an address out of bounds, say) all calls return it from then on, and no
// wait hangs; the process must end.
//
// All functions and methods are safe for concurrent use, on any goroutine and
// thread; nobody needs runtime.LockOSThread. The device's primary context is
// used, so memory and streams are shared with every other CUDA library in the
// process. Device memory is freed by Free and Close alone, never by the garbage
// collector, since only the program knows when a queued kernel is done with it.
package kernrt
