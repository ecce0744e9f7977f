package cuda

// The driver's handles, as the numbers that other libraries exchange. A
// simulated device gives out numbers of its own.
type (
	Context   uintptr // CUcontext
	Stream    uintptr // CUstream
	Event     uintptr // CUevent
	Module    uintptr // CUmodule
	Function  uintptr // CUfunction
	Pool      uintptr // CUmemoryPool
	Graph     uintptr // CUgraph
	GraphExec uintptr // CUgraphExec
	GraphNode uintptr // CUgraphNode
)
