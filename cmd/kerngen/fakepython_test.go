package main

import (
	"bufio"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// fakePython is the program "fakepython": it answers kerngen's driver requests
// as a Python with Triton would whose sources all hold add_kernel. What it
// compiles are the real artefacts below aot/ beside kerngen.yaml. A source may
// tell it to misbehave, by one of the marks below, and the file "triton" beside
// kerngen.yaml to be another release.
func fakePython() {
	root := os.Args[2]
	version := "3.6.0"
	if text, err := os.ReadFile(filepath.Join(root, "triton")); err == nil {
		version = strings.TrimSpace(string(text))
	}
	if version == "none" || version == "old" {
		message := map[string]string{"none": "cannot import triton: ModuleNotFoundError: No module named 'triton'", "old": "Triton 3.2.0 at /there is too old"}
		answer("error", map[string]any{"message": message[version], "python": "3.99.0"})
		return
	}
	answer("result", map[string]any{"triton": version, "options": []string{"num_stages", "num_warps"}})
	requests := bufio.NewScanner(os.Stdin)
	for requests.Scan() {
		var r struct {
			Op, Source, Kernel, Folder string
			Kernels                    []string
			Arch                       int
		}
		if err := json.Unmarshal(requests.Bytes(), &r); err != nil {
			panic(err)
		}
		source, err := os.ReadFile(filepath.Join(root, r.Source))
		if err != nil {
			panic(err)
		}
		hash := sha256.Sum256(source)
		files := []map[string]string{{"path": r.Source, "name": r.Source, "sha256": hex.EncodeToString(hash[:])}}
		says := func(mark string) bool { return strings.Contains(string(source), mark) }
		switch {
		case r.Op == "inspect" && says("# raises"):
			fmt.Fprintln(os.Stderr, "what the file printed")
			answer("error", map[string]any{"message": "cannot be imported: vec.py:3: ValueError: no such thing"})
			continue
		case r.Op == "inspect" && !slices.Contains(r.Kernels, "add_kernel"):
			known := []string{"add_kernel", "sub_kernel"}
			answer("result", map[string]any{"files": files, "faults": map[string]any{r.Kernels[0]: map[string]any{"message": fmt.Sprintf("has no %q", r.Kernels[0]), "known": known}}})
			continue
		case r.Op == "inspect":
			answer("result", map[string]any{"files": files, "kernels": map[string]any{"add_kernel": addKernelFacts}})
			continue
		case says("# slow on sm_90") && r.Arch == 90:
			time.Sleep(time.Hour)
		case says("# wrong on sm_80") && r.Arch == 80:
			fmt.Fprintln(os.Stderr, "what LLVM has to say")
			answer("error", map[string]any{"message": "CompilationError: at 7:4:\nundefined is not defined"})
			continue
		}
		if err := os.CopyFS(r.Folder, os.DirFS(filepath.Join(root, "aot", fmt.Sprintf("add.sm%d", r.Arch)))); err != nil {
			panic(err)
		}
		answer("result", map[string]any{"name": r.Kernel, "files": files})
	}
}

var addKernelFacts = map[string]any{"params": []map[string]any{
	{"name": "x_ptr"}, {"name": "y_ptr"}, {"name": "out_ptr"}, {"name": "n_elements"}, {"name": "BLOCK_SIZE", "constexpr": true},
}}

func answer(kind string, value any) {
	line, err := json.Marshal(map[string]any{kind: value})
	if err != nil {
		panic(err)
	}
	fmt.Println(string(line))
}
