package cuda

import "unsafe"

// Driver is what the runtime asks of a device once it is open: a Context, or a
// device simulated in Go, whose statuses come from Fault.
type Driver interface {
	Release(Device) Status // after which nothing else is called

	streams
	events
	memory
	copies
	modules
	graphs
}

// Simulated is a Driver that launches in Go. There args points to a copy of the
// args struct that the launcher may keep.
type Simulated interface {
	Driver
	NewLauncher(PlanSpec) (Launcher, Status)
}

// Launcher is what Plan is on a GPU.
type Launcher interface {
	Launch(stream Stream, x, y, z uint32, args unsafe.Pointer, globalScratch, profileScratch uint64) Status
	LaunchCaptured(stream Stream, x, y, z uint32, args unsafe.Pointer, globalScratch, profileScratch uint64) Status
	Scratch(GraphNode) ([2]uint64, Status)
	SetScratch(GraphExec, GraphNode, [2]uint64) Status
	Update(exec GraphExec, node GraphNode, x, y, z uint32, args unsafe.Pointer, globalScratch, profileScratch uint64) Status
}

type streams interface {
	NewStream(priority int) (Stream, Status)
	Priority(Stream) (int, Status)
	Owns(Stream) (bool, Status)
	Query(Stream) Status
	Synchronize(Stream) Status
	Wait(Stream, Event) Status
	Destroy(Stream) Status
}

type events interface {
	NewEvent(flags uint32) (Event, Status)
	Record(Event, Stream) Status
	QueryEvent(Event) Status
	SynchronizeEvent(Event) Status
	Elapsed(start, end Event) (milliseconds float32, _ Status)
	DestroyEvent(Event) Status
}

type memory interface {
	Alloc(bytes uint64) (address uint64, _ Status)
	Free(address uint64) Status
	AllocAsync(stream Stream, bytes uint64) (address uint64, _ Status)
	FreeAsync(stream Stream, address uint64) Status
	AllocHost(bytes uint64) (unsafe.Pointer, Status)
	FreeHost(unsafe.Pointer) Status
	Reaches(address uint64) (bool, Status)
	PointerOrdinal(address uint64) (int, Status)
	MemoryInfo() (free, total uint64, _ Status)

	NewPool(Device) (Pool, Status)
	DestroyPool(Pool) Status
	TrimPool(pool Pool, keep uint64) Status
	SetPoolAttribute(pool Pool, attribute int, value uint64) Status
	PoolAttribute(pool Pool, attribute int) (uint64, Status)
	AllocFromPool(pool Pool, stream Stream, bytes uint64) (address uint64, _ Status)
}

type copies interface {
	CopyIn(stream Stream, to uint64, from unsafe.Pointer, bytes uint64) Status
	CopyOut(stream Stream, to unsafe.Pointer, from, bytes uint64) Status
	CopyInAsync(stream Stream, to uint64, from unsafe.Pointer, bytes uint64) Status
	CopyOutAsync(stream Stream, to unsafe.Pointer, from, bytes uint64) Status
	CopyAsync(stream Stream, to, from, bytes uint64) Status
	CopyRowsIn(stream Stream, to uint64, from unsafe.Pointer, rows Rows, wait bool) Status
	CopyRowsOut(stream Stream, to unsafe.Pointer, from uint64, rows Rows, wait bool) Status
	CopyRowsAsync(stream Stream, to, from uint64, rows Rows) Status
	FillAsync(stream Stream, address uint64, value byte, bytes uint64) Status
	Fill16Async(stream Stream, address uint64, value uint16, count uint64) Status
	Fill32Async(stream Stream, address uint64, value uint32, count uint64) Status
}

type modules interface {
	LoadModule(image string) (_ Module, log string, _ Status)
	Unload(Module) Status
	FunctionOf(module Module, symbol string) (Function, Status)
	Attribute(function Function, attribute int) (int, Status)
	SetAttribute(function Function, attribute, value int) Status
	ParamSize(function Function, index int) (size int, known bool, _ Status)
	ClusterLimit(function Function, cluster [3]int, threads, shared int) (int, Status)
	ActiveBlocks(function Function, threads, shared int) (int, Status)
	ActiveClusters(function Function, threads, shared int, cluster [3]int) (int, Status)
}

type graphs interface {
	IsCapturing(Stream) (bool, Status)
	CaptureInfo(Stream) (CaptureInfo, Status)
	BeginCapture(stream Stream, mode int) Status
	EndCapture(Stream) (Graph, Status)
	DestroyGraph(Graph) Status
	Nodes(Graph) ([]GraphNode, Status)
	NodeType(GraphNode) (int, Status)
	NodeFunction(GraphNode) (Function, Status)
	Instantiate(Graph) (GraphExec, Status)
	UploadGraph(GraphExec, Stream) Status
	LaunchGraph(GraphExec, Stream) Status
	DestroyGraphExec(GraphExec) Status
}

var _ Driver = Context(0)
