package exec

import (
	"encoding/binary"
	"fmt"
	"io"
	"runtime"
	"sync"
	"unsafe"

	"github.com/kerngen/kerngen/runtime/sim/internal/ptx"
)

// Options are the properties of a device. The zero value is a checking one with 16 GiB.
type Options struct {
	Memory    uint64    // bytes of global memory; 0 means 16 GiB
	Unchecked bool      // only find what costs nothing to find
	Workers   int       // CTAs that run at once; 0 means GOMAXPROCS
	Output    io.Writer // where kernels print; nil discards
}

// Device executes kernels. It is safe for concurrent use.
type Device struct {
	Memory  *Memory
	checked bool
	workers int
	output  io.Writer
	printMu sync.Mutex
}

// NewDevice makes a device.
func NewDevice(o Options) *Device {
	if o.Memory == 0 {
		o.Memory = 16 << 30
	}
	if o.Workers <= 0 {
		o.Workers = runtime.GOMAXPROCS(0)
	}
	if o.Output == nil {
		o.Output = io.Discard
	}
	return &Device{Memory: newMemory(o.Memory, !o.Unchecked), checked: !o.Unchecked, workers: o.Workers, output: o.Output}
}

// Module is a PTX module loaded on a device: its variables have memory there.
type Module struct {
	device  *Device
	source  *ptx.Module
	entries map[string]*Entry
	globals map[string]place
	owned   []uint64
}

// Entry is a kernel.
type Entry struct {
	module *Module
	name   string
	prog   *program
}

// Param is a kernel parameter.
type Param struct {
	Name   string
	Offset int // bytes from the first
	Size   int // bytes
}

// littleEndian says whether the host keeps words as the simulated device does.
var littleEndian = func() bool {
	v := uint16(1)
	return *(*byte)(unsafe.Pointer(&v)) == 1
}()

// Load compiles every kernel of a PTX text; one that uses what is not supported is an error.
func (d *Device) Load(text string) (*Module, error) {
	if !littleEndian {
		return nil, fmt.Errorf("this machine is big-endian; the simulated device needs a little-endian one")
	}
	source, err := ptx.Parse(text)
	if err != nil {
		return nil, err
	}
	m := &Module{device: d, source: source, entries: map[string]*Entry{}, globals: map[string]place{}}
	if err := m.load(); err != nil {
		m.Unload()
		return nil, err
	}
	return m, nil
}

func (m *Module) load() error {
	if err := m.placeGlobals(); err != nil {
		return err
	}
	for _, f := range m.source.Funcs {
		if !f.Entry || !f.Defined {
			continue
		}
		p, err := compile(m.source, f, m.globals, m.device.checked)
		if err != nil {
			return err
		}
		m.entries[f.Name] = &Entry{module: m, name: f.Name, prog: p}
	}
	return nil
}

// placeGlobals gives the module's .global and .const variables memory.
func (m *Module) placeGlobals() error {
	mem := m.device.Memory
	for _, v := range m.source.Vars {
		if v.Space != ptx.Global && v.Space != ptx.Const {
			continue
		}
		if v.Size == 0 {
			return &LoadError{Line: v.Line, Msg: fmt.Sprintf("variable %q has no size; external variables are not supported", v.Name)}
		}
		addr, err := mem.alloc(uint64(v.Size), v.Name)
		if err != nil {
			return &LoadError{Line: v.Line, Msg: fmt.Sprintf("variable %q: %v", v.Name, err)}
		}
		m.owned = append(m.owned, addr)
		m.globals[v.Name] = place{space: v.Space, offset: addr, size: v.Size}
	}
	for _, v := range m.source.Vars {
		p, ok := m.globals[v.Name]
		if !ok {
			continue
		}
		init := make([]byte, v.Size) // what is not initialised is zero
		copy(init, v.Init)
		for _, r := range v.Refs {
			t, ok := m.globals[r.Name]
			if !ok {
				return &LoadError{Line: v.Line, Msg: fmt.Sprintf("initialiser of %q: %q is not a global variable", v.Name, r.Name)}
			}
			binary.LittleEndian.PutUint64(init[r.Offset:], t.offset+uint64(r.Add))
		}
		if err := mem.Write(p.offset, init); err != nil {
			return err
		}
	}
	return nil
}

// Unload gives the memory of the module's variables back.
func (m *Module) Unload() {
	for _, addr := range m.owned {
		m.device.Memory.Free(addr) // allocated above and freed nowhere else
	}
	m.owned = nil
}

// Global finds a variable: its address and its size in bytes.
func (m *Module) Global(name string) (addr uint64, size int, ok bool) {
	p, ok := m.globals[name]
	return p.offset, p.size, ok
}

// Entry finds a kernel by name.
func (m *Module) Entry(name string) (*Entry, error) {
	if e, ok := m.entries[name]; ok {
		return e, nil
	}
	return nil, fmt.Errorf("kernel %q is not in this module", name)
}

// Params are the kernel's parameters, in order.
func (e *Entry) Params() []Param { return e.prog.params }

// StaticShared is the number of bytes of shared memory that the kernel declares itself.
func (e *Entry) StaticShared() int { return e.prog.sharedBytes }
