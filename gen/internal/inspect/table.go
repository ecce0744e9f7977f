package inspect

import (
	"fmt"
	"io"
	"strings"
	"text/tabwriter"
	"unicode/utf8"
)

// columns is the width of a report for people.
const columns = 100

// WriteTable writes the report for people: a block for each image.
func (r Report) WriteTable(w io.Writer) error {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	for i, k := range r.Kernels {
		if i > 0 {
			fmt.Fprintln(t)
		}
		k.write(t)
		t.Flush() // columns are aligned within a block
	}
	return t.Flush()
}

func (k Kernel) write(w io.Writer) {
	fmt.Fprintf(w, "%s\n", k.Name)
	if k.Symbol != k.Name {
		fmt.Fprintf(w, "  symbol %s\n", k.Symbol)
	}
	fmt.Fprintf(w, "  %s\n", k.Path)
	fmt.Fprintf(w, "  %s\n", strings.Join(k.launch(), ", "))
	if len(k.slots) > 0 {
		fmt.Fprintf(w, "  #\targument\ttype\tpromise\toffset\tbytes\n")
	}
	next := 0
	for _, p := range k.Params {
		for i, s := range p.ABI {
			index, name, typ, promise := fmt.Sprint(p.Index), orUnknown(p.Name), orUnknown(p.Type), ""
			if p.DivisibleBy > 0 {
				promise = fmt.Sprintf("multiple of %d", p.DivisibleBy)
			}
			if i > 0 {
				index, name, typ, promise = "", "", "", ""
			}
			fmt.Fprintf(w, "  %s\t%s\t%s\t%s\t%s\t%d\n", index, name, typ, promise, s.offset(), s.Size)
			next++
		}
	}
	for i, name := range k.Hidden {
		if next+i < len(k.slots) {
			s := k.slots[next+i]
			fmt.Fprintf(w, "  \t(%s)\t\t\t%s\t%d\n", name, s.offset(), s.Size)
		}
	}
	for _, im := range k.Images {
		fmt.Fprintf(w, "  %s for %s, %d bytes\n    sha256 %s\n", im.Kind, im.Target, im.Bytes, im.SHA256)
	}
	for _, note := range k.notes {
		for i, line := range wrap("generate refuses it: "+note, columns-4) {
			fmt.Fprintf(w, "  %s%s\n", strings.Repeat("  ", min(i, 1)), line)
		}
	}
}

// launch tells what a launch needs, and leaves out what it does not.
func (k Kernel) launch() []string {
	list := []string{k.Target}
	add := func(set bool, format string, args ...any) {
		if set {
			list = append(list, fmt.Sprintf(format, args...))
		}
	}
	add(k.Triton != "", "Triton %s", k.Triton)
	add(true, "%d warps", k.NumWarps)
	add(k.NumCTAs > 1, "clusters of %d %v", k.NumCTAs, k.Cluster)
	add(k.Shared > 0, "%d bytes shared", k.Shared)
	add(k.Registers > 0, "%d registers", k.Registers)
	add(k.GlobalScratch.Size > 0, "%d bytes global scratch", k.GlobalScratch.Size)
	add(k.ProfileScratch.Size > 0, "%d bytes profile scratch", k.ProfileScratch.Size)
	add(k.Cooperative, "cooperative")
	add(k.PDL, "PDL")
	return list
}

func (s Slot) offset() string {
	if s.Offset == nil {
		return "-"
	}
	return fmt.Sprint(*s.Offset)
}

func orUnknown(s string) string {
	if s == "" {
		return "?"
	}
	return s
}

// wrap divides text at spaces into lines of at most width columns, where it
// can.
func wrap(text string, width int) []string {
	var lines []string
	line := ""
	for _, word := range strings.Fields(text) {
		if line != "" && utf8.RuneCountInString(line)+1+utf8.RuneCountInString(word) > width {
			lines = append(lines, line)
			line = ""
		}
		line += " " + word
		line = strings.TrimLeft(line, " ")
	}
	return append(lines, line)
}
