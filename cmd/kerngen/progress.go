package main

import (
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/kerngen/kerngen/gen"
)

// progress tells how far a compilation is: on one line that it rewrites where
// that is a terminal, else on a line for each image.
type progress struct {
	to       io.Writer
	terminal bool
	width    int // of what stands on the line, in runes
}

func newProgress(to io.Writer) *progress {
	f, ok := to.(*os.File)
	return &progress{to: to, terminal: ok && isTerminal(f)}
}

// isTerminal reports whether lines can be rewritten on f.
func isTerminal(f *os.File) bool {
	info, err := f.Stat()
	return err == nil && info.Mode()&os.ModeCharDevice != 0 && os.Getenv("TERM") != "dumb"
}

// Plan shows the cross product before it is compiled.
func (p *progress) Plan(products []gen.CompileProduct) {
	for _, k := range products {
		variants := k.Factors
		if k.Variants > 1 {
			variants += fmt.Sprintf(" = %d variants", k.Variants)
		}
		fmt.Fprintf(p.to, "kerngen: %s.%s: %s for %s, %s to compile\n", k.Package, k.Kernel, variants, count(k.Targets, "target"), count(k.Images, "image"))
	}
}

func count(n int, noun string) string {
	if n != 1 {
		noun += "s"
	}
	return fmt.Sprintf("%d %s", n, noun)
}

// Done tells of one more image. A fault keeps its line on a terminal too.
func (p *progress) Done(image string, done, all int, err error) {
	state := "compiled"
	if err != nil {
		state = "NOT compiled"
	}
	line := fmt.Sprintf("kerngen: %d of %d: %s %s", done, all, image, state)
	if !p.terminal {
		fmt.Fprintln(p.to, line)
		return
	}
	const most = 79 // what is longer would take two lines, of which one could be rewritten
	if runes := []rune(line); len(runes) > most && err == nil {
		line = string(runes[:most-1]) + "…"
	}
	width := len([]rune(line))
	fmt.Fprint(p.to, "\r", line, strings.Repeat(" ", max(0, p.width-width)))
	p.width = width
	if err != nil || done == all {
		p.end()
	}
}

// end ends a line that has been begun.
func (p *progress) end() {
	if p.width > 0 {
		fmt.Fprintln(p.to)
		p.width = 0
	}
}
