package inspect

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"

	"github.com/kerngen/kerngen/gen/internal/artefact"
	"github.com/kerngen/kerngen/gen/internal/diag"
	"github.com/kerngen/kerngen/gen/internal/generated"
	"github.com/kerngen/kerngen/internal/packed"
)

// Package reports what a file of a generated package holds: what its kernel's
// description says, and what the images that it embeds do.
func Package(name string) ([]Kernel, error) {
	pos := filepath.ToSlash(name)
	content, err := os.ReadFile(name)
	if err != nil {
		return nil, diag.Errorf(pos, "cannot be read: %v", err)
	}
	p := packageFile{fset: token.NewFileSet(), dir: filepath.Dir(name), embedded: map[string]string{}}
	p.file, err = parser.ParseFile(p.fset, pos, content, parser.ParseComments|parser.SkipObjectResolution)
	if err != nil {
		return nil, diag.Errorf(pos, "not Go: %v", err).Fix("generate the package again")
	}
	return p.kernels(content)
}

type packageFile struct {
	fset     *token.FileSet
	file     *ast.File
	dir      string
	embedded map[string]string // variable -> file
	faults   diag.List
}

func (p *packageFile) fault(n ast.Node, format string, args ...any) {
	p.faults.Add(diag.Errorf(p.fset.Position(n.Pos()).String(), format, args...).Fix("generate the package again"))
}

var tritonLine = regexp.MustCompile(`(?m)^// (?:Source: .*, |Compiled by )Triton (.+)\.$`)

// kernels finds the variables that describe kernels.
func (p *packageFile) kernels(content []byte) ([]Kernel, error) {
	triton := ""
	if m := tritonLine.FindSubmatch(content[:p.fset.Position(p.file.Package).Offset]); m != nil {
		triton = string(m[1])
	}
	var described []*ast.CompositeLit
	for _, d := range p.file.Decls {
		decl, ok := d.(*ast.GenDecl)
		if !ok || decl.Tok != token.VAR || len(decl.Specs) != 1 {
			continue
		}
		spec := decl.Specs[0].(*ast.ValueSpec)
		if decl.Doc != nil {
			for _, c := range decl.Doc.List {
				if file, ok := strings.CutPrefix(c.Text, generated.EmbedPrefix); ok && generated.IsImageName(strings.TrimSpace(file)) {
					p.embedded[spec.Names[0].Name] = strings.TrimSpace(file)
				}
			}
		}
		if len(spec.Values) == 1 {
			if lit, ok := spec.Values[0].(*ast.CompositeLit); ok && typeName(lit.Type) == "Kernel" {
				described = append(described, lit)
			}
		}
	}
	var kernels []Kernel
	for _, lit := range described {
		kernels = append(kernels, p.kernel(lit, triton)...)
	}
	if err := p.faults.Err(); err != nil {
		return nil, err
	}
	return kernels, nil
}

// kernel reads one description: an entry for each image.
func (p *packageFile) kernel(lit *ast.CompositeLit, triton string) []Kernel {
	k := p.object(lit)
	var names, types []string
	for _, e := range p.list(k["Params"]) {
		param := p.object(e)
		names = append(names, p.text(param["Name"]))
		types = append(types, p.text(param["Type"]))
	}
	var entries []Kernel
	for _, v := range p.list(k["Variants"]) {
		variant := p.object(v)
		divisor, size := make([]int, len(names)), map[int]string{}
		for _, e := range p.list(variant["Guards"]) {
			guard := p.object(e)
			at := p.number(guard["Param"])
			if at < 0 || at >= len(names) {
				p.fault(e, "a guard is on parameter %d of %d", at, len(names))
				continue
			}
			switch is := guard["Is"]; typeName(is) {
			case "DivisibleBy16":
				divisor[at] = 16
			case "Fits32":
				size[at] = strings.TrimSuffix(types[at], "64") + "32"
			}
		}
		for _, e := range p.list(variant["Images"]) {
			entry := p.image(p.object(e), e)
			entry.Name, entry.Triton = p.text(k["Name"]), triton
			var sizes []int
			descriptors := p.list(p.object(e)["Descriptors"])
			for _, arg := range p.numbers(p.object(e)["Args"]) {
				if arg < 0 || arg >= len(names) {
					p.fault(e, "argument %d of %d", arg, len(names))
					continue
				}
				typ := types[arg]
				if narrow, ok := size[arg]; ok {
					typ = narrow
				}
				entry.Params = append(entry.Params, Param{Name: names[arg], Type: typ, DivisibleBy: divisor[arg]})
				size := 1
				if strings.HasPrefix(typ, "tensordesc") && len(descriptors) > 0 {
					d := p.object(descriptors[0])
					descriptors = descriptors[1:]
					rank := 1 + strings.Count(typ, ",")
					if size = 1 + 2*rank; d["Box"] == nil {
						size = 1 + 4*rank + p.number(d["Flags"])
					}
				}
				sizes = append(sizes, size)
			}
			entry.lay(sizes)
			entries = append(entries, entry)
		}
	}
	return entries
}

// image reads the description of one image and the image itself.
func (p *packageFile) image(m map[string]ast.Expr, at ast.Expr) Kernel {
	target := p.text(m["Target"])
	file := p.embedded[typeName(m["Code"])]
	k := Kernel{
		Symbol: p.text(m["Symbol"]), Target: strings.TrimRight(target, "abcdefghijklmnopqrstuvwxyz"),
		Path:   filepath.ToSlash(filepath.Join(p.dir, strings.TrimSuffix(file, filepath.Ext(file)))),
		Params: []Param{}, NumWarps: p.number(m["NumWarps"]), Cluster: [3]int{1, 1, 1}, Shared: p.number(m["Shared"]),
		Cooperative: typeName(m["Cooperative"]) == "true", PDL: typeName(m["PDL"]) == "true",
		GlobalScratch: p.scratch(m["GlobalScratch"]), ProfileScratch: p.scratch(m["ProfileScratch"]),
	}
	k.Hidden = hiddenNames(min(p.number(m["Hidden"]), 2)) // as many as the runtime passes
	if c := p.numbers(m["Cluster"]); len(c) == 3 {
		k.Cluster = [3]int(c)
	}
	k.NumCTAs = k.Cluster[0] * k.Cluster[1] * k.Cluster[2]
	if file == "" {
		p.fault(at, "no variable embeds the image's code")
		return k
	}
	pos := filepath.ToSlash(filepath.Join(p.dir, file))
	code, err := artefact.ReadCode(filepath.Join(p.dir, file))
	if err != nil {
		p.fault(at, "%s cannot be read: %v", pos, err)
		return k
	}
	if typeName(m["PTX"]) == "true" {
		if packed.Is(string(code)) {
			text, err := packed.Unpack(string(code))
			if err != nil {
				p.fault(at, "%s cannot be unpacked: %v", pos, err)
				return k
			}
			code = []byte(text)
		}
		ptx, err := artefact.ParsePTX(pos, code)
		p.faults.Add(err)
		if err == nil {
			for _, s := range ptx.Params {
				k.slots = append(k.slots, Slot{nil, s.Size})
			}
		}
		k.Images = []Image{imageOf("ptx", target, code)}
		return k
	}
	cubin, err := artefact.ParseCubin(pos, code)
	p.faults.Add(err)
	if err == nil {
		k.Registers = cubin.Registers
		for _, s := range cubin.Params {
			k.slots = append(k.slots, Slot{&s.Offset, s.Size})
		}
	}
	k.Images = []Image{imageOf("cubin", target, code)}
	return k
}

func (p *packageFile) scratch(e ast.Expr) Scratch {
	if e == nil {
		return Scratch{0, 1}
	}
	m := p.object(e)
	return Scratch{p.number(m["Size"]), p.number(m["Align"])}
}

// object is the fields of a composite literal by name.
func (p *packageFile) object(e ast.Expr) map[string]ast.Expr {
	fields := map[string]ast.Expr{}
	for _, element := range p.list(e) {
		kv, ok := element.(*ast.KeyValueExpr)
		if !ok {
			p.fault(element, "a field without its name")
			continue
		}
		fields[typeName(kv.Key)] = kv.Value
	}
	return fields
}

// list is the elements of a composite literal; none where there is nothing.
func (p *packageFile) list(e ast.Expr) []ast.Expr {
	if e == nil {
		return nil
	}
	lit, ok := e.(*ast.CompositeLit)
	if !ok {
		p.fault(e, "not a composite literal")
		return nil
	}
	return lit.Elts
}

// typeName is the last name of an expression: Kernel of kernrt.Kernel, code of
// &code.
func typeName(e ast.Expr) string {
	switch e := e.(type) {
	case *ast.Ident:
		return e.Name
	case *ast.SelectorExpr:
		return e.Sel.Name
	case *ast.UnaryExpr:
		return typeName(e.X)
	}
	return ""
}

func (p *packageFile) text(e ast.Expr) string { return fmt.Sprint(p.literal(e, token.STRING, "")) }

func (p *packageFile) number(e ast.Expr) int {
	n, _ := p.literal(e, token.INT, 0).(int)
	return n
}

func (p *packageFile) numbers(e ast.Expr) []int {
	var list []int
	for _, n := range p.list(e) {
		list = append(list, p.number(n))
	}
	return list
}

// literal is the value of a literal, absent where there is none.
func (p *packageFile) literal(e ast.Expr, kind token.Token, absent any) any {
	if e == nil {
		return absent
	}
	lit, ok := e.(*ast.BasicLit)
	if ok && lit.Kind == kind {
		if kind == token.STRING {
			if s, err := strconv.Unquote(lit.Value); err == nil {
				return s
			}
		} else if n, err := strconv.Atoi(lit.Value); err == nil {
			return n
		}
	}
	p.fault(e, "not a literal of kind %v", kind)
	return absent
}
