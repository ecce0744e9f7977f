//go:build !cgo || !linux

package cuda

import (
	"runtime"
	"unsafe"
)

// Open always fails; since it must come first, nothing below is ever called.
func Open() error {
	if runtime.GOOS != "linux" {
		return ErrPlatform
	}
	return ErrNoCgo
}

// StartError says that cuInit failed.
type StartError struct{ Status Status }

func (e *StartError) Error() string { return "cuInit" }

const unavailable = Status(NoDevice)

func (s Status) Call() string { return "" }

func Describe(Status) (name, text string) { return "", "" }

// Plan is never made.
type Plan struct{}

func DriverVersion() (int, Status)                { return 0, unavailable }
func DeviceCount() (int, Status)                  { return 0, unavailable }
func DeviceAt(int) (Device, Status)               { return 0, unavailable }
func (Device) Name() (string, Status)             { return "", unavailable }
func (Device) UUID() ([16]byte, Status)           { return [16]byte{}, unavailable }
func (Device) Attribute(int) (int, Status)        { return 0, unavailable }
func (Device) TotalMemory() (uint64, Status)      { return 0, unavailable }
func (Device) Retain() (Context, Status)          { return 0, unavailable }
func (Context) Release(Device) Status             { return unavailable }
func (Context) NewStream(int) (Stream, Status)    { return 0, unavailable }
func (Context) Destroy(Stream) Status             { return unavailable }
func (Context) Synchronize(Stream) Status         { return unavailable }
func (Context) IsCapturing(Stream) (bool, Status) { return false, unavailable }
func (Context) Owns(Stream) (bool, Status)        { return false, unavailable }
func (Context) Alloc(uint64) (uint64, Status)     { return 0, unavailable }
func (Context) Free(uint64) Status                { return unavailable }

func (Context) AllocAsync(Stream, uint64) (uint64, Status)            { return 0, unavailable }
func (Context) FreeAsync(Stream, uint64) Status                       { return unavailable }
func (Context) FillAsync(Stream, uint64, byte, uint64) Status         { return unavailable }
func (Context) Reaches(uint64) (bool, Status)                         { return false, unavailable }
func (Context) PointerOrdinal(uint64) (int, Status)                   { return 0, unavailable }
func (Context) CopyIn(Stream, uint64, unsafe.Pointer, uint64) Status  { return unavailable }
func (Context) CopyOut(Stream, unsafe.Pointer, uint64, uint64) Status { return unavailable }
func (Context) LoadModule(string) (Module, string, Status)            { return 0, "", unavailable }
func (Context) Unload(Module) Status                                  { return unavailable }
func (Context) FunctionOf(Module, string) (Function, Status)          { return 0, unavailable }
func (Context) Attribute(Function, int) (int, Status)                 { return 0, unavailable }
func (Context) SetAttribute(Function, int, int) Status                { return unavailable }
func (Context) ClusterLimit(Function, [3]int, int, int) (int, Status) { return 0, unavailable }
func (Context) ParamSize(Function, int) (size int, known bool, _ Status) {
	return 0, false, unavailable
}

func NewPlan(PlanSpec) Plan { return Plan{} }
func (Plan) IsZero() bool   { return true }
func (Plan) Free()          {}

func (Plan) Launch(Stream, uint32, uint32, uint32, unsafe.Pointer, uint64, uint64) Status {
	return unavailable
}

func (Plan) Update(GraphExec, GraphNode, uint32, uint32, uint32, unsafe.Pointer, uint64, uint64) Status {
	return unavailable
}

func (Plan) LaunchCaptured(Stream, uint32, uint32, uint32, unsafe.Pointer, uint64, uint64) Status {
	return unavailable
}

func (Plan) Scratch(GraphNode) ([2]uint64, Status)             { return [2]uint64{}, unavailable }
func (Plan) SetScratch(GraphExec, GraphNode, [2]uint64) Status { return unavailable }

func (Context) Priority(Stream) (int, Status)                       { return 0, unavailable }
func (Context) Query(Stream) Status                                 { return unavailable }
func (Context) Wait(Stream, Event) Status                           { return unavailable }
func (Context) NewEvent(uint32) (Event, Status)                     { return 0, unavailable }
func (Context) DestroyEvent(Event) Status                           { return unavailable }
func (Context) Record(Event, Stream) Status                         { return unavailable }
func (Context) QueryEvent(Event) Status                             { return unavailable }
func (Context) SynchronizeEvent(Event) Status                       { return unavailable }
func (Context) Elapsed(start, end Event) (float32, Status)          { return 0, unavailable }
func (Context) MemoryInfo() (free, total uint64, _ Status)          { return 0, 0, unavailable }
func (Context) AllocHost(uint64) (unsafe.Pointer, Status)           { return nil, unavailable }
func (Context) FreeHost(unsafe.Pointer) Status                      { return unavailable }
func (Context) NewPool(Device) (Pool, Status)                       { return 0, unavailable }
func (Context) DestroyPool(Pool) Status                             { return unavailable }
func (Context) TrimPool(Pool, uint64) Status                        { return unavailable }
func (Context) SetPoolAttribute(Pool, int, uint64) Status           { return unavailable }
func (Context) PoolAttribute(Pool, int) (uint64, Status)            { return 0, unavailable }
func (Context) AllocFromPool(Pool, Stream, uint64) (uint64, Status) { return 0, unavailable }

func (Context) CopyInAsync(Stream, uint64, unsafe.Pointer, uint64) Status     { return unavailable }
func (Context) CopyOutAsync(Stream, unsafe.Pointer, uint64, uint64) Status    { return unavailable }
func (Context) CopyAsync(Stream, uint64, uint64, uint64) Status               { return unavailable }
func (Context) CopyRowsIn(Stream, uint64, unsafe.Pointer, Rows, bool) Status  { return unavailable }
func (Context) CopyRowsOut(Stream, unsafe.Pointer, uint64, Rows, bool) Status { return unavailable }
func (Context) CopyRowsAsync(Stream, uint64, uint64, Rows) Status             { return unavailable }
func (Context) Fill16Async(Stream, uint64, uint16, uint64) Status             { return unavailable }
func (Context) Fill32Async(Stream, uint64, uint32, uint64) Status             { return unavailable }
func (Context) ActiveBlocks(Function, int, int) (int, Status)                 { return 0, unavailable }
func (Context) ActiveClusters(Function, int, int, [3]int) (int, Status)       { return 0, unavailable }

func (Context) BeginCapture(Stream, int) Status           { return unavailable }
func (Context) EndCapture(Stream) (Graph, Status)         { return 0, unavailable }
func (Context) CaptureInfo(Stream) (CaptureInfo, Status)  { return CaptureInfo{}, unavailable }
func (Context) DestroyGraph(Graph) Status                 { return unavailable }
func (Context) Instantiate(Graph) (GraphExec, Status)     { return 0, unavailable }
func (Context) DestroyGraphExec(GraphExec) Status         { return unavailable }
func (Context) UploadGraph(GraphExec, Stream) Status      { return unavailable }
func (Context) LaunchGraph(GraphExec, Stream) Status      { return unavailable }
func (Context) Nodes(Graph) ([]GraphNode, Status)         { return nil, unavailable }
func (Context) NodeType(GraphNode) (int, Status)          { return 0, unavailable }
func (Context) NodeFunction(GraphNode) (Function, Status) { return 0, unavailable }
