package artefact

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/kerngen/kerngen/gen/internal/diag"
)

// metaComment begins the comments in which a compiler that writes PTX alone
// leaves what Triton puts into NAME.json: "// meta:num_warps=4".
const metaComment = "// meta:"

// ptxMeta reads the metadata in the comments of a PTX file; found is false
// where there is none. Such a compiler is Triton's without its Python, so the
// keys are those of NAME.json; what it leaves out is as in the simplest kernel.
func ptxMeta(pos string, ptx *PTX) (m *Meta, found bool, err error) {
	o := object{pos: pos, fields: map[string]json.RawMessage{}}
	line := 0
	for text := range bytes.Lines(ptx.Text) {
		line++
		comment, ok := bytes.CutPrefix(bytes.TrimSpace(text), []byte(metaComment))
		if !ok {
			continue
		}
		key, value, ok := strings.Cut(string(comment), "=")
		at := fmt.Sprintf("%s:%d", pos, line)
		switch _, twice := o.fields[key]; {
		case !ok || key == "":
			o.faults.Add(diag.Errorf(at, "%q is not KEY=VALUE", string(comment)))
		case twice:
			o.faults.Add(diag.Errorf(at, "key %q is given twice", key))
		case key == "name":
			quoted, _ := json.Marshal(value) // a string always can be
			o.fields[key] = quoted
		default:
			o.fields[key] = json.RawMessage(value)
		}
	}
	if len(o.fields) == 0 && o.faults.Err() == nil {
		return nil, false, nil
	}
	for key, value := range map[string]string{"num_ctas": "1", "shared": "0"} {
		if _, ok := o.fields[key]; !ok {
			o.fields[key] = json.RawMessage(value)
		}
	}
	arch := strings.TrimRight(strings.TrimPrefix(ptx.Target, "sm_"), "abcdefghijklmnopqrstuvwxyz")
	o.fields["target"] = json.RawMessage(fmt.Sprintf(`{"backend":"cuda","arch":%s,"warp_size":32}`, arch))
	m, err = o.meta()
	if m != nil {
		m.InPTX = true
	}
	return m, true, err
}
