package artefact

import (
	"errors"
	"strings"
	"testing"

	"github.com/kerngen/kerngen/gen/internal/diag"
)

// fuzz runs parse on the artefacts and on what is made of them: it must not
// panic, and every fault must be one of the user's file, at a position in it.
func fuzz[T any](f *testing.F, parse func(string, []byte) (*T, error), check func(t *testing.T, content *T), exts ...string) {
	for _, name := range files(f, exts...) {
		f.Add(file(f, name))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		content, err := parse("k.x", data)
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
	fuzz(f, parsePTX, func(t *testing.T, p *PTX) {
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
		if s.Schema != SidecarSchema || s.Kernel == "" || s.Triton == "" {
			t.Errorf("read as %+v", s)
		}
	}, ".kerngen.json")
}
