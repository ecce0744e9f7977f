package artefact

import (
	"encoding/binary"
	"errors"
	"fmt"
	"runtime/metrics"
	"slices"
	"strings"
	"testing"

	"github.com/kerngen/kerngen/gen/internal/diag"
)

// fuzz runs parse on the artefacts and on what is made of them: it must not
// panic nor ask for memory out of proportion, and every fault must be one of the
// user's file, at a position in it.
func fuzz[T any](f *testing.F, parse func(string, []byte) (*T, error), check func(t *testing.T, content *T), exts ...string) {
	for _, name := range files(f, exts...) {
		f.Add(file(f, name))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		before := allocated()
		content, err := parse("k.x", data)
		if used, most := allocated()-before, uint64(mostAllocated(len(data))); used > most {
			t.Errorf("%d bytes allocated for a file of %d", used, len(data))
		}
		if err == nil {
			check(t, content)
			return
		}
		if content != nil {
			t.Errorf("content in spite of %v", err)
		}
		if !diag.IsUser(err) {
			t.Errorf("no user's fault: %v", err)
		}
		var one *diag.Error
		if errors.As(err, &one) && !strings.HasPrefix(one.Pos, "k.x") {
			t.Errorf("no position: %v", err)
		}
	})
}

// mostAllocated bounds what reading a file of n bytes may allocate in all. The
// factor is that of a file of nothing but short keys; the rest is the coarse
// grain of the runtime's count.
func mostAllocated(n int) int { return 1<<20 + 400*n }

// allocated counts the bytes that this process has allocated so far.
func allocated() uint64 {
	sample := []metrics.Sample{{Name: "/gc/heap/allocs:bytes"}}
	metrics.Read(sample)
	return sample[0].Value.Uint64()
}

func FuzzMeta(f *testing.F) {
	fuzz(f, parseMeta, func(t *testing.T, m *Meta) {
		if m.Name == "" || m.Backend == "" || m.NumWarps < 1 || m.NumCTAs < 1 || m.Shared < 0 || m.GlobalScratch.Size < 0 ||
			m.ClusterDims[0]*m.ClusterDims[1]*m.ClusterDims[2] != m.NumCTAs {
			t.Errorf("read as %+v", m)
		}
	}, ".json")
}

func FuzzTTIR(f *testing.F) {
	fuzz(f, parseTTIR, func(t *testing.T, s *Signature) {
		if s.Name == "" {
			t.Error("no name")
		}
		for _, a := range s.Args {
			if a.SSA == "" || a.Type == "" || a.Line < 1 || a.Divisibility < 0 {
				t.Errorf("read as %+v", a)
			}
		}
	}, ".ttir", ".source")
}

func FuzzPTX(f *testing.F) {
	for _, name := range files(f, ".ptx") {
		f.Add(slices.Concat([]byte("// meta:name=add_kernel\n// meta:num_warps=4\n// meta:shared=0\n"), file(f, name)))
	}
	fuzz(f, parsePTX, func(t *testing.T, p *PTX) {
		m, found, err := ptxMeta("k.x", p)
		switch {
		case err != nil && (m != nil || !found || !diag.IsUser(err)):
			t.Errorf("%+v, %v, %v", m, found, err)
		case found && err == nil && (m.Name == "" || m.NumWarps < 1 || !m.InPTX):
			t.Errorf("read as %+v", m)
		}
		if p.Entry == "" || p.Version == "" || !strings.HasPrefix(p.Target, "sm_") {
			t.Errorf("read as %+v", p)
		}
		for _, a := range p.Params {
			if a.Type == "" || a.Size < 1 || a.Align < 0 || a.Line < 1 {
				t.Errorf("read as %+v", a)
			}
		}
	}, ".ptx")
}

func FuzzCubin(f *testing.F) {
	fuzz(f, parseCubin, func(t *testing.T, c *Cubin) {
		if c.Symbol == "" || c.Registers < 0 || c.StaticShared < 0 {
			t.Errorf("read as %q, %d registers, %d bytes", c.Symbol, c.Registers, c.StaticShared)
		}
		for i, p := range c.Params {
			if p.Ordinal != i || p.Size < 1 || p.Offset < 0 {
				t.Errorf("parameter %d read as %+v", i, p)
			}
		}
	}, ".cubin")
}

func FuzzSidecar(f *testing.F) {
	fuzz(f, parseSidecar, func(t *testing.T, s *Sidecar) {
		if s.Schema < 1 || s.Schema > SidecarSchema || s.Kernel == "" || s.Triton == "" {
			t.Errorf("read as %+v", s)
		}
	}, ".kerngen.json")
}

// Files of a megabyte, made to cost as much as they can: none asks for memory
// out of proportion.
func TestMemoryIsBounded(t *testing.T) {
	const n = 1 << 20
	fill := func(begin, middle, end string) []byte {
		return []byte(begin + strings.Repeat(middle, (n-len(begin)-len(end))/len(middle)) + end)
	}
	numbered := func(begin, format, end string) []byte {
		b := []byte(begin)
		for i := 0; len(b) < n; i++ {
			b = fmt.Appendf(b, format, i)
		}
		return append(b, end...)
	}
	sections := slices.Clone(file(t, "triton-3.6.0/add.sm80/add_kernel.cubin"))
	binary.LittleEndian.PutUint16(sections[60:], 0xffff) // e_shnum
	sections = append(sections, make([]byte, n)...)
	ptx := ".version 8.7\n.target sm_80\n.address_size 64\n"
	for _, test := range []struct {
		name  string
		parse func(string, []byte) error
		data  []byte
	}{
		{"nested arrays", reads(parseMeta), fill(`{"a":`, "[", "")},
		{"closed nested arrays", reads(parseMeta), []byte(`{"a":` + strings.Repeat("[", n/2) + strings.Repeat("]", n/2) + "}")},
		{"keys", reads(parseMeta), numbered("{", `"%d":0,`, `"x":0}`)},
		{"one key", reads(parseMeta), fill("{", `"":0,`, `"":0}`)},
		{"escapes", reads(parseMeta), fill(`{"`, `\u0061`, `":0}`)},
		{"descriptors", reads(parseMeta), fill(`{"tensordesc_meta":[`, "{},", "{}]}")},
		{"nested tuples", reads(parseSidecar), fill(`{"schema":1,"params":`, `[{"tuple":`, "")},
		{"parameters", reads(parseSidecar), fill(`{"schema":1,"params":[`, "{},", "{}]}")},
		{"source files", reads(parseSidecar), fill(`{"schema":1,"kernel":"k","triton":"3.6.0","params":[],"source":[`, "{},", "{}]}")},
		{"grid", reads(parseSidecar), fill(`{"schema":1,"kernel":"k","triton":"3.6.0","params":[],"source":[],"grid":[`, `"",`, `""]}`)},
		{"a long name and many members", reads(parseSidecar), []byte(`{"schema":1,"params":[{"name":"` + strings.Repeat("n", n/2) + `","tuple":[` + strings.Repeat("{},", n/6) + "{}]}]}")},
		{"many unknown keys", reads(parseSidecar), numbered(`{"schema":1,"params":[],`, `"A%d":0,`, `"B":0}`)},
		{"arguments of launch metadata", reads(parseLaunchMeta), fill(`{"abi_version":1,"args":[`, "{},", "{}]}")},
		{"constants", reads(parseLaunchMeta), numbered(`{"abi_version":1,"constants":{`, `"%d":0,`, `"x":0}}`)},
		{"brackets", reads(parseTTIR), fill("", "(", "")},
		{"angle brackets", reads(parseTTIR), fill("tt.func public @k(%a: ", "<", "")},
		{"arguments", reads(parseTTIR), numbered("tt.func public @k(", "%%%d:i1,", "%%x:i1)")},
		{"locations", reads(parseTTIR), numbered("tt.func public @k()\n", "#l%d=loc(#l)\n", "")},
		{"uses", reads(parseTTIR), numbered("tt.func public @k()\n", "loc(#%d)", "")},
		{"braces", reads(parsePTX), fill(ptx+".entry k() ", "{", "")},
		{"parameters of an entry", reads(parsePTX), numbered(ptx+".entry k(", ".param .b8 a%d,", ".param .b8 b) { ret; }")},
		{"comments with metadata", readsComments, numbered("", "// meta:k%d=0\n", "")},
		{"comments with faults", readsComments, fill("", "// meta:\n", "")},
		{"sections", reads(parseCubin), sections},
	} {
		before := allocated()
		test.parse("k.x", test.data) // most are refused
		if used, most := allocated()-before, uint64(mostAllocated(len(test.data))); used > most {
			t.Errorf("%s: %d bytes allocated for a file of %d", test.name, used, len(test.data))
		}
	}
}

func reads[T any](parse func(string, []byte) (*T, error)) func(string, []byte) error {
	return func(pos string, data []byte) error {
		_, err := parse(pos, data)
		return err
	}
}

func readsComments(pos string, data []byte) error {
	_, _, err := ptxMeta(pos, &PTX{Target: "sm_80", Text: data})
	return err
}
