package artefact

import (
	"math"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
)

// TestEncodeSidecar reads what Encode writes.
func TestEncodeSidecar(t *testing.T) {
	at := func(f float64) *Constant { return &Constant{Float: &f} }
	n, yes, text := int64(math.MinInt64), true, "a<b>&\u2028"
	s := &Sidecar{Schema: SidecarSchema, Kernel: "k", Triton: "3.6.0", Doc: "one\n<two>", Source: []SidecarFile{},
		Params: []SidecarParam{
			{Name: "p", Type: "*kfp32", TypeVar: "T", DivisibleBy: 16, Nullable: true},
			{Name: "desc", Type: "tensordesc<fp32[4]>", TypeVar: "T"},
			{Name: "i", Type: "i64", Folded: "one"},
			{Name: "a", Constant: &Constant{Int: &n}},
			{Name: "b", Constant: &Constant{Bool: &yes}},
			{Name: "c", Constant: &Constant{String: &text}},
			{Name: "d", Constant: &Constant{DType: "fp16"}},
			{Name: "e", Constant: &Constant{None: true}},
			{Name: "t", Tuple: []SidecarParam{{Constant: at(0.1)}, {Constant: at(1)}, {Constant: at(math.Inf(1))}, {Constant: at(math.Inf(-1))}, {Constant: at(math.NaN())}}},
		}, Grid: []string{"cdiv(i, 4)"}, Types: []SidecarType{{"T", "fp32"}}, Config: &SidecarConfig{1, "BLOCK=4", true}, Order: 3, Key: []string{"i"}}
	data, err := s.Encode()
	if err != nil {
		t.Fatal(err)
	}
	got, err := parseSidecar("k.kerngen.json", data)
	if err != nil {
		t.Fatalf("%v\n%s", err, data)
	}
	if diff := cmp.Diff(s, got, cmpopts.EquateNaNs()); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
}
