package artefact

import (
	"bytes"
	"encoding/json"
	"math"
	"strconv"
)

// Encode is the content of NAME.kerngen.json.
func (s *Sidecar) Encode() ([]byte, error) {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	err := enc.Encode(s)
	return b.Bytes(), err
}

// MarshalJSON writes a constant. JSON has no infinities and no NaN: these are
// strings.
func (c Constant) MarshalJSON() ([]byte, error) {
	type plain Constant
	if c.Float == nil {
		return json.Marshal(plain(c))
	}
	switch f := *c.Float; {
	case math.IsInf(f, 1):
		return []byte(`{"float":"inf"}`), nil
	case math.IsInf(f, -1):
		return []byte(`{"float":"-inf"}`), nil
	case math.IsNaN(f):
		return []byte(`{"float":"nan"}`), nil
	default:
		return []byte(`{"float":` + strconv.FormatFloat(f, 'g', -1, 64) + `}`), nil
	}
}
