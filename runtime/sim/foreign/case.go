package main

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"

	kernrt "github.com/kerngen/kerngen/runtime"
)

// launchCase is one launch of one kernel: a folder that trace.py wrote.
type launchCase struct {
	name string // the folder's
	dir  string

	Package, Version, Module, Kernel string
	Constants                        map[string]string
	Symbol                           string
	Grid                             [3]int
	NumWarps                         int `json:"num_warps"`
	Shared                           int // bytes
	Hidden                           int
	Cooperative                      bool
	GlobalScratch                    [2]int `json:"global_scratch"` // size, alignment
	ProfileScratch                   [2]int `json:"profile_scratch"`
	Params                           []param
	Buffers                          []buffer
	Fault                            string // of the kernel: what the simulated device says of it; it goes to no GPU
}

// param is a pointer into a buffer or a scalar, whose value is what Python prints.
type param struct {
	Name, Type string
	Buffer     int
	Offset     uint64 // bytes
	Value      string
}

// buffer is the memory of one tensor, shared by its views. Contents is a file of
// the case, "zero" or "undefined".
type buffer struct {
	Type     string
	Bytes    int
	Contents string
}

// poison is every byte of memory whose contents a case leaves undefined.
const poison = 0xA5

// readCases reads the cases of dir whose names match the expression, by name.
func readCases(dir, only string) ([]*launchCase, error) {
	match, err := regexp.Compile(only)
	if err != nil {
		return nil, err
	}
	paths, err := filepath.Glob(filepath.Join(dir, "*", "case.json"))
	if err != nil {
		return nil, err
	}
	var cases []*launchCase
	for _, path := range paths {
		c := &launchCase{dir: filepath.Dir(path), name: filepath.Base(filepath.Dir(path))}
		if !match.MatchString(c.name) {
			continue
		}
		text, err := os.ReadFile(path)
		if err != nil {
			return nil, err
		}
		if err := json.Unmarshal(text, c); err != nil {
			return nil, fmt.Errorf("%s: %w", path, err)
		}
		cases = append(cases, c)
	}
	if len(cases) == 0 {
		return nil, fmt.Errorf("%s: no case matches %q; trace.py makes some", dir, only)
	}
	return cases, nil
}

// kernel is the case's kernel, with its PTX as the only image.
func (c *launchCase) kernel() (*kernrt.Kernel, error) {
	ptx, err := os.ReadFile(filepath.Join(c.dir, "kernel.ptx"))
	if err != nil {
		return nil, err
	}
	code := string(ptx)
	k := &kernrt.Kernel{Name: c.name}
	image := kernrt.Image{
		Target: "sm_80", PTX: true, Code: &code, Symbol: c.Symbol, Hidden: c.Hidden, NumWarps: c.NumWarps, Shared: c.Shared, Cooperative: c.Cooperative,
		GlobalScratch: scratch(c.GlobalScratch), ProfileScratch: scratch(c.ProfileScratch),
	}
	for i, p := range c.Params {
		k.Params = append(k.Params, kernrt.Param{Name: p.Name, Type: p.Type, Nullable: strings.HasPrefix(p.Type, "*")})
		image.Args = append(image.Args, i)
	}
	k.Variants = []kernrt.Variant{{Images: []kernrt.Image{image}}}
	return k, nil
}

func scratch(s [2]int) kernrt.Scratch {
	if s[0] == 0 {
		return kernrt.Scratch{}
	}
	return kernrt.Scratch{Size: s[0], Align: s[1]}
}

// contents are what the buffers hold before the launch.
func (c *launchCase) contents() ([][]byte, error) {
	all := make([][]byte, len(c.Buffers))
	for i, b := range c.Buffers {
		switch b.Contents {
		case "zero":
			all[i] = make([]byte, b.Bytes)
		case "undefined":
			all[i] = make([]byte, b.Bytes)
			for j := range all[i] {
				all[i][j] = poison
			}
		default:
			text, err := os.ReadFile(filepath.Join(c.dir, b.Contents))
			if err != nil {
				return nil, err
			}
			if len(text) != b.Bytes {
				return nil, fmt.Errorf("%s: %s has %d bytes, not %d", c.name, b.Contents, len(text), b.Bytes)
			}
			all[i] = text
		}
	}
	return all, nil
}

// argument is the value of p for kernrt.Args.
func (p *param) argument(buffers []*kernrt.Buffer[uint8]) (any, error) {
	if elem, ok := strings.CutPrefix(p.Type, "*"); ok {
		if uint(p.Buffer) >= uint(len(buffers)) {
			return nil, fmt.Errorf("parameter %s: there is no buffer %d", p.Name, p.Buffer)
		}
		return kernrt.Address{Elem: strings.TrimPrefix(elem, "k"), Addr: buffers[p.Buffer].Ptr().Addr() + p.Offset}, nil
	}
	var value any
	var err error
	switch {
	case p.Type == "i1" || p.Type == "u1":
		value, err = strconv.ParseBool(p.Value)
	case p.Type[0] == 'u':
		value, err = strconv.ParseUint(p.Value, 10, 64)
	case p.Type[0] == 'i':
		value, err = strconv.ParseInt(p.Value, 10, 64)
	default:
		value, err = strconv.ParseFloat(p.Value, 64)
	}
	if err != nil {
		return nil, fmt.Errorf("parameter %s: %w", p.Name, err)
	}
	return value, nil
}
