package main

import (
	"bytes"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/spf13/pflag"
)

const addArtefacts = "../../gen/testdata/triton-3.6.0/aot/add.sm80"

// badOptions are faults that the command line shows by itself, for each option
// of each command.
var (
	badOptions = map[string][]string{
		"package":      {"", "a b", "_", "func", "1"},
		"out":          {""},
		"name":         {"", "add_kernel", "=x", "add_kernel=", "add_kernel=a-b", "add_kernel=1"},
		"rename":       {"", "x_ptr", "=x", "x_ptr=", "x_ptr=a b"},
		"fold":         {"", "n=1", "add_kernel.=1", ".n=1", "add_kernel.n", "add_kernel.n=2", "add_kernel.n="},
		"signature":    {"", "add_kernel", "=n: i32", "add_kernel=n:", "add_kernel=n,", "add_kernel=n: i33", "add_kernel=n: i32:8"},
		"on-duplicate": {"", "x", "Error"},
		"depfile":      {"", "x", ".d", "x.mk"},
		"config":       {""},
		"python":       {""},
		"compile":      {"", "x"},
		"recompile":    {"", "x"},
		"json":         {"", "x"},
		"help":         {"", "x"},
	}
	withoutPath = []string{"config", "python", "compile", "recompile"}
)

// Whatever the command line shows by itself to be wrong ends with exitUsage and
// changes nothing; the table knows every option.
func TestBadOptionsAreUsage(t *testing.T) {
	for _, command := range rootCommand().Commands() {
		command.InitDefaultHelpFlag()
		command.Flags().VisitAll(func(f *pflag.Flag) {
			values, ok := badOptions[f.Name]
			if !ok {
				t.Errorf("%s: nothing is known of --%s", command.Name(), f.Name)
			}
			for _, value := range values {
				dir := t.TempDir()
				args := []string{command.Name(), "--" + f.Name + "=" + value}
				if command.Flags().Lookup("out") != nil && !slices.Contains(withoutPath, f.Name) {
					if f.Name != "package" {
						args = append(args, "--package=p")
					}
					if f.Name != "out" {
						args = append(args, "--out="+filepath.Join(dir, "out"))
					}
					args = append(args, addArtefacts)
				}
				status, stderr := runQuietly(args)
				if status != exitUsage || !strings.HasPrefix(stderr, "kerngen: ") || !strings.Contains(stderr, "--"+f.Name) && f.Name != "package" {
					t.Errorf("%q: status %d, %s", args, status, stderr)
				}
				if found, _ := filepath.Glob(filepath.Join(dir, "*")); found != nil {
					t.Errorf("%q made %v", args, found)
				}
			}
		})
	}
}

// Faults of the command line that are not of one option's value.
func TestBadCommandLinesAreUsage(t *testing.T) {
	out := "--out=" + filepath.Join(t.TempDir(), "out")
	t.Setenv("GOPACKAGE", "")
	for _, args := range []string{
		"generate --package=p", "check --package=p", "generate --out=x", "inspect", "inspect --json",
		"generate " + addArtefacts, "generate --package=p EMPTY", "check --package=p EMPTY", "inspect EMPTY",
		"generate --compile=never --package=p OUT " + addArtefacts, "generate --config=x --package=p OUT " + addArtefacts,
		"check --python=x --package=p OUT " + addArtefacts, "check --recompile --package=p OUT " + addArtefacts,
		"check --python=x", "check --python=x --config=x", "generate --python=x --compile=never",
		"generate --name=a=b --name=a=c --package=p OUT " + addArtefacts, "version x", "schema x", "frobnicate", "generate --frobnicate",
	} {
		fields := strings.Fields(args)
		for i, f := range fields {
			fields[i] = strings.NewReplacer("EMPTY", "", "OUT", out).Replace(f)
		}
		if status, stderr := runQuietly(fields); status != exitUsage {
			t.Errorf("%q: status %d, %s", fields, status, stderr)
		}
	}
}

// What only files show is a fault of the input.
func TestFaultsOfFilesAreNoUsage(t *testing.T) {
	for _, args := range []string{
		"--package=p nowhere", "--package=p --name=other=x " + addArtefacts, "--package=p --rename=other=x " + addArtefacts,
		"--package=p --fold=add_kernel.other=1 " + addArtefacts, "--package=p --depfile=nowhere/x.d " + addArtefacts,
		"--package=p --out=option_test.go " + addArtefacts,
	} {
		fields := append([]string{"generate", "--out=" + filepath.Join(t.TempDir(), "out")}, strings.Fields(args)...)
		if status, stderr := runQuietly(fields); status != exitFault || strings.Contains(stderr, "fault of kerngen") {
			t.Errorf("%q: status %d, %s", fields, status, stderr)
		}
	}
}

func runQuietly(args []string) (status int, stderr string) {
	var out, errs bytes.Buffer
	status = run(args, &out, &errs)
	return status, errs.String()
}
