package gen

import (
	"fmt"
	"path/filepath"
	"testing"

	"github.com/kerngen/kerngen/gen/internal/manykernels"
)

// BenchmarkScale generates packages of many kernels on disk: new, and again
// with nothing to change. Time and memory are to grow with their number.
func BenchmarkScale(b *testing.B) {
	for _, n := range []int{10, 100, 1000, 10000} {
		artefacts := filepath.Join(b.TempDir(), "artefacts")
		if _, err := manykernels.Copy(artefacts, oneArtefact, n); err != nil {
			b.Fatal(err)
		}
		generate := func(b *testing.B, dir string) {
			result, err := Generate(Config{Package: "many", Dir: dir, Paths: []string{artefacts}})
			if err != nil {
				b.Fatal(err)
			}
			if err := Write(dir, result.Files); err != nil {
				b.Fatal(err)
			}
		}
		b.Run(fmt.Sprintf("%d/new", n), func(b *testing.B) {
			b.ReportAllocs()
			for i := 0; b.Loop(); i++ {
				generate(b, filepath.Join(b.TempDir(), fmt.Sprint(i)))
			}
			b.ReportMetric(float64(b.Elapsed().Microseconds())/float64(b.N*n), "µs/kernel")
		})
		b.Run(fmt.Sprintf("%d/again", n), func(b *testing.B) {
			dir := b.TempDir()
			generate(b, dir)
			b.ReportAllocs()
			for b.Loop() {
				generate(b, dir)
			}
			b.ReportMetric(float64(b.Elapsed().Microseconds())/float64(b.N*n), "µs/kernel")
		})
	}
}

// BenchmarkOwnAgain generates our own packages with nothing to change.
func BenchmarkOwnAgain(b *testing.B) {
	folders, err := filepath.Glob(ownArtefacts + "/*")
	if err != nil || len(folders) == 0 {
		b.Fatal("no artefacts", err)
	}
	root := b.TempDir()
	generate := func() {
		for _, folder := range folders {
			dir := filepath.Join(root, filepath.Base(folder))
			result, err := Generate(Config{Package: filepath.Base(folder), Dir: dir, Paths: []string{folder}})
			if err != nil {
				b.Fatal(err)
			}
			if err := Write(dir, result.Files); err != nil {
				b.Fatal(err)
			}
		}
	}
	generate()
	for b.Loop() {
		generate()
	}
}
