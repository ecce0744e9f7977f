package cuda

// Node types (CUgraphNodeType).
const (
	NodeKernel = 0
	NodeCopy   = 1
	NodeFill   = 2
	NodeEmpty  = 5
	NodeAlloc  = 10
	NodeFree   = 11
)

// KernelNode is what a kernel node launches.
type KernelNode struct {
	Function    Function
	Grid, Block [3]uint32
	Shared      uint32 // dynamic shared memory per CTA, bytes
}
