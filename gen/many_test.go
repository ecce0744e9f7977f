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
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			artefacts := b.TempDir()
			if _, err := manykernels.Copy(artefacts, oneArtefact, n); err != nil {
				b.Fatal(err)
			}
			perKernel := func(b *testing.B) {
				b.ReportMetric(float64(b.Elapsed().Microseconds())/float64(b.N*n), "µs/kernel")
			}
			b.Run("new", func(b *testing.B) {
				b.ReportAllocs()
				root := b.TempDir()
				for i := 0; b.Loop(); i++ {
					generateInto(b, filepath.Join(root, fmt.Sprint(i)), artefacts)
				}
				perKernel(b)
			})
			b.Run("again", func(b *testing.B) {
				dir := b.TempDir()
				generateInto(b, dir, artefacts)
				b.ReportAllocs()
				for b.Loop() {
					generateInto(b, dir, artefacts)
				}
				perKernel(b)
			})
		})
	}
}

func generateInto(b *testing.B, dir, artefacts string) {
	result, err := Generate(Config{Package: "p", Dir: dir, Paths: []string{artefacts}})
	if err != nil {
		b.Fatal(err)
	}
	if err := Write(dir, result.Files); err != nil {
		b.Fatal(err)
	}
}

// BenchmarkOwnAgain generates our own packages with nothing to change.
func BenchmarkOwnAgain(b *testing.B) {
	folders := ownPackages(b)
	root := b.TempDir()
	generate := func() {
		for _, folder := range folders {
			generateInto(b, filepath.Join(root, filepath.Base(folder)), folder)
		}
	}
	generate()
	for b.Loop() {
		generate()
	}
}
