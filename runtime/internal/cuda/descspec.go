package cuda

// Desc is a tensor in device memory as an args struct holds it: fixed in layout,
// for C reads it, and with a kernel's parameters as its fields, for the driver is
// passed their addresses. What lies beyond Rank is zero.
type Desc struct {
	Address   uint64
	Shape     [5]int64 // elements, outermost first; the lower half of each is a parameter too
	Strides   [5]int64 // elements
	NaN       bool     // what lies outside reads as NaN, not zero
	RoundTF32 bool     // float32 is rounded to TF32 when loaded
	Rank      uint8    // dimensions
	Strided   uint8    // how many strides there are
	_         [4]uint8
}

// MapSpec says how a kernel takes a Desc as a CUtensorMap.
type MapSpec struct {
	Param      int       // which of PlanSpec.Offsets is the Desc's
	Rank       int       // dimensions
	ElemSize   int       // bytes
	DataType   int       // CUtensorMapDataType
	Swizzle    int       // CUtensorMapSwizzle
	Box        [5]uint32 // elements loaded at a time, innermost dimension first
	FP4Padded  bool      // the map's innermost extent is twice the Desc's
	DoubledArg bool      // and so is the parameter that holds it: Param + Rank
	// Drivers up to CUDA 13.1 mark the maps of small tensors in a way that makes
	// some accesses fail; Unmarked takes the mark away.
	Unmarked bool
}
