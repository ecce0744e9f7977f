// Package exec executes PTX in pure Go: it compiles a kernel once to steps that each do an instruction for the 32 lanes of a warp, and runs a grid of CTAs over them.
//
// # From text to steps
//
//	ptx.Parse      text -> functions of instructions, registers resolved          (package ptx)
//	lower.go       device functions put in place of their calls; names -> places
//	flow.go        blocks, and where diverging lanes meet again (immediate post-dominators)
//	compile.go     each instruction -> a step, by the table of forms, else by its family
//
// An instruction is looked up by its whole name in forms, whose entries are lane functions: loops over the 32 lanes of whole registers. What needs more (memory, predicates, other
// lanes, optional modifiers) is looked up by its mnemonic in families, which compile it; a family takes the modifiers it knows, and one that is left over is an error. So a form that
// nobody wrote is an error when the module loads, and none is taken for another. Each family of instructions has a file of its own, whose init adds to the two tables:
//
//	integer.go bits.go float32.go float64.go directed.go half.go approx.go  lane functions
//	carry.go compare.go pair.go select.go convert.go convertpacked.go       conditions, predicates, conversions
//	move.go special.go call.go printf.go                                    moves, special registers, the driver's functions
//	access.go load.go store.go localmem.go atomic.go asynccopy.go           memory
//	barrier.go shuffle.go                                                   other threads
//	matrix.go mma.go                                                        matrices of a warp
//
// # Registers
//
// A register of up to 32 bits is a [32]uint32 of its warp, one of 64 bits a [32]uint64; narrower values are zero-extended and must be kept so. A predicate is a mask. An immediate is a
// register that nobody writes. A step works on the lanes of w.exec: a lane function writes to scratch when that is not all lanes, and the active lanes are kept; a step with an effect
// elsewhere goes through the lanes of w.exec one by one, lowest first.
//
// # Memory
//
// Global memory is a table of allocations by address. access.open finds, for all lanes at once, the memory behind an access, having checked bounds and alignment; after it a step may use
// plain pointers. Lanes in several allocations are done one at a time by calling the step again. Generic addresses say their window in the upper 16 bits; shared, local and parameter
// memory are windows. Calls have no stack: a callee's parameters are the caller's variables, in local memory.
//
// # Control
//
// warp.run is the only loop. A warp has a stack of frames; lanes that part at a branch are pushed and run one after the other until they reach the block where they meet. A warp runs
// until it waits at a barrier, ends, or has used its turn; then the next warp of its CTA has one, always in the same order, so that a CTA's result is the same each time. Workers run CTAs
// in parallel, in the order of their indices; a CTA that takes long makes way for others, so that those that wait for each other go on.
//
// # Checking
//
// A checking device keeps, beside memory, a byte for each byte: whether it has been written. Shared memory also has who touched each byte since the last barrier (race.go), and
// asynchronous copies are delivered as late as they may be. compiler.checked is known when a step is compiled: a step of an unchecking device has nothing of this in it. Bounds,
// alignment, freed memory and diverging barriers are found on either.
//
// # What is exact
//
// Integers, IEEE arithmetic with every rounding, conversions, comparisons and shuffles give the bits that hardware gives; a NaN is the one that PTX names. Approximate functions are within
// half an ulp of the exact value (approx.go), sums of mma are in binary64 and rounded once (mma.go): hardware may differ from both by its own error. Divisions of integers by zero and
// reads of clocks have no defined value.
//
// A fault is a value, not a panic: a step calls w.fail and returns, and warp.run adds where it happened.
package exec
