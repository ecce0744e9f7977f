package exec

import (
	"context"
	"math/rand/v2"
	"strings"
	"testing"
	"time"
)

// TestMalformed loads texts cut short and with words taken from elsewhere in them: each loads or is refused, and what loads runs or faults.
func TestMalformed(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 1))
	for _, name := range []string{"runtime/testdata/add.sm80.ptx", "runtime/sim/internal/exec/testdata/histogram.sm80.ptx", "runtime/sim/internal/exec/testdata/positive.sm80.ptx", "runtime/sim/internal/exec/testdata/dot.i8.sm80.ptx"} {
		text := image(t, name)
		for cut := 0; cut < len(text); cut += 1 + len(text)/60 {
			attempt(t, text[:cut])
		}
		words := strings.Fields(text)
		for range 150 {
			lines := strings.Split(text, "\n")
			i := r.IntN(len(lines))
			f := strings.Fields(lines[i])
			if len(f) == 0 {
				continue
			}
			f[r.IntN(len(f))] = words[r.IntN(len(words))]
			lines[i] = strings.Join(f, " ")
			attempt(t, strings.Join(lines, "\n"))
		}
	}
}

func attempt(t *testing.T, text string) {
	defer func() {
		if p := recover(); p != nil {
			t.Fatalf("panic %v on\n%s", p, text)
		}
	}()
	d := NewDevice(Options{Workers: 1})
	m, err := d.Load(text)
	if err != nil {
		return
	}
	for _, e := range m.entries {
		c := Config{Grid: Dim{2, 1, 1}, Block: Dim{uint32(max(e.prog.reqTID[0], 32)), 1, 1}, Shared: 8192}
		for _, p := range e.Params() {
			v := make([]byte, p.Size)
			if p.Size == 8 {
				v = params(upload(t, d, make([]byte, 4096)))[0]
			}
			c.Params = append(c.Params, v)
		}
		ctx, cancel := context.WithTimeout(context.Background(), time.Second)
		e.Launch(ctx, c) // an error or none: it ends
		cancel()
	}
}
