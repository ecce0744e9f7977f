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
