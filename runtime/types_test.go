package kernrt

import (
	"reflect"
	"testing"
)

// What the check of a kernel takes, an args struct can have, and the other way
// round.
func TestCheckAndMatchesAgree(t *testing.T) {
	types := map[string]reflect.Type{
		"i32":                       reflect.TypeFor[int32](),
		"*fp32":                     reflect.TypeFor[Ptr[float32]](),
		"*kfp32":                    reflect.TypeFor[Ptr[float32]](),
		"**i64":                     reflect.TypeFor[Ptr[Ptr[int64]]](),
		"**kfp32":                   reflect.TypeFor[Ptr[Ptr[float32]]](),
		"*k*fp32":                   reflect.TypeFor[Ptr[Ptr[float32]]](),
		"***i8":                     reflect.TypeFor[Ptr[Ptr[Ptr[int8]]]](),
		"":                          nil,
		"*":                         nil,
		"*k":                        nil,
		"kfp32":                     nil,
		"*kkfp32":                   nil,
		"k*fp32":                    nil,
		"fp32*":                     nil,
		"*fp33":                     nil,
		"*i1 ":                      nil,
		"tensordesc<fp16[64, 64]>":  reflect.TypeFor[TensorDesc[Float16]](),
		"*tensordesc<fp16[64, 64]>": nil,
		"tensordesc<*fp16[64, 64]>": nil,
	}
	code := "code"
	for triton, want := range types {
		k := Kernel{Params: []Param{{Name: "p", Type: triton}}, Variants: []Variant{{Images: []Image{{
			Target: "sm_80", Code: &code, Symbol: "k", Args: []int{}, NumWarps: 1,
		}}}}}
		if err := k.check(); (err == nil) != (want != nil) {
			t.Errorf("%q: %v", triton, err)
		}
		for _, other := range types {
			if other != nil && matches(triton, other) != (other == want) {
				t.Errorf("%q matches %v: %t", triton, other, other != want)
			}
		}
	}
}
