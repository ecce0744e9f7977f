package compile

import (
	"bufio"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// TestMain lets the test binary stand in for Python, see fakePython.
func TestMain(m *testing.M) {
	if script := os.Getenv("KERNGEN_TEST_FAKE"); script != "" {
		fakeDriver(script)
		return
	}
	os.Exit(m.Run())
}

// fakeSettings say how the fake behaves.
type fakeSettings struct {
	Triton       string
	Distribution string
	Missing      bool   // there is no Triton
	Log          string // file to which every request is added, a line each
}

// fakePython makes a program that answers as the driver does, without Python. A
// source is a fakeSource in JSON.
func fakePython(t *testing.T, s fakeSettings) string {
	t.Helper()
	settings, err := json.Marshal(s)
	if err != nil {
		t.Fatal(err)
	}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "python")
	script := fmt.Sprintf("#!/bin/sh\nGORACE=atexit_sleep_ms=0 KERNGEN_TEST_FAKE='%s' exec '%s' \"$@\"\n", settings, self)
	if err := os.WriteFile(path, []byte(script), 0o755); err != nil {
		t.Fatal(err)
	}
	return path
}

// fakeSource is a source: the files that it imports and its kernels.
type fakeSource struct {
	Imports []string
	Kernels map[string]*kernel
}

func fakeDriver(script string) {
	var s fakeSettings
	if err := json.Unmarshal([]byte(script), &s); err != nil {
		panic(err)
	}
	root := os.Args[2]
	send := func(answer map[string]any) {
		line, err := json.Marshal(answer)
		if err != nil {
			panic(err)
		}
		fmt.Println(string(line))
	}
	if s.Missing {
		send(map[string]any{"error": failure{Message: "cannot import triton: ModuleNotFoundError", Python: "3.99"}})
		return
	}
	send(map[string]any{"result": hello{Triton: s.Triton, Distribution: s.Distribution, Options: []string{"arch", "extern_libs", "num_stages", "num_warps"}}})
	in := bufio.NewScanner(os.Stdin)
	in.Buffer(nil, 1<<24)
	for in.Scan() {
		var r request
		if err := json.Unmarshal(in.Bytes(), &r); err != nil {
			panic(err)
		}
		log(s.Log, r)
		result, fault := fakeAnswer(root, r)
		if fault != nil {
			send(map[string]any{"error": fault})
			continue
		}
		send(map[string]any{"result": result})
	}
}

func log(path string, r request) {
	f, err := os.OpenFile(path, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o666)
	if err != nil {
		panic(err)
	}
	defer f.Close()
	fmt.Fprintf(f, "%s %s %s%s sm_%d\n", r.Op, r.Source, r.Kernel, strings.Join(r.Kernels, ","), r.Arch)
}

func fakeAnswer(root string, r request) (any, *failure) {
	data, err := os.ReadFile(filepath.Join(root, r.Source))
	if err != nil {
		return nil, &failure{Message: err.Error()}
	}
	var src fakeSource
	if err := json.Unmarshal(data, &src); err != nil {
		fmt.Fprintln(os.Stderr, "a line on standard error")
		return nil, &failure{Message: "cannot be imported: " + err.Error()}
	}
	var files []sourceFile
	for _, name := range append([]string{r.Source}, src.Imports...) {
		data, err := os.ReadFile(filepath.Join(root, name))
		if err != nil {
			return nil, &failure{Message: err.Error()}
		}
		h := sha256.Sum256(data)
		files = append(files, sourceFile{Path: name, Name: name, SHA256: hex.EncodeToString(h[:])})
	}
	switch r.Op {
	case "inspect":
		in := inspected{Files: files, Kernels: map[string]*kernel{}, Faults: map[string]*failure{}}
		for _, name := range r.Kernels {
			if k := src.Kernels[name]; k != nil {
				in.Kernels[name] = k
			} else {
				in.Faults[name] = &failure{Message: fmt.Sprintf("has no %q", name), Known: []string{"add"}}
			}
		}
		return in, nil
	case "heuristics":
		var out []map[string]given
		for _, constants := range r.Constants {
			for _, c := range constants {
				if c.Name == "BLOCK" {
					even := *c.Constant.Int%128 == 0
					out = append(out, map[string]given{"EVEN": {Constant: constantOf(even)}})
				}
			}
		}
		return out, nil
	}
	switch r.Kernel {
	case "fail":
		fmt.Fprintln(os.Stderr, "what MLIR printed")
		return nil, &failure{Message: fmt.Sprintf("CompilationError: at 3:4:\n  no %d", r.Arch)}
	case "newer":
		if r.Arch == 90 {
			return nil, &failure{Message: "Triton 3.6.0 does not know it", Target: true}
		}
	case "crash":
		fmt.Fprintln(os.Stderr, "LLVM ERROR: cannot select")
		os.Exit(3)
	case "hang":
		time.Sleep(time.Hour)
	case "meddle":
		files[0].SHA256 = strings.Repeat("0", 64)
	}
	request := r
	request.Folder = ""
	said, err := json.Marshal(request)
	if err != nil {
		return nil, &failure{Message: err.Error()}
	}
	for _, ext := range []string{".json", ".ttir", ".ptx", ".cubin", ".source"} {
		text := ext + " of " + string(said) + "\n"
		if r.Kernel == "incomplete" && ext == ".ptx" {
			text = ""
		}
		if err := os.WriteFile(filepath.Join(r.Folder, r.Kernel+ext), []byte(text), 0o666); err != nil {
			return nil, &failure{Message: err.Error()}
		}
	}
	return compiled{Name: r.Kernel, Files: files}, nil
}
