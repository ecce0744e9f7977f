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

type (
	Context  struct{}
	Stream   struct{}
	Module   struct{}
	Function struct{}
	Plan     struct{}
)

func DriverVersion() (int, Status)                 { return 0, unavailable }
func DeviceCount() (int, Status)                   { return 0, unavailable }
func DeviceAt(int) (Device, Status)                { return 0, unavailable }
func (Device) Name() (string, Status)              { return "", unavailable }
func (Device) UUID() ([16]byte, Status)            { return [16]byte{}, unavailable }
func (Device) Attribute(int) (int, Status)         { return 0, unavailable }
func (Device) TotalMemory() (uint64, Status)       { return 0, unavailable }
func (Device) Retain() (Context, Status)           { return Context{}, unavailable }
func (Device) Release() Status                     { return unavailable }
func (Context) Handle() uintptr                    { return 0 }
func StreamOf(uintptr) Stream                      { return Stream{} }
func (Stream) Handle() uintptr                     { return 0 }
func (Context) NewStream() (Stream, Status)        { return Stream{}, unavailable }
func (Context) Destroy(Stream) Status              { return unavailable }
func (Context) Synchronize(Stream) Status          { return unavailable }
func (Context) IsCapturing(Stream) (bool, Status)  { return false, unavailable }
func (Context) ContextOf(Stream) (Context, Status) { return Context{}, unavailable }
func (Context) Alloc(uint64) (uint64, Status)      { return 0, unavailable }
func (Context) Free(uint64) Status                 { return unavailable }

func (Context) AllocAsync(Stream, uint64) (uint64, Status)            { return 0, unavailable }
func (Context) FreeAsync(Stream, uint64) Status                       { return unavailable }
func (Context) FillAsync(Stream, uint64, byte, uint64) Status         { return unavailable }
func (Context) PointerOrdinal(uint64) (int, Status)                   { return 0, unavailable }
func (Context) CopyIn(Stream, uint64, unsafe.Pointer, uint64) Status  { return unavailable }
func (Context) CopyOut(Stream, unsafe.Pointer, uint64, uint64) Status { return unavailable }
func (Context) LoadModule(string) (Module, string, Status)            { return Module{}, "", unavailable }
func (Context) Unload(Module) Status                                  { return unavailable }
func (Context) FunctionOf(Module, string) (Function, Status)          { return Function{}, unavailable }
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
