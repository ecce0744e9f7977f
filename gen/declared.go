package gen

import (
	"go/ast"
	"go/build"
	"go/parser"
	"go/token"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"

	"github.com/kerngen/kerngen/gen/internal/diag"
	"github.com/kerngen/kerngen/gen/internal/generated"
)

// checkPackageName refuses what no package clause can hold.
func checkPackageName(name string) error {
	if !token.IsIdentifier(name) || name == "_" {
		return diag.Errorf("", "%q is not a package name", name).Fix("use letters and digits, a letter first")
	}
	return nil
}

// declared maps the package-level names of the hand-written files in dir to
// their positions. Names under which a file imports packages count too: no
// declaration may have one. A file of another package is an error. What does not
// parse is left to the compiler.
func declared(dir, pkg string) (map[string]string, error) {
	entries, err := readDir(dir)
	if err != nil {
		return nil, err
	}
	taken := map[string]string{}
	var faults diag.List
	fset := token.NewFileSet()
	own := make([]bool, len(entries))
	inParallel(len(entries), func(i int) error { // no errors
		name := entries[i].Name()
		own[i] = strings.HasSuffix(name, generated.GoSuffix) && startsWithMarker(filepath.Join(dir, name))
		return nil
	})
	for i, e := range entries {
		name := e.Name()
		if own[i] || !strings.HasSuffix(name, ".go") {
			continue
		}
		pos := filepath.Join(dir, name)
		if match, err := build.Default.MatchFile(dir, name); err != nil || !match {
			continue // not part of the build here, such as a "//go:build ignore" program
		}
		content, err := os.ReadFile(pos)
		if err != nil {
			faults.Add(diag.File(pos, err))
			continue
		}
		file, _ := parser.ParseFile(fset, filepath.ToSlash(pos), content, parser.SkipObjectResolution)
		if file == nil || file.Name == nil || file.Name.Name == "" || file.Name.Name == "_" {
			continue
		}
		test := strings.HasSuffix(name, "_test.go")
		if test && file.Name.Name == pkg+"_test" {
			continue // a package of its own
		}
		if file.Name.Name != pkg {
			faults.Add(diag.Errorf(fset.Position(file.Name.Pos()).String(), "the folder holds package %q, not %q", file.Name.Name, pkg).
				Fix("use --package %s, or another --out folder", file.Name.Name))
			continue
		}
		for _, id := range identifiers(file) {
			if _, ok := taken[id.Name]; !ok {
				taken[id.Name] = fset.Position(id.Pos()).String()
			}
		}
	}
	return taken, faults.Err()
}

// identifiers are the names that file adds to its package's scope, and those of
// its imports.
func identifiers(file *ast.File) []*ast.Ident {
	var ids []*ast.Ident
	for _, spec := range file.Imports {
		// The runtime's name is no declaration's in a generated file.
		if id := importName(spec); id != nil && id.Name != "kernrt" {
			ids = append(ids, id)
		}
	}
	for _, decl := range file.Decls {
		switch d := decl.(type) {
		case *ast.FuncDecl:
			if d.Recv == nil && d.Name.Name != "init" {
				ids = append(ids, d.Name)
			}
		case *ast.GenDecl:
			for _, spec := range d.Specs {
				switch s := spec.(type) {
				case *ast.TypeSpec:
					ids = append(ids, s.Name)
				case *ast.ValueSpec:
					ids = append(ids, s.Names...)
				}
			}
		}
	}
	return ids
}

// importName is the name an import goes by, or nil where it has none. A name
// that only the imported package knows is taken to be the path's last part.
func importName(spec *ast.ImportSpec) *ast.Ident {
	if spec.Name != nil {
		if spec.Name.Name == "_" || spec.Name.Name == "." {
			return nil
		}
		return spec.Name
	}
	importPath, err := strconv.Unquote(spec.Path.Value)
	if err != nil {
		return nil
	}
	if version.MatchString(path.Base(importPath)) && path.Dir(importPath) != "." {
		importPath = path.Dir(importPath)
	}
	return &ast.Ident{NamePos: spec.Pos(), Name: path.Base(importPath)}
}

var version = regexp.MustCompile(`^v[0-9]+$`)
