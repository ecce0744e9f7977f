package artefact

import (
	"encoding/json"
	"fmt"
	"strconv"
	"strings"

	"github.com/kerngen/kerngen/gen/internal/diag"
)

// LaunchMetaVersion is the abi_version of NAME.launch_metadata that this
// package reads.
const LaunchMetaVersion = 1

// LaunchMeta is NAME.launch_metadata, which a fork of Triton writes: what
// NAME.json says of the launch, and the arguments. It names no constants.
type LaunchMeta struct {
	Entry      string
	Args       []LaunchArg
	Constants  map[int]Constant // by position in the source; None and what is folded at 1 among them
	NumWarps   int
	NumCTAs    int
	Shared     int
	Foreign    string // what a launch would have to do that Triton's does not; "" for nothing
	Descriptor bool   // host tensor descriptors are passed
}

// LaunchArg is one argument that the kernel is passed.
type LaunchArg struct {
	Name        string
	Type        string // "i32", "*fp16"
	Index       int    // position in the source
	DivisibleBy int    // 0 where there is no promise
}

// parseLaunchMeta reads NAME.launch_metadata. As in NAME.json, keys that are
// not known are ignored, except those that a fork would launch otherwise for.
func parseLaunchMeta(pos string, data []byte) (*LaunchMeta, error) {
	if err := checkJSON(pos, data); err != nil {
		return nil, err
	}
	o := object{pos: pos}
	if err := json.Unmarshal(data, &o.fields); err != nil {
		return nil, diag.Errorf(pos, "not a JSON object: %v", err)
	}
	if v := o.integer("abi_version", required, 0, 0, 1<<30); v != LaunchMetaVersion {
		return nil, diag.Errorf(pos, "abi_version %d is unknown", v).Fix("this kerngen reads %d", LaunchMetaVersion)
	}
	m := &LaunchMeta{
		Entry:      o.text("entry_name", required),
		NumWarps:   o.integer("num_warps", required, 0, 1, maxWarps),
		NumCTAs:    o.integer("num_ctas", required, 0, 1, maxCTAs),
		Shared:     o.integer("shared_mem", optional, 0, 0, maxShared),
		Descriptor: len(o.objects("tensordesc_meta")) > 0,
	}
	for _, key := range []string{"launch_cluster", "preferred_cluster_dims", "auto_tma_recipes"} {
		switch v := strings.Join(strings.Fields(string(o.fields[key])), ""); v {
		case "", "null", "false", "[]", "[0,0,0]":
		default:
			m.Foreign = key
		}
	}
	m.Args = o.launchArgs()
	m.Constants = o.launchConstants()
	for _, a := range m.Args {
		if _, ok := m.Constants[a.Index]; ok {
			o.faults.Add(diag.Errorf(pos, "position %d is both argument %s and a constant", a.Index, a.Name))
		}
	}
	if err := o.faults.Err(); err != nil {
		return nil, err
	}
	return m, nil
}

func (o *object) launchArgs() []LaunchArg {
	v, ok := o.get("args", required)
	if !ok {
		return nil
	}
	var list []map[string]json.RawMessage
	if err := json.Unmarshal(v, &list); err != nil {
		o.fault("args", "is not an array of objects")
		return nil
	}
	if len(list) > maxLaunchArgs {
		o.faults.Add(diag.Errorf(o.pos, "key %q: more than %d arguments", o.in+"args", maxLaunchArgs))
		return nil
	}
	var args []LaunchArg
	names, last := map[string]bool{}, -1
	for i, fields := range list {
		e := object{pos: o.pos, in: fmt.Sprintf("args[%d].", i), fields: fields}
		a := LaunchArg{
			Name:        e.text("name", required),
			Type:        e.text("type", required),
			Index:       e.integer("index", required, 0, 0, maxLaunchArgs),
			DivisibleBy: e.integer("divisible_by", optional, 0, 1, 1<<20),
		}
		switch {
		case e.faults.Err() != nil:
		case !IsIdentifier(a.Name):
			e.fault("name", "is not the name of an argument")
		case names[a.Name]:
			e.fault("name", "is given twice")
		case a.Index <= last:
			e.fault("index", "does not follow %d", last)
		}
		names[a.Name], last = true, a.Index
		o.faults.Add(e.faults.Err())
		args = append(args, a)
	}
	return args
}

// maxLaunchArgs is far beyond what a kernel can take.
const maxLaunchArgs = 1 << 13

// launchConstants reads the constants by position. A key such as "(1, 0)", a
// tuple's member, has none that could be compared with an argument's.
func (o *object) launchConstants() map[int]Constant {
	v, ok := o.get("constants", optional)
	if !ok {
		return nil
	}
	var values map[string]json.RawMessage
	if err := json.Unmarshal(v, &values); err != nil {
		o.fault("constants", "is not an object")
		return nil
	}
	if len(values) > maxLaunchArgs {
		o.faults.Add(diag.Errorf(o.pos, "key %q: more than %d constants", o.in+"constants", maxLaunchArgs))
		return nil
	}
	constants := map[int]Constant{}
	for key, raw := range values {
		index, err := strconv.Atoi(key)
		if err != nil || index < 0 || index > maxLaunchArgs {
			o.faults.Add(diag.Errorf(o.pos, "constants: %q is not the position of a parameter", key).
				Fix("kerngen reads no tuples from this file; remove it, or describe the kernel in a .kerngen.json"))
			continue
		}
		var c Constant
		var boolean bool
		var text string
		var float float64
		integer, notInteger := strconv.ParseInt(string(raw), 10, 64)
		switch {
		case string(raw) == "null":
			c.None = true
		case json.Unmarshal(raw, &boolean) == nil:
			c.Bool = &boolean
		case notInteger == nil:
			c.Int = &integer
		case json.Unmarshal(raw, &text) == nil:
			c.String = &text
		case json.Unmarshal(raw, &float) == nil:
			c.Float = &float
		default:
			o.faults.Add(diag.Errorf(o.pos, "constants: the value of %s is no constant", key))
		}
		constants[index] = c
	}
	return constants
}
