// Package sim is a device in pure Go: it executes the PTX that generated packages
// embed, so that a program's launches can be tested, with their numbers, where
// there is no GPU and no cgo.
//
//	device, err := sim.Open(sim.Options{})
//
// gives a *kernrt.Device like kernrt.Open's: streams, buffers, events, graphs and
// launches are used as on a GPU, and fail alike. Importing the package also makes
// KERNGEN_DEVICE=sim (or sim:sm_89) open a simulated device wherever the program
// calls kernrt.Open. A program that does not import it carries none of it.
//
// It runs what a GPU of the architecture would load from the package's PTX for the
// driver to compile, so the package must hold some: list ptx among its targets.
// The device executes what the PTX says, checks it (accesses out of bounds,
// misaligned or to freed memory, memory never written, races in shared memory,
// barriers that threads miss) and says of a fault which kernel, line, program,
// thread and argument it was. docs/simulated.md has all of it.
//
// What it does not prove: the cubins, which ptxas made of the same or other PTX;
// speed; the order in which CTAs and streams really run; that approximate functions
// yield the very bits that a GPU does.
package sim
