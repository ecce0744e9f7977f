package main

import (
	"bytes"
	"errors"
	"os"
	"strings"
	"testing"

	"github.com/kerngen/kerngen/gen"
)

func TestProgress(t *testing.T) {
	long := strings.Repeat("é", 90)
	for _, c := range []struct {
		terminal bool
		want     string
	}{
		{false, "kerngen: vec.add: 2 types T × 3 alternatives of n = 6 variants for 2 targets, 1 image to compile\n" +
			"kerngen: 1 of 4: kernel \"add\", sm_80 compiled\nkerngen: 2 of 4: a compiled\nkerngen: 3 of 4: b NOT compiled\nkerngen: 4 of 4: " + long + " compiled\n"},
		{true, "kerngen: vec.add: 2 types T × 3 alternatives of n = 6 variants for 2 targets, 1 image to compile\n" +
			"\rkerngen: 1 of 4: kernel \"add\", sm_80 compiled\rkerngen: 2 of 4: a compiled" + strings.Repeat(" ", 18) +
			"\rkerngen: 3 of 4: b NOT compiled\n\rkerngen: 4 of 4: " + strings.Repeat("é", 61) + "…\n"},
	} {
		var b bytes.Buffer
		p := &progress{to: &b, terminal: c.terminal}
		p.Plan([]gen.CompileProduct{{Package: "vec", Kernel: "add", Variants: 6, Targets: 2, Factors: "2 types T × 3 alternatives of n", Images: 1}})
		p.Done(`kernel "add", sm_80`, 1, 4, nil)
		p.Done("a", 2, 4, nil)
		p.Done("b", 3, 4, errors.New("fault"))
		p.Done(long, 4, 4, nil)
		p.end()
		if b.String() != c.want {
			t.Errorf("terminal %v:\n%q\nwant\n%q", c.terminal, &b, c.want)
		}
	}
}

// A line that has been begun is ended before anything else is said.
func TestProgressEnd(t *testing.T) {
	var b bytes.Buffer
	p := &progress{to: &b, terminal: true}
	p.end()
	p.Done("a", 1, 2, nil)
	p.end()
	p.end()
	if want := "\rkerngen: 1 of 2: a compiled\n"; b.String() != want {
		t.Errorf("%q, want %q", &b, want)
	}
}

func TestIsTerminal(t *testing.T) {
	t.Setenv("TERM", "xterm")
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	defer w.Close()
	if isTerminal(w) || newProgress(w).terminal || newProgress(&bytes.Buffer{}).terminal {
		t.Error("a pipe or a buffer counts as a terminal")
	}
	tty, err := os.OpenFile("/dev/ptmx", os.O_RDWR, 0)
	if err != nil {
		t.Skip(err)
	}
	defer tty.Close()
	if !newProgress(tty).terminal {
		t.Error("a terminal does not count as one")
	}
	t.Setenv("TERM", "dumb")
	if newProgress(tty).terminal {
		t.Error("a terminal that cannot rewrite its lines counts as one that can")
	}
}
