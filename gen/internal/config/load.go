package config

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/kerngen/kerngen/gen/internal/diag"
)

// Locate returns the path of kerngen.yaml in dir or the nearest folder above it,
// up to the one that holds go.mod: beyond the module's root lies what is not the
// user's, and the file names Python that will be run.
func Locate(dir string) (string, error) {
	abs, err := filepath.Abs(dir)
	if err != nil {
		return "", diag.Errorf(dir, "%v", err)
	}
	for at, up := abs, dir; ; at, up = filepath.Dir(at), filepath.Join(up, "..") {
		path := filepath.Join(up, FileName)
		if info, err := os.Stat(path); err == nil && info.Mode().IsRegular() {
			return path, nil
		}
		if _, err := os.Stat(filepath.Join(at, "go.mod")); err == nil || at == filepath.Dir(at) {
			return "", diag.Errorf(filepath.ToSlash(dir), "no %s here or above, up to the module's root", FileName).
				Fix("name one with --config, or a PATH of artefacts")
		}
	}
}

// maxFile bounds the file, in bytes.
const maxFile = 4 << 20

// Load reads the configuration at path. Its error lists all faults.
func Load(path string) (*Config, error) {
	pos := filepath.ToSlash(path)
	f, err := os.Open(path)
	if err != nil {
		return nil, diag.Errorf(pos, "%v", diag.Bare(err))
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, maxFile+1))
	if err != nil {
		return nil, diag.Errorf(pos, "%v", diag.Bare(err))
	}
	if len(data) > maxFile {
		return nil, diag.Errorf(pos, "is larger than %d MiB", maxFile>>20)
	}
	c, err := parse(pos, data)
	if err != nil {
		return nil, err
	}
	c.Dir = filepath.Dir(path)
	if err := c.checkSources(); err != nil {
		return nil, err
	}
	return c, nil
}

// parse reads the file's content.
func parse(path string, data []byte) (*Config, error) {
	d := &decoder{path: path}
	dec := yaml.NewDecoder(strings.NewReader(string(data)))
	var document, second yaml.Node
	if err := dec.Decode(&document); err != nil {
		if errors.Is(err, io.EOF) {
			return nil, diag.Errorf(path, "is empty").Fix("it lists targets and packages")
		}
		return nil, syntaxFault(path, err)
	}
	switch err := dec.Decode(&second); {
	case err == nil:
		return nil, diag.Errorf(d.pos(&second), "a second document; %s has one", FileName)
	case !errors.Is(err, io.EOF):
		return nil, syntaxFault(path, err)
	}
	c := &Config{Path: path, Artefacts: defaultArtefacts}
	root := document.Content[0]
	if d.checkAliases(root) {
		object(d, root, "the configuration", configFields, c)
	}
	if err := d.faults.Err(); err != nil {
		return nil, err
	}
	return c, nil
}

var yamlLine = regexp.MustCompile(`^yaml: (?:line (\d+): )?(.*)$`)

// syntaxFault is an error of the YAML reader, which knows the line only.
func syntaxFault(path string, err error) error {
	text := strings.ReplaceAll(err.Error(), "\n", " ")
	if m := yamlLine.FindStringSubmatch(text); m != nil {
		if text = m[2]; m[1] != "" {
			path += ":" + m[1]
		}
	}
	return diag.Errorf(path, "not YAML: %s", text)
}

// checkSources looks for the Python files.
func (c *Config) checkSources() error {
	var faults diag.List
	for _, p := range c.Packages {
		for _, k := range p.Kernels {
			info, err := os.Stat(filepath.Join(c.Dir, filepath.FromSlash(k.Source.Text)))
			switch {
			case errors.Is(err, fs.ErrNotExist):
				faults.Add(c.missingSource(k.Source))
			case err != nil:
				faults.Add(diag.Errorf(k.Source.Pos, "source %q: %v", k.Source.Text, diag.Bare(err)))
			case !info.Mode().IsRegular():
				faults.Add(diag.Errorf(k.Source.Pos, "source %q is not a file", k.Source.Text))
			}
		}
	}
	return faults.Err()
}

// missingSource suggests a neighbour of a similar name.
func (c *Config) missingSource(source Name) error {
	fault := diag.Errorf(source.Pos, "source %q does not exist", source.Text)
	found, _ := filepath.Glob(filepath.Join(c.Dir, filepath.Dir(filepath.FromSlash(source.Text)), "*.py")) // the pattern is well formed unless the folder's name is odd
	var names []string
	for _, f := range found {
		if rel, err := filepath.Rel(c.Dir, f); err == nil {
			names = append(names, filepath.ToSlash(rel))
		}
	}
	if near := closest(source.Text, names); near != "" {
		return fault.Fix("did you mean %q?", near)
	}
	return fault.Fix("it is looked for in the folder of %s", FileName)
}
