package artefact

import (
	"bytes"
	"debug/elf"
	"encoding/binary"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// file reads a file of testdata.
func file(t testing.TB, name string) []byte {
	t.Helper()
	data, err := os.ReadFile(filepath.Join("testdata", filepath.FromSlash(name)))
	if err != nil {
		t.Fatal(err)
	}
	return data
}

// files lists testdata's files with one of the extensions.
func files(t testing.TB, exts ...string) []string {
	t.Helper()
	var names []string
	for _, ext := range exts {
		for _, pattern := range []string{"*/*" + ext, "*/*/*" + ext, "*/*/*/*" + ext} {
			found, err := filepath.Glob(filepath.Join("testdata", pattern))
			if err != nil {
				t.Fatal(err)
			}
			for _, f := range found {
				names = append(names, filepath.ToSlash(strings.TrimPrefix(f, "testdata"+string(filepath.Separator))))
			}
		}
	}
	if len(names) == 0 {
		t.Fatalf("no file with %v in testdata", exts)
	}
	return names
}

// The expected figures are those that cuobjdump -elf and -res-usage print.
func TestCubin(t *testing.T) {
	for _, test := range []struct {
		file string
		want Cubin
	}{
		{"triton-3.6.0/add.sm75/add_kernel.cubin", Cubin{Symbol: "add_kernel", Arch: 75, ReqNTID: [3]int{128, 1, 1}, Registers: 26}},
		{"triton-3.6.0/add.sm80/add_kernel.cubin", Cubin{Symbol: "add_kernel", Arch: 80, ReqNTID: [3]int{128, 1, 1}, Registers: 26}},
		{"triton-3.6.0/add.sm90/add_kernel.cubin", Cubin{Symbol: "add_kernel", Arch: 90, Accelerated: true, ReqNTID: [3]int{128, 1, 1}, Registers: 26}},
		{"triton-3.6.0/add.sm100/add_kernel.cubin", Cubin{Symbol: "add_kernel", Arch: 100, Accelerated: true, ReqNTID: [3]int{128, 1, 1}, Registers: 26}},
		{"triton-3.6.0/add.sm120/add_kernel.cubin", Cubin{Symbol: "add_kernel", Arch: 120, Accelerated: true, ReqNTID: [3]int{128, 1, 1}, Registers: 28}},
		{"triton-3.6.0/scalars.sm90/scalars_kernel.cubin", Cubin{Symbol: "scalars_kernel", Arch: 90, Accelerated: true, ReqNTID: [3]int{32, 1, 1}, Registers: 32}},
		{"triton-3.6.0/tma_host.sm80/tma_host_kernel.cubin", Cubin{Symbol: "tma_host_kernel", Arch: 80, ReqNTID: [3]int{128, 1, 1}, Registers: 72}},
		{"triton-3.6.0/tma_host.sm90/tma_host_kernel.cubin", Cubin{Symbol: "tma_host_kernel", Arch: 90, Accelerated: true, ReqNTID: [3]int{128, 1, 1}, Registers: 22, StaticShared: 1024}},
		{"triton-3.6.0/matmul_cta2.sm90/matmul_kernel.cubin", Cubin{Symbol: "matmul_kernel", Arch: 90, Accelerated: true, ReqNTID: [3]int{256, 1, 1}, Cluster: [3]int{2, 1, 1}, Registers: 123, StaticShared: 1024}},
		{"ptxas/bounds.cubin", Cubin{Symbol: "store_next", Arch: 90, MaxNTID: [3]int{256, 2, 1}, Registers: 8, StaticShared: 3024}},
		{"ptxas/large.cubin", Cubin{Symbol: "store_next", Arch: 90, ReqNTID: [3]int{256, 1, 1}, Registers: 8, StaticShared: 3024}},
		{"ptxas/empty.cubin", Cubin{Symbol: "empty", Arch: 90, Registers: 4}},
	} {
		got, err := parseCubin(test.file, file(t, test.file))
		if err != nil {
			t.Error(err)
			continue
		}
		got.Bytes, got.Params = nil, nil
		if diff := cmp.Diff(&test.want, got); diff != "" {
			t.Errorf("%s: -want +got\n%s", test.file, diff)
		}
	}
}

func TestCubinParams(t *testing.T) {
	for _, test := range []struct {
		file string
		want []CubinParam
	}{
		{"triton-3.6.0/add.sm75/add_kernel.cubin", []CubinParam{{0, 0, 8}, {1, 8, 8}, {2, 16, 8}, {3, 24, 4}, {4, 32, 8}, {5, 40, 8}}},
		// A descriptor is aligned in the bank, whose base is 0x210.
		{"triton-3.6.0/tma_host.sm90/tma_host_kernel.cubin", []CubinParam{
			{0, 48, 128}, {1, 176, 4}, {2, 180, 4}, {3, 184, 8}, {4, 192, 8},
			{5, 240, 128}, {6, 368, 4}, {7, 372, 4}, {8, 376, 8}, {9, 384, 8}, {10, 392, 8}, {11, 400, 8},
		}},
		{"ptxas/bounds.cubin", []CubinParam{{0, 0, 8}, {1, 8, 1}, {2, 10, 2}, {3, 48, 128}, {4, 176, 4}}},
		// Made with KPARAM_INFO_V2 by ptxas itself.
		{"ptxas/large.cubin", []CubinParam{{0, 0, 8}, {1, 8, 1}, {2, 10, 2}, {3, 48, 5000}, {4, 5048, 4}}},
		{"ptxas/empty.cubin", nil},
	} {
		got, err := parseCubin(test.file, file(t, test.file))
		if err != nil {
			t.Error(err)
			continue
		}
		if diff := cmp.Diff(test.want, got.Params); diff != "" {
			t.Errorf("%s: -want +got\n%s", test.file, diff)
		}
	}
}

// The two files of one compile come from different writers: what they say of the
// parameters must be the same.
func TestCubinAgreesWithPTX(t *testing.T) {
	pairs := 0
	for _, name := range files(t, ".cubin") {
		cubin, err := parseCubin(name, file(t, name))
		if err != nil {
			if strings.HasSuffix(name, "two.cubin") || strings.HasSuffix(name, "relocatable.cubin") {
				continue
			}
			t.Error(err)
			continue
		}
		source := strings.TrimSuffix(name, ".cubin") + ".ptx"
		ptx, err := parsePTX(source, file(t, source))
		if err != nil {
			t.Error(err)
			continue
		}
		pairs++
		var fromCubin, fromPTX []int
		for _, p := range cubin.Params {
			fromCubin = append(fromCubin, p.Size)
		}
		for _, p := range ptx.Params {
			fromPTX = append(fromPTX, p.Size)
		}
		if diff := cmp.Diff(fromPTX, fromCubin); diff != "" {
			t.Errorf("%s: sizes of parameters: -ptx +cubin\n%s", name, diff)
		}
		if cubin.Symbol != ptx.Entry || cubin.ReqNTID != ptx.ReqNTID || cubin.MaxNTID != ptx.MaxNTID || cubin.Cluster != ptx.Cluster {
			t.Errorf("%s: %q %v %v %v, but the PTX has %q %v %v %v", name, cubin.Symbol, cubin.ReqNTID, cubin.MaxNTID, cubin.Cluster,
				ptx.Entry, ptx.ReqNTID, ptx.MaxNTID, ptx.Cluster)
		}
		if want := strings.Trim(ptx.Target, "sm_a"); want != strconv.Itoa(cubin.Arch) {
			t.Errorf("%s: architecture %d, but the PTX is for %s", name, cubin.Arch, ptx.Target)
		}
	}
	if pairs < 15 {
		t.Errorf("compared %d pairs only", pairs)
	}
}

// edit returns a copy of a cubin that change has been at.
func edit(data []byte, change func(data []byte)) []byte {
	data = bytes.Clone(data)
	change(data)
	return data
}

// attributeAt finds the first record with this head in a cubin.
func attributeAt(t *testing.T, data []byte, head ...byte) []byte {
	t.Helper()
	i := bytes.Index(data, head)
	if i < 0 {
		t.Fatalf("no attribute % x", head)
	}
	return data[i:]
}

// sectionAt returns the header of a section in the table.
func sectionAt(t *testing.T, data []byte, name string) []byte {
	t.Helper()
	f, err := openELF("test", data)
	if err != nil {
		t.Fatal(err)
	}
	for i, s := range f.sections {
		if s.name == name {
			return data[f.header.Shoff+uint64(i)*sectionSize:]
		}
	}
	t.Fatalf("no section %q", name)
	return nil
}

// Records of the first form turned into the second must mean the same.
func TestCubinParamInfoV2(t *testing.T) {
	data := file(t, "triton-3.6.0/scalars.sm90/scalars_kernel.cubin")
	want, err := parseCubin("test", data)
	if err != nil {
		t.Fatal(err)
	}
	n := 0
	data = edit(data, func(data []byte) {
		for {
			i := bytes.Index(data, []byte{formatSized, attrKParamInfo, 12, 0})
			if i < 0 {
				return
			}
			size := binary.LittleEndian.Uint32(data[i+12:]) >> 18
			data[i+1] = attrKParamInfoV2
			binary.LittleEndian.PutUint32(data[i+12:], 0x05000000|size)
			data = data[i+16:]
			n++
		}
	})
	got, err := parseCubin("test", data)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want.Params, got.Params); diff != "" || n != 16 {
		t.Errorf("%d records changed: -want +got\n%s", n, diff)
	}
}

func TestCubinFaults(t *testing.T) {
	le := binary.LittleEndian
	add := file(t, "triton-3.6.0/add.sm90/add_kernel.cubin")
	param := []byte{formatSized, attrKParamInfo, 12, 0}
	for _, test := range []struct {
		name string
		data []byte
		want string
	}{
		{"nothing", nil, "k.cubin: not an ELF file; compile the kernel again"},
		{"text", []byte("hello, world; this is a rather long text that is not at all an ELF file"), "not an ELF file"},
		{"fat binary", []byte("\x50\xed\x55\xba and more"), "k.cubin: a fat binary, not a cubin; extract the cubin of one architecture"},
		{"32 bits", edit(add, func(d []byte) { d[elf.EI_CLASS] = 1 }), "not a 64-bit little-endian ELF file"},
		{"big endian", edit(add, func(d []byte) { d[elf.EI_DATA] = 2 }), "not a 64-bit little-endian ELF file"},
		{"another machine", edit(add, func(d []byte) { le.PutUint16(d[18:], 62) }), "not for CUDA: its machine is EM_X86_64; name a cubin of NVIDIA's"},
		{"not linked", file(t, "ptxas/relocatable.cubin"), "not linked: its type is ET_REL; compile it without -c, or link it with nvlink"},
		{"two kernels", file(t, "ptxas/two.cubin"), `2 kernels, "second" and "first" among them; a cubin must hold one kernel`},
		{"unknown format", edit(add, func(d []byte) { d[elf.EI_ABIVERSION] = 9 }), "version 9 of the cubin format is unknown; use a newer kerngen"},
		{"no sections", edit(add, func(d []byte) { le.PutUint16(d[60:], 0) }), "malformed ELF header"},
		{"odd section headers", edit(add, func(d []byte) { le.PutUint16(d[58:], 40) }), "malformed ELF header"},
		{"names beyond the table", edit(add, func(d []byte) { le.PutUint16(d[62:], 0xffff) }), "malformed ELF header"},
		{"sections beyond the file", edit(add, func(d []byte) { le.PutUint64(d[40:], 1<<63) }), "the file ends early: its tables lead beyond its 6936 bytes; compile the kernel again"},
		{"programs beyond the file", edit(add, func(d []byte) { le.PutUint64(d[32:], ^uint64(0)) }), "the file ends early"},
		{"section beyond the file", edit(add, func(d []byte) { le.PutUint64(sectionAt(t, d, ".debug_frame")[32:], 1<<62) }), "the file ends early"},
		{"compressed section", edit(add, func(d []byte) { sectionAt(t, d, ".debug_frame")[9] |= 0x8 }), "section 4 is compressed"},
		{"name beyond its table", edit(add, func(d []byte) { le.PutUint32(sectionAt(t, d, ".debug_frame"), 1<<30) }), "section 4 has no name"},
		{"no symbol table", edit(add, func(d []byte) { le.PutUint32(sectionAt(t, d, ".symtab")[4:], 1) }), "no symbol table"},
		{"odd symbols", edit(add, func(d []byte) { le.PutUint64(sectionAt(t, d, ".symtab")[56:], 16) }), "malformed symbol table"},
		{"no kernel", edit(add, func(d []byte) {
			symbols := d[le.Uint64(sectionAt(t, d, ".symtab")[24:]):]
			for i := range 10 {
				symbols[i*symbolSize+5] &^= stoEntry
			}
		}), "no kernel in it"},
		{"no code", edit(add, func(d []byte) { le.PutUint64(sectionAt(t, d, ".text.add_kernel")[32:], 0) }), `kernel "add_kernel" has no code`},
		{"no attributes", edit(add, func(d []byte) { le.PutUint32(sectionAt(t, d, ".nv.info.add_kernel")[4:], 0) }), `section ".nv.info.add_kernel" is missing`},
		{"attributes cut", edit(add, func(d []byte) { le.PutUint64(sectionAt(t, d, ".nv.info.add_kernel")[32:], 30) }), `section ".nv.info.add_kernel", byte 24: an attribute is cut short`},
		{"attribute of odd format", edit(add, func(d []byte) { attributeAt(t, d, param...)[0] = 9 }), "an attribute of unknown format"},
		{"short parameter", edit(add, func(d []byte) {
			// 12 bytes become 8 and a record without a value.
			a := attributeAt(t, d, param...)
			a[2], a[12], a[13] = 8, formatNone, 0x50
		}), `kernel "add_kernel": attribute 0x17 is malformed`},
		{"no size", edit(add, func(d []byte) { le.PutUint32(attributeAt(t, d, param...)[12:], 0) }), "attribute 0x17 is malformed"},
		{"gap in ordinals", edit(add, func(d []byte) { attributeAt(t, d, param...)[8] = 9 }), `kernel "add_kernel", parameter 5: the next ordinal is 9`},
		{"overlap", edit(add, func(d []byte) { attributeAt(t, d, param...)[10] = 33 }), `parameter 5: its offset 33 is inside the one before`},
		{"beyond the bank", edit(add, func(d []byte) { attributeAt(t, d, param...)[10] = 48 }), `parameter 5: it ends at byte 56 of 48`},
		{"no threads", edit(add, func(d []byte) { attributeAt(t, d, formatSized, attrReqNTID, 12, 0)[4] = 0 }), "attribute 0x10 is malformed"},
		{"absurd registers", edit(add, func(d []byte) { attributeAt(t, d, formatSized, attrRegCount, 8, 0)[10] = 1 }), `section ".nv.info": attribute 0x2f is malformed`},
	} {
		t.Run(test.name, func(t *testing.T) {
			c, err := parseCubin("k.cubin", test.data)
			if err == nil {
				t.Fatalf("read as %+v", c)
			}
			if !strings.Contains(err.Error(), test.want) || !strings.HasPrefix(err.Error(), "k.cubin: ") {
				t.Errorf("got  %v\nwant %s", err, test.want)
			}
		})
	}
}

// The tables of a cubin are at its end: a cut anywhere takes some of them away.
func TestCubinCut(t *testing.T) {
	for _, name := range []string{"triton-3.6.0/add.sm90/add_kernel.cubin", "triton-3.6.0/add.sm120/add_kernel.cubin"} {
		data := file(t, name)
		for n := range len(data) {
			if _, err := parseCubin("k.cubin", data[:n]); err == nil {
				t.Errorf("%s: the first %d of %d bytes pass", name, n, len(data))
			}
		}
	}
}
