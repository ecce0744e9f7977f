package artefact

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"unicode/utf8"

	"github.com/kerngen/kerngen/gen/internal/diag"
)

// maxJSONDepth is far beyond what our files and Triton's nest.
const maxJSONDepth = 64

// checkJSON refuses what encoding/json would accept without a word: bytes that
// are not UTF-8, a key given twice in one object, anything after the value, a
// value that is no object.
func checkJSON(pos string, data []byte) error {
	if !utf8.Valid(data) {
		return diag.Errorf(pos, "not JSON: it is not UTF-8")
	}
	fault := func(offset int64, format string, args ...any) error {
		line, col := lineCol(data, int(offset))
		return diag.Errorf(fmt.Sprintf("%s:%d:%d", pos, line, col), format, args...)
	}
	var whole json.RawMessage
	if err := json.Unmarshal(data, &whole); err != nil {
		var syntax *json.SyntaxError
		if errors.As(err, &syntax) {
			return fault(syntax.Offset-1, "not JSON: %v", syntax)
		}
		return diag.Errorf(pos, "not JSON: %v", err)
	}
	if begin := bytes.TrimLeft(data, " \t\r\n"); begin[0] != '{' {
		return fault(int64(len(data)-len(begin)), "not a JSON object")
	}

	dec := json.NewDecoder(bytes.NewReader(data))
	dec.UseNumber()
	// keys holds, for each open object, the keys so far; nil for an array.
	var keys []map[string]bool
	wantKey := false
	for {
		tok, err := dec.Token()
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return fault(dec.InputOffset(), "not JSON: %v", err)
		}
		delim, isDelim := tok.(json.Delim)
		switch {
		case delim == '{' || delim == '[':
			if len(keys) == maxJSONDepth {
				return fault(dec.InputOffset(), "more than %d levels of nesting", maxJSONDepth)
			}
			var object map[string]bool
			if delim == '{' {
				object = make(map[string]bool)
			}
			keys = append(keys, object)
		case isDelim:
			keys = keys[:len(keys)-1]
		case wantKey:
			key := tok.(string)
			object := keys[len(keys)-1]
			if object[key] {
				return fault(dec.InputOffset(), "key %q is given twice", key)
			}
			object[key] = true
			wantKey = false
			continue
		}
		wantKey = len(keys) > 0 && keys[len(keys)-1] != nil
	}
}

// lineCol returns the line and the column in bytes of an offset, both from 1.
func lineCol(data []byte, offset int) (line, col int) {
	before := data[:min(max(offset, 0), len(data))]
	return 1 + bytes.Count(before, []byte("\n")), len(before) - bytes.LastIndexByte(before, '\n')
}
