package compile

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"testing"

	"github.com/kerngen/kerngen/gen/internal/config"
)

// BenchmarkCompile compares a run that compiles everything with a loop over
// triton.compile. "go test -cpu 1,2 -bench Compile -benchtime 3x" uses as many
// workers; to have one core, run it below "taskset -c 0".
func BenchmarkCompile(b *testing.B) {
	python := pythons(b)[0]
	dir := b.TempDir()
	if err := os.CopyFS(dir, os.DirFS(filepath.Join("testdata", "bench"))); err != nil {
		b.Fatal(err)
	}
	c, err := config.Load(filepath.Join(dir, config.FileName))
	if err != nil {
		b.Fatal(err)
	}
	run := func(b *testing.B) {
		if _, err := Run(context.Background(), c, Options{Python: python, Mode: Always}); err != nil {
			b.Fatal(err)
		}
	}
	run(b) // the plan of the next knows all requests
	p, err := read(filepath.Join(dir, c.Artefacts), c, Auto, "")
	if err != nil {
		b.Fatal(err)
	}
	var requests bytes.Buffer
	for _, j := range p.jobs {
		line, err := json.Marshal(j.request)
		if err != nil {
			b.Fatal(err)
		}
		fmt.Fprintf(&requests, "%s\n", line)
	}
	list := filepath.Join(dir, "requests")
	if err := os.WriteFile(list, requests.Bytes(), 0o666); err != nil {
		b.Fatal(err)
	}
	b.Run("bare", func(b *testing.B) {
		for b.Loop() {
			if out, err := exec.Command(python, filepath.Join("testdata", "bare.py"), dir, list).CombinedOutput(); err != nil {
				b.Fatalf("%v\n%s", err, out)
			}
		}
		b.ReportMetric(float64(len(p.jobs)), "images")
	})
	b.Run("kerngen", func(b *testing.B) {
		for b.Loop() {
			run(b)
		}
		b.ReportMetric(float64(runtime.GOMAXPROCS(0)), "workers")
	})
}
