package fakecuda

import "bytes"

// TensorMap is the arguments that a tensor map was encoded from.
type TensorMap struct {
	Type                                 int // CUtensorMapDataType
	Address                              uintptr
	Dims                                 []uint64 // elements, one for each dimension
	Strides                              []uint64 // bytes, of all but the first dimension
	Box                                  []uint32
	Steps                                []uint32 // the element strides
	Interleave, Swizzle, Promotion, Fill int
	Small                                bool // marked as such, by drivers up to CUDA 13.1
}

// TensorMaps returns every tensor map encoded since the last Reset, in order.
func (d *Driver) TensorMaps() []TensorMap {
	return read(d, encodings, func(r *reader) TensorMap {
		m, _ := DecodeTensorMap(r.take(int(r.u32())))
		return m
	})
}

// DecodeTensorMap reads the arguments back from a map that the fake encoded, such
// as a launch's parameter.
func DecodeTensorMap(image []byte) (_ TensorMap, ok bool) {
	if len(image) != 128 || !bytes.HasPrefix(image, []byte("KGTM")) {
		return TensorMap{}, false
	}
	r := reader(image[4:])
	head := r.take(12)
	m := TensorMap{
		Type:       int(head[0]),
		Interleave: int(head[2]), Swizzle: int(head[3]), Promotion: int(head[4]), Fill: int(head[6] & 1), Small: head[6]&0x20 != 0,
	}
	rank := int(head[1])
	m.Address = r.handle()
	for i := range 4 {
		if stride := r.u64(); i < rank-1 {
			m.Strides = append(m.Strides, stride)
		}
	}
	for i := range 5 {
		if less1 := r.u32(); i < rank {
			m.Dims = append(m.Dims, uint64(less1)+1)
		}
	}
	for _, step := range r.take(8)[:rank] {
		m.Steps = append(m.Steps, uint32(step))
	}
	for range rank {
		m.Box = append(m.Box, uint32(r.u16())+1)
	}
	return m, true
}
