package artefact

import (
	"cmp"
	"encoding/binary"
	"slices"
)

// The attributes that a .nv.info section can hold and a launcher must know, as
// cuobjdump -elf names them (EIATTR_…). The layouts were compared with its
// output for cubins of sm_75 to sm_120 made by ptxas 12.8 and 12.9.
const (
	attrMaxThreads     = 0x05 // three 32-bit numbers
	attrReqNTID        = 0x10 // likewise
	attrKParamInfo     = 0x17
	attrCBankParamSize = 0x19 // a half-word: bytes of all parameters
	attrRegCount       = 0x2f // symbol, count
	attrCTAPerCluster  = 0x3d // three 32-bit numbers
	attrKParamInfoV2   = 0x45
)

// How the value of an attribute is stored.
const (
	formatNone  = 0x01 // no value
	formatByte  = 0x02 // in the header's third byte
	formatHalf  = 0x03 // in the header's third and fourth byte
	formatSized = 0x04 // as many bytes as these say, after the header
)

// attribute is one record of a .nv.info section.
type attribute struct {
	format, id byte
	half       uint16
	value      []byte
}

// attributes splits a section into its records.
func attributes(f *elfFile, section string, data []byte) ([]attribute, error) {
	var list []attribute
	for off := 0; off < len(data); {
		bad := func(what string) error {
			return f.damaged("section %q, byte %d: %s", section, off, what)
		}
		if len(data)-off < 4 {
			return nil, bad("an attribute is cut short")
		}
		a := attribute{format: data[off], id: data[off+1], half: binary.LittleEndian.Uint16(data[off+2:])}
		next := off + 4
		switch a.format {
		case formatNone, formatByte, formatHalf:
		case formatSized:
			if len(data)-next < int(a.half) {
				return nil, bad("an attribute is cut short")
			}
			a.value = data[next : next+int(a.half)]
			next += int(a.half)
		default:
			return nil, bad("an attribute of unknown format")
		}
		list = append(list, a)
		off = next
	}
	return list, nil
}

// words returns the value as 32-bit numbers, at least n of them.
func (a attribute) words(n int) ([]uint32, bool) {
	if a.format != formatSized || len(a.value) < 4*n {
		return nil, false
	}
	words := make([]uint32, n)
	for i := range words {
		words[i] = binary.LittleEndian.Uint32(a.value[4*i:])
	}
	return words, true
}

func (a attribute) dims() ([3]int, bool) {
	w, ok := a.words(3)
	if !ok {
		return [3]int{}, false
	}
	for _, n := range w {
		if n < 1 || n > maxPTXNumber {
			return [3]int{}, false
		}
	}
	return [3]int{int(w[0]), int(w[1]), int(w[2])}, true
}

// param reads one parameter. Both forms are index, ordinal (16 bits), offset
// (16 bits) and a word with the size: the first has it in the upper 14 bits, V2,
// which ptxas writes where all parameters take more than 4 KiB, in the lower 16.
func (a attribute) param() (CubinParam, bool) {
	w, ok := a.words(3)
	if !ok {
		return CubinParam{}, false
	}
	p := CubinParam{Ordinal: int(w[1] & 0xffff), Offset: int(w[1] >> 16)}
	if a.id == attrKParamInfo {
		p.Size = int(w[2] >> 18)
	} else {
		p.Size = int(w[2] & 0xffff)
	}
	return p, p.Size > 0
}

// readInfo reads the kernel's own attributes. It knows few of them; the others
// tell the driver and tools about the code.
func (c *Cubin) readInfo(f *elfFile, section string, data []byte) error {
	list, err := attributes(f, section, data)
	if err != nil {
		return err
	}
	bank := -1
	for _, a := range list {
		ok := true
		switch a.id {
		case attrKParamInfo, attrKParamInfoV2:
			var p CubinParam
			p, ok = a.param()
			c.Params = append(c.Params, p)
		case attrReqNTID:
			c.ReqNTID, ok = a.dims()
		case attrMaxThreads:
			c.MaxNTID, ok = a.dims()
		case attrCTAPerCluster:
			c.Cluster, ok = a.dims()
		case attrCBankParamSize:
			bank, ok = int(a.half), a.format == formatHalf
		}
		if !ok {
			return f.damaged("kernel %q: attribute 0x%02x is malformed", c.Symbol, a.id)
		}
	}
	return c.checkParams(f, bank)
}

// checkParams sorts the parameters by ordinal and refuses a list with gaps or
// overlaps. The bank's size is -1 where the section has none.
func (c *Cubin) checkParams(f *elfFile, bank int) error {
	slices.SortFunc(c.Params, func(a, b CubinParam) int { return cmp.Compare(a.Ordinal, b.Ordinal) })
	end := 0
	for i, p := range c.Params {
		bad := func(format string, args ...any) error {
			return f.damaged("kernel %q, parameter %d: "+format, append([]any{c.Symbol, i}, args...)...)
		}
		switch {
		case p.Ordinal != i:
			return bad("the next ordinal is %d", p.Ordinal)
		case p.Offset < end:
			return bad("its offset %d is inside the one before", p.Offset)
		}
		end = p.Offset + p.Size
		if bank >= 0 && end > bank {
			return bad("it ends at byte %d of %d", end, bank)
		}
	}
	return nil
}

// readRegisters finds the registers per thread of a symbol in .nv.info; 0 where
// it does not say.
func readRegisters(f *elfFile, data []byte, symbol uint32) (int, error) {
	list, err := attributes(f, ".nv.info", data)
	if err != nil {
		return 0, err
	}
	for _, a := range list {
		if a.id != attrRegCount {
			continue
		}
		w, ok := a.words(2)
		if !ok || w[1] > 255 {
			return 0, f.damaged("section %q: attribute 0x%02x is malformed", ".nv.info", a.id)
		}
		if w[0] == symbol {
			return int(w[1]), nil
		}
	}
	return 0, nil
}
