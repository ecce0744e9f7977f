package main

import (
	"bytes"
	"flag"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
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
			e.Setenv("XDG_CACHE_HOME", filepath.Join(e.WorkDir, "cache"))
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
		Cmds: map[string]func(*testscript.TestScript, bool, []string){"age": age, "unchanged": unchanged, "bad": bad},
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

// bad runs kerngen generate with a configuration that has a fault, and checks that
// it exits with 1 and says so, among whatever else, that it leaves the folders
// artefacts and vec as they were and nothing new beside them:
// bad WANT [sed SCRIPT FILE]...
func bad(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args)%3 != 1 {
		ts.Fatalf("usage: bad WANT [sed SCRIPT FILE]...")
	}
	before := treeOf(ts)
	for rest := args[1:]; len(rest) > 0; rest = rest[3:] {
		kept := ts.ReadFile(rest[2])
		ts.Check(ts.Exec("sed", "-i", rest[1], rest[2]))
		defer func() { ts.Check(os.WriteFile(ts.MkAbs(rest[2]), []byte(kept), 0o666)) }()
	}
	if err := ts.Exec("kerngen", "generate", "--python", "fakepython"); err == nil {
		ts.Fatalf("no error")
	}
	stderr := fakeFolder.ReplaceAllString(ts.ReadFile("stderr"), "fakepython")
	if !slices.Contains(strings.Split(stderr, "\n"), args[0]) {
		ts.Fatalf("it says\n%s\nwant\n%s", stderr, args[0])
	}
	if diff := cmp.Diff(before, treeOf(ts)); diff != "" {
		ts.Fatalf("(-before +after)\n%s", diff)
	}
}

var fakeFolder = regexp.MustCompile(`/\S+/fakepython`)

// treeOf is the content of what generate writes, and of what it has no business
// to.
func treeOf(ts *testscript.TestScript) map[string]string {
	tree := map[string]string{}
	root := ts.MkAbs(".")
	ts.Check(filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		name, _ := filepath.Rel(root, path)
		switch {
		case err != nil:
			return err
		case d.IsDir() && (d.Name() == "aot" || d.Name() == "cache" || strings.HasSuffix(d.Name(), "-cache")):
			return fs.SkipDir
		case d.Type().IsRegular() && filepath.Dir(name) != ".":
			content, err := os.ReadFile(path)
			tree[name] = string(content)
			return err
		}
		tree[name] = ""
		return nil
	}))
	return tree
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
