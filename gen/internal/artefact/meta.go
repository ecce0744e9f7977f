package artefact

import (
	"encoding/json"
	"fmt"
	"math/bits"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"github.com/kerngen/kerngen/gen/internal/diag"
)

// Bounds of what a launch can mean; a value outside them is no metadata of a
// kernel. The device's own limits are the runtime's business.
const (
	maxWarps   = 64        // 2,048 threads, twice what a block may have
	maxCTAs    = 16        // the largest cluster, a non-portable one
	maxShared  = 1 << 24   // bytes; an SM has 228 KiB
	maxColumns = 4096      // of tensor memory; an SM has 512
	maxScratch = 1<<31 - 1 // bytes of one CTA
	maxAlign   = 1 << 20
	maxBlock   = 1024 // elements of a tensor map's box along one dimension, or pixels of an im2col map's column
	maxRank    = 5    // dimensions of a tensor map
	maxSwizzle = 3    // CUtensorMapSwizzle: 128 bytes
	maxType    = 15   // CUtensorMapDataType
)

// foreignLaunch are keys that a fork of Triton writes: a launch with any of them
// counts the grid otherwise than Triton's does.
var foreignLaunch = []string{"launch_cluster", "ctas_per_cga", "preferred_ctas_per_cga"}

// parseMeta reads NAME.json.
func parseMeta(pos string, data []byte) (*Meta, error) {
	if err := checkJSON(pos, data); err != nil {
		return nil, err
	}
	o := object{pos: pos}
	if err := json.Unmarshal(data, &o.fields); err != nil {
		return nil, diag.Errorf(pos, "not a JSON object: %v", err)
	}
	return o.meta()
}

// meta reads the keys of NAME.json.
func (o *object) meta() (*Meta, error) {
	m := &Meta{
		Name:            o.text("name", required),
		TritonVersion:   o.text("triton_version", optional),
		NumWarps:        o.integer("num_warps", required, 0, 1, maxWarps),
		NumCTAs:         o.integer("num_ctas", required, 0, 1, maxCTAs),
		Shared:          o.integer("shared", required, 0, 0, maxShared),
		TensorMemory:    o.integer("tmem_size", optional, 0, 0, maxColumns),
		GlobalScratch:   o.scratch("global_scratch"),
		ProfileScratch:  o.scratch("profile_scratch"),
		Cooperative:     o.boolean("launch_cooperative_grid"),
		PDL:             o.boolean("launch_pdl"),
		MaxRegisters:    o.integer("maxnreg", optional, 0, 0, 1<<16),
		PTXOptions:      o.text("ptx_options", optional),
		Instrumentation: o.text("instrumentation_mode", optional),
	}
	if strings.ContainsFunc(m.Name, func(r rune) bool { return unicode.IsControl(r) || unicode.IsSpace(r) }) {
		o.fault("name", "is no symbol")
	}
	m.ClusterDims = o.cluster(m.NumCTAs)
	o.target(m)
	if m.Backend == "cuda" { // others have entries of their own
		m.Descriptors = o.descriptors("tensordesc_meta")
	}
	for _, key := range foreignLaunch {
		if v := string(o.fields[key]); v != "" && v != "null" && v != "false" {
			o.faults.Add(diag.Errorf(o.pos, "key %q: clusters of this kind are not supported", key).
				Fix("compile the kernel with num_ctas instead"))
		}
	}
	if err := o.faults.Err(); err != nil {
		return nil, err
	}
	return m, nil
}

// presence says whether a key may be absent or null.
type presence bool

const (
	optional presence = false
	required presence = true
)

// object reads the values of a JSON object and collects what is wrong.
type object struct {
	pos    string
	in     string // "target." inside of target
	fields map[string]json.RawMessage
	faults diag.List
}

func (o *object) fault(key, format string, args ...any) {
	value := string(o.fields[key])
	if r := []rune(value); len(r) > 80 {
		value = string(r[:80]) + "…"
	}
	o.faults.Add(diag.Errorf(o.pos, "key %q: %s "+format, append([]any{o.in + key, value}, args...)...))
}

// get returns the value of key, or false where it is absent or null.
func (o *object) get(key string, p presence) (json.RawMessage, bool) {
	v, ok := o.fields[key]
	if !ok || string(v) == "null" {
		if p == required {
			what := "is missing"
			if ok {
				what = "is null"
			}
			o.faults.Add(diag.Errorf(o.pos, "key %q %s", o.in+key, what).
				Fix("the file must be the metadata that Triton's compiler writes"))
		}
		return nil, false
	}
	return v, true
}

func (o *object) text(key string, p presence) string {
	v, ok := o.get(key, p)
	if !ok {
		return ""
	}
	var s string
	if json.Unmarshal(v, &s) != nil {
		o.fault(key, "is not a string")
	} else if s == "" && p == required {
		o.fault(key, "is empty")
	}
	return s
}

func (o *object) boolean(key string) bool {
	v, ok := o.get(key, optional)
	if ok && string(v) != "true" && string(v) != "false" {
		o.fault(key, "is neither true nor false")
	}
	return string(v) == "true"
}

// integer returns absent where the key is absent or null.
func (o *object) integer(key string, p presence, absent, low, high int) int {
	v, ok := o.get(key, p)
	if !ok {
		return absent
	}
	n, err := strconv.ParseInt(string(v), 10, 64)
	if err != nil {
		o.fault(key, "is not a whole number")
	} else if n < int64(low) || n > int64(high) {
		o.fault(key, "is not between %d and %d", low, high)
	}
	return int(n)
}

// scratch reads KIND_size and KIND_align.
func (o *object) scratch(kind string) Scratch {
	s := Scratch{
		Size:  o.integer(kind+"_size", optional, 0, 0, maxScratch),
		Align: o.integer(kind+"_align", optional, 1, 1, maxAlign),
	}
	if s.Align >= 1 && bits.OnesCount(uint(s.Align)) != 1 {
		o.fault(kind+"_align", "is not a power of two")
	}
	return s
}

// objects reads an array of objects.
func (o *object) objects(key string) []map[string]json.RawMessage {
	v, ok := o.get(key, optional)
	if !ok {
		return nil
	}
	var list []map[string]json.RawMessage
	if json.Unmarshal(v, &list) != nil || slices.ContainsFunc(list, func(e map[string]json.RawMessage) bool { return e == nil }) {
		o.fault(key, "is not an array of objects")
		return nil
	}
	return list
}

// descriptors reads how tensor maps are encoded.
func (o *object) descriptors(key string) []Descriptor {
	var all []Descriptor
	for i, fields := range o.objects(key) {
		e := object{pos: o.pos, in: fmt.Sprintf("%s[%d].", key, i), fields: fields}
		all = append(all, Descriptor{
			Swizzle:   e.integer("swizzle", required, 0, 0, maxSwizzle),
			ElemSize:  e.integer("elem_size", required, 0, 1, 8),
			ElemType:  e.integer("elem_type", required, 0, 0, maxType),
			Block:     e.block("block_size"),
			FP4Padded: e.boolean("fp4_padded"),
			Im2col:    e.boolean("is_im2col"),
		})
		o.faults.Add(e.faults.Err())
	}
	return all
}

// block reads an array of 1 to maxRank extents.
func (o *object) block(key string) []int {
	v, ok := o.get(key, required)
	if !ok {
		return nil
	}
	var block []int
	switch err := json.Unmarshal(v, &block); {
	case err != nil || len(block) < 1 || len(block) > maxRank:
		o.fault(key, "is not an array of 1 to %d whole numbers", maxRank)
	case slices.Min(block) < 1 || slices.Max(block) > maxBlock:
		o.fault(key, "has an extent that is not between 1 and %d", maxBlock)
	}
	return block
}

// cluster reads cluster_dims, which Triton wrote up to 3.5.
func (o *object) cluster(numCTAs int) [3]int {
	const key = "cluster_dims"
	implied := [3]int{numCTAs, 1, 1}
	v, ok := o.get(key, optional)
	if !ok {
		return implied
	}
	var dims []int
	if json.Unmarshal(v, &dims) != nil || len(dims) != 3 {
		o.fault(key, "is not an array of three whole numbers")
		return implied
	}
	product := 1
	for _, d := range dims {
		if d < 1 || d > maxCTAs {
			o.fault(key, "has a side that is not between 1 and %d", maxCTAs)
			return implied
		}
		product *= d
	}
	if product != numCTAs {
		o.fault(key, "does not hold the %d CTAs of num_ctas", numCTAs)
	}
	return [3]int(dims)
}

// target reads what the kernel was compiled for.
func (o *object) target(m *Meta) {
	v, ok := o.get("target", required)
	if !ok {
		return
	}
	t := object{pos: o.pos, in: "target."}
	if json.Unmarshal(v, &t.fields) != nil {
		o.fault("target", "is not an object")
		return
	}
	m.Backend = t.text("backend", required)
	m.WarpSize = t.number("warp_size", 1, 128)
	if m.Backend == "cuda" {
		m.Arch = t.number("arch", 10, 999)
	} else {
		t.text("arch", required)
	}
	o.faults.Add(t.faults.Err())
}

// number reads a required integer that some versions write as a string.
func (o *object) number(key string, low, high int) int {
	var s string
	if v := o.fields[key]; json.Unmarshal(v, &s) != nil || s == "" {
		return o.integer(key, required, 0, low, high)
	}
	n, err := strconv.Atoi(s)
	if err != nil || n < low || n > high {
		o.fault(key, "is not a number between %d and %d", low, high)
	}
	return n
}
