package artefact

import (
	"bytes"
	"debug/elf"
	"encoding/binary"

	"github.com/kerngen/kerngen/gen/internal/diag"
)

// elfFile is an ELF file of NVIDIA's. elf.NewFile refuses most of them: what
// ELF calls its version is CUDA's there. So this reads the tables, in the terms
// of debug/elf, and hands out parts of the file itself: whatever the tables
// say, nothing is copied and nothing lies outside.
type elfFile struct {
	pos      string // for messages
	data     []byte
	header   elf.Header64
	sections []elfSection
}

type elfSection struct {
	elf.Section64
	name string
	data []byte // nil for a section that takes no room in the file
}

const (
	emCUDA = 190

	headerSize  = 64
	sectionSize = 64
	progSize    = 56
	symbolSize  = 24

	// maxELFName bounds a symbol; mangled names stay far below it.
	maxELFName = 1 << 14

	fatBinaryMagic = 0xba55ed50
)

func openELF(pos string, data []byte) (*elfFile, error) {
	if len(data) >= 4 && binary.LittleEndian.Uint32(data) == fatBinaryMagic {
		return nil, diag.Errorf(pos, "a fat binary, not a cubin").Fix("extract the cubin of one architecture")
	}
	if len(data) < headerSize || string(data[:4]) != elf.ELFMAG {
		return nil, diag.Errorf(pos, "not an ELF file").Fix("compile the kernel again")
	}
	f := &elfFile{pos: pos, data: data}
	if elf.Class(data[elf.EI_CLASS]) != elf.ELFCLASS64 || elf.Data(data[elf.EI_DATA]) != elf.ELFDATA2LSB {
		return nil, f.damaged("not a 64-bit little-endian ELF file")
	}
	h := &f.header
	if err := decode(data, headerSize, h); err != nil {
		return nil, f.damaged("%v", err)
	}
	switch {
	case h.Machine != emCUDA:
		return nil, diag.Errorf(pos, "not for CUDA: its machine is %v", elf.Machine(h.Machine)).Fix("name a cubin of NVIDIA's")
	case elf.Type(h.Type) != elf.ET_EXEC:
		return nil, diag.Errorf(pos, "not linked: its type is %v", elf.Type(h.Type)).Fix("compile it without -c, or link it with nvlink")
	case h.Shnum == 0 || h.Shentsize != sectionSize || h.Phnum > 0 && h.Phentsize != progSize || h.Shstrndx >= h.Shnum:
		return nil, f.damaged("malformed ELF header")
	}
	if _, ok := f.part(h.Phoff, uint64(h.Phnum)*progSize); !ok {
		return nil, f.short()
	}
	table, ok := f.part(h.Shoff, uint64(h.Shnum)*sectionSize)
	if !ok {
		return nil, f.short()
	}
	f.sections = make([]elfSection, h.Shnum)
	for i := range f.sections {
		s := &f.sections[i]
		if err := decode(table[i*sectionSize:], sectionSize, &s.Section64); err != nil {
			return nil, f.damaged("%v", err)
		}
		if t := elf.SectionType(s.Type); t == elf.SHT_NULL || t == elf.SHT_NOBITS {
			continue
		}
		if s.data, ok = f.part(s.Off, s.Size); !ok {
			return nil, f.short()
		}
		if elf.SectionFlag(s.Flags)&elf.SHF_COMPRESSED != 0 {
			return nil, f.damaged("section %d is compressed", i)
		}
	}
	names := f.sections[h.Shstrndx].data
	for i := range f.sections {
		if f.sections[i].name, ok = stringAt(names, f.sections[i].Name); !ok {
			return nil, f.damaged("section %d has no name", i)
		}
	}
	return f, nil
}

func (f *elfFile) damaged(format string, args ...any) error {
	return diag.Errorf(f.pos, format, args...).Fix("compile the kernel again")
}

func (f *elfFile) short() error {
	return f.damaged("the file ends early: its tables lead beyond its %d bytes", len(f.data))
}

// part returns n bytes of the file, false where it has not as many.
func (f *elfFile) part(off, n uint64) ([]byte, bool) {
	size := uint64(len(f.data))
	if off > size || n > size-off {
		return nil, false
	}
	return f.data[off : off+n : off+n], true
}

// section returns the first section called name, nil where there is none.
func (f *elfFile) section(name string) *elfSection {
	for i := range f.sections {
		if f.sections[i].name == name {
			return &f.sections[i]
		}
	}
	return nil
}

// content returns the bytes of a section that the file must have.
func (f *elfFile) content(name string) ([]byte, error) {
	s := f.section(name)
	if s == nil || s.data == nil {
		return nil, f.damaged("section %q is missing", name)
	}
	return s.data, nil
}

// symbol is an entry of the symbol table.
type symbol struct {
	elf.Sym64
	index uint32
	names []byte
}

func (s symbol) name() (string, bool) { return stringAt(s.names, s.Name) }

// symbols yields the symbols that match in the order of the table.
func (f *elfFile) symbols(match func(elf.Sym64) bool) ([]symbol, error) {
	for _, s := range f.sections {
		if elf.SectionType(s.Type) != elf.SHT_SYMTAB {
			continue
		}
		if s.Entsize != symbolSize || len(s.data)%symbolSize != 0 || s.Link >= uint32(len(f.sections)) {
			return nil, f.damaged("malformed symbol table")
		}
		var list []symbol
		for i := 0; i < len(s.data)/symbolSize; i++ {
			sym := symbol{index: uint32(i), names: f.sections[s.Link].data}
			if err := decode(s.data[i*symbolSize:], symbolSize, &sym.Sym64); err != nil {
				return nil, f.damaged("%v", err)
			}
			if match(sym.Sym64) {
				list = append(list, sym)
			}
		}
		return list, nil
	}
	return nil, f.damaged("no symbol table")
}

// decode reads the first n bytes of data into a structure of debug/elf.
func decode(data []byte, n int, dst any) error {
	_, err := binary.Decode(data[:n], binary.LittleEndian, dst)
	return err
}

// stringAt returns the string that begins at an offset of a string table.
func stringAt(table []byte, off uint32) (string, bool) {
	if uint64(off) >= uint64(len(table)) {
		return "", false
	}
	rest := table[off:]
	end := bytes.IndexByte(rest[:min(len(rest), maxELFName)], 0)
	if end < 0 {
		return "", false
	}
	return string(rest[:end]), true
}
