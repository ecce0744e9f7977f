package cuda

// Rows is the shape of a copy of rows, in bytes. A pitch, the distance from one
// row to the next, is at least Width.
type Rows struct {
	Width              uint64
	Count              uint64
	ToPitch, FromPitch uint64
}
