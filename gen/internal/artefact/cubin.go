package artefact

import (
	"debug/elf"

	"github.com/kerngen/kerngen/gen/internal/diag"
)

// stoEntry marks, in a symbol's st_other, a function that can be launched.
const stoEntry = 0x10

// parseCubin reads a linked cubin with one kernel.
func parseCubin(pos string, data []byte) (*Cubin, error) {
	f, err := openELF(pos, data)
	if err != nil {
		return nil, err
	}
	c := &Cubin{Bytes: data}
	if err := c.readArch(f); err != nil {
		return nil, err
	}
	sym, err := f.kernel()
	if err != nil {
		return nil, err
	}

	// The sections of a kernel are tied to it by their names.
	c.Symbol, _ = sym.name()
	info, err := f.content(".nv.info." + c.Symbol)
	if err != nil {
		return nil, err
	}
	if err := c.readInfo(f, ".nv.info."+c.Symbol, info); err != nil {
		return nil, err
	}
	if f.section(".nv.info") != nil {
		info, err := f.content(".nv.info")
		if err != nil {
			return nil, err
		}
		if c.Registers, err = readRegisters(f, info, sym.index); err != nil {
			return nil, err
		}
	}
	if s := f.section(".nv.shared." + c.Symbol); s != nil {
		if s.Size > maxShared {
			return nil, f.damaged("kernel %q has %d bytes of static shared memory", c.Symbol, s.Size)
		}
		c.StaticShared = int(s.Size)
	}
	return c, nil
}

// readArch reads the architecture from the header's flags. Version 7 has it in
// the lowest byte; version 8, seen from sm_100 on, in the next. Not every
// toolchain sets the mark for "a".
func (c *Cubin) readArch(f *elfFile) error {
	flags := f.header.Flags
	switch version := f.header.Ident[elf.EI_ABIVERSION]; version {
	case 7:
		c.Arch, c.Accelerated = int(flags&0xff), flags&0x800 != 0
	case 8:
		c.Arch, c.Accelerated = int(flags>>8&0xff), flags&0x8 != 0
	default:
		return diag.Errorf(f.pos, "version %d of the cubin format is unknown", version).Fix("use a newer kerngen")
	}
	return nil
}

// kernel finds the one function that can be launched. Device functions that
// were not inlined are symbols too, without the mark.
func (f *elfFile) kernel() (symbol, error) {
	list, err := f.symbols(func(s elf.Sym64) bool {
		return elf.ST_TYPE(s.Info) == elf.STT_FUNC && s.Other&stoEntry != 0 && s.Shndx != uint16(elf.SHN_UNDEF)
	})
	if err != nil {
		return symbol{}, err
	}
	if len(list) == 0 {
		return symbol{}, f.damaged("no kernel in it")
	}
	sym := list[0]
	name, ok := sym.name()
	if !ok || name == "" {
		return symbol{}, f.damaged("its kernel has no name")
	}
	if len(list) > 1 {
		second, _ := list[1].name()
		return symbol{}, diag.Errorf(f.pos, "%d kernels, %q and %q among them", len(list), name, second).
			Fix("a cubin must hold one kernel")
	}
	if int(sym.Shndx) >= len(f.sections) || f.sections[sym.Shndx].name != ".text."+name || len(f.sections[sym.Shndx].data) == 0 {
		return symbol{}, f.damaged("kernel %q has no code", name)
	}
	return sym, nil
}
