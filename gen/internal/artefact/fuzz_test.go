package artefact

import (
	"errors"
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
