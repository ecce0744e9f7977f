package gen

import (
	"bytes"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"

	"github.com/kerngen/kerngen/gen/internal/emit"
	"github.com/kerngen/kerngen/gen/internal/model"
	"github.com/kerngen/kerngen/gen/internal/names"
)

// A program carries the images of the kernels it uses, and no others.
func TestLinkerDropsUnusedKernels(t *testing.T) {
	if testing.Short() {
		t.Skip("builds a program")
	}
	dir := t.TempDir()
	noise := rand.NewChaCha8([32]byte{1})
	images := map[string][]byte{}
	var kernels []model.Kernel
	for _, name := range []string{"used", "unused"} {
		images[name] = make([]byte, 1<<20)
		noise.Read(images[name])
		kernels = append(kernels, model.Kernel{
			Name:   name,
			Params: []model.Param{{Name: "n", Type: model.Type{Elem: "i32"}}},
			Variants: []model.Variant{{Images: []model.Image{{
				Target: model.Target{SM: 80}, Kind: model.Cubin, Symbol: name, Args: []int{0}, NumWarps: 4, Code: images[name],
			}}}},
		})
	}
	named, err := names.Assign(kernels, names.Options{})
	if err != nil {
		t.Fatal(err)
	}
	var all []File
	for i := range kernels {
		files, err := emit.Files("big", &kernels[i], named[i])
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range files {
			all = append(all, File(f))
		}
	}
	if err := Write(filepath.Join(dir, "big"), all); err != nil {
		t.Fatal(err)
	}
	root, err := filepath.Abs("..")
	if err != nil {
		t.Fatal(err)
	}
	for name, content := range map[string]string{
		"go.mod": "module example.com/prog\n\ngo 1.26.0\n\nrequire github.com/kerngen/kerngen v0.0.0\n\n" +
			"replace github.com/kerngen/kerngen => " + root + "\n",
		"main.go": `package main

import (
	"fmt"

	"example.com/prog/big"
	kernrt "github.com/kerngen/kerngen/runtime"
)

func main() { fmt.Println(big.LaunchUsed(nil, kernrt.Grid1D(1), 1)) }
`,
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(content), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	if out, err := goCommand(dir, nil, "build", "-o", "prog", "."); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	program, err := os.ReadFile(filepath.Join(dir, "prog"))
	if err != nil {
		t.Fatal(err)
	}
	for name, image := range images {
		if got, want := bytes.Contains(program, image), name == "used"; got != want {
			t.Errorf("the program has the image of kernel %s: %v, want %v", name, got, want)
		}
	}
}
