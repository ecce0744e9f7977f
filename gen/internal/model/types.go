package model

// Type is a run-time parameter's type in Triton's terms.
type Type struct {
	Elem    string // Triton's name: "i1", "i8", …, "u64", "fp16", "bf16", "fp32", "fp64", "fp8e4nv", …
	Pointer int    // levels of indirection: 0 a scalar, 1 "*fp32"
	Const   bool   // "*kfp32": the kernel does not write through it
}
