package main

import (
	"bytes"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/kerngen/kerngen/gen"
)

var update = flag.Bool("update", false, "rewrite what scripts compare output with")

func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){"kerngen": main, "fakepython": fakePython})
}

// Each script runs in a folder with real artefacts below aot/, jit-cache/ and
// inductor-cache/.
func TestScripts(t *testing.T) {
	root, err := filepath.Abs("../..")
	if err != nil {
		t.Fatal(err)
	}
	testscript.Run(t, testscript.Params{
		Dir:                 "testdata/script",
		RequireExplicitExec: true,
		RequireUniqueNames:  true,
		UpdateScripts:       *update,
		Setup: func(e *testscript.Env) error {
			e.Setenv("GOPACKAGE", "")
			e.Setenv("ROOT", root)
			e.Setenv("GOPROXY", "off")
			e.Setenv("GOFLAGS", "")
			e.Setenv("GOCACHE", goEnv("GOCACHE", ".cache/go-build"))
			e.Setenv("GOMODCACHE", goEnv("GOMODCACHE", "go/pkg/mod"))
			for _, dir := range []string{"aot", "jit-cache", "inductor-cache"} {
				if err := os.CopyFS(filepath.Join(e.WorkDir, dir), os.DirFS(filepath.Join(root, "gen/testdata/triton-3.6.0", dir))); err != nil {
					return err
				}
			}
			return nil
		},
		Cmds: map[string]func(*testscript.TestScript, bool, []string){"age": age, "unchanged": unchanged},
	})
}

func goEnv(name, below string) string {
	if v := os.Getenv(name); v != "" {
		return v
	}
	home, _ := os.UserHomeDir()
	return filepath.Join(home, below)
}

var long = time.Date(2020, 1, 2, 3, 4, 5, 0, time.UTC)

// age dates files long ago: age FILE...
func age(ts *testscript.TestScript, neg bool, args []string) {
	for _, name := range args {
		ts.Check(os.Chtimes(ts.MkAbs(name), long, long))
	}
}

// unchanged checks that files were not written since age: unchanged FILE...
func unchanged(ts *testscript.TestScript, neg bool, args []string) {
	for _, name := range args {
		info, err := os.Stat(ts.MkAbs(name))
		ts.Check(err)
		if info.ModTime().Equal(long) == neg {
			ts.Fatalf("%s was written: %v", name, !neg)
		}
	}
}

func TestRun(t *testing.T) {
	for _, c := range []struct {
		args   []string
		status int
		stdout string
		stderr string
	}{
		{nil, exitUsage, "", "kerngen: a command is needed: init, generate, check, inspect, schema or version\nRun \"kerngen --help\" for its use.\n"},
		{[]string{"frobnicate"}, exitUsage, "", "kerngen: there is no command \"frobnicate\"\nRun \"kerngen --help\" for its use.\n"},
		{[]string{"--frobnicate"}, exitUsage, "", "kerngen: unknown flag: --frobnicate\nRun \"kerngen --help\" for its use.\n"},
		{[]string{"version", "x"}, exitUsage, "", "kerngen: version takes no arguments, not \"x\"\nRun \"kerngen version --help\" for its use.\n"},
		{[]string{"version"}, exitOK, "kerngen ", ""},
		{[]string{"--help"}, exitOK, "kerngen reads what Triton's compiler wrote", ""},
		{[]string{"help", "generate"}, exitOK, "Generate makes a Go package", ""},
	} {
		var stdout, stderr bytes.Buffer
		if status := run(c.args, &stdout, &stderr); status != c.status {
			t.Errorf("%q: status %d, want %d", c.args, status, c.status)
		}
		if !strings.HasPrefix(stdout.String(), c.stdout) || c.stdout == "" && stdout.Len() > 0 || stderr.String() != c.stderr {
			t.Errorf("%q: stdout %q, stderr %q", c.args, &stdout, &stderr)
		}
	}
}

// Help is read on terminals of 80 columns.
func TestHelpIsNarrow(t *testing.T) {
	var stdout bytes.Buffer
	run([]string{"help", "generate"}, &stdout, &stdout)
	text, _, _ := strings.Cut(stdout.String(), "Usage:")
	for _, line := range strings.Split(text, "\n") {
		if len(line) > 80 {
			t.Errorf("%d columns: %s", len(line), line)
		}
	}
}

func TestPrintError(t *testing.T) {
	for _, c := range []struct {
		err  error
		want string
	}{
		{&gen.Error{Pos: "a:1", Fault: "bad", Remedy: "mend"}, "a:1: bad; mend\n"},
		{&gen.Error{Fault: "bad"}, "kerngen: bad\n"},
		{os.ErrClosed, "kerngen: this is a fault of kerngen's own, please report it: file already closed\n"},
	} {
		var b bytes.Buffer
		printError(&b, c.err)
		if b.String() != c.want {
			t.Errorf("got %q, want %q", &b, c.want)
		}
	}
}
