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
	dec := json.NewDecoder(bytes.NewReader(data))
	dec.UseNumber()
	fault := func(offset int64, format string, args ...any) error {
		line, col := lineCol(data, int(offset))
		return diag.Errorf(fmt.Sprintf("%s:%d:%d", pos, line, col), format, args...)
	}
	malformed := func(err error) error {
		var syntax *json.SyntaxError
		switch {
		case errors.As(err, &syntax):
			return fault(syntax.Offset-1, "not JSON: %v", syntax)
		case err == io.EOF || err == io.ErrUnexpectedEOF:
			return fault(int64(len(data)), "not JSON: the file ends early")
		}
		return fault(dec.InputOffset(), "not JSON: %v", err)
	}

	// keys holds, for each open object, the keys so far; nil for an array.
	var keys []map[string]bool
	wantKey := false
	for {
		tok, err := dec.Token()
		if err != nil {
			return malformed(err)
		}
		delim, isDelim := tok.(json.Delim)
		if len(keys) == 0 && delim != '{' {
			return fault(dec.InputOffset()-1, "not a JSON object")
		}
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
		if len(keys) == 0 {
			break
		}
		wantKey = keys[len(keys)-1] != nil
	}
	if _, err := dec.Token(); err != io.EOF {
		return fault(dec.InputOffset(), "more text after the JSON object")
	}
	return nil
}

// lineCol returns the line and the column in bytes of an offset, both from 1.
func lineCol(data []byte, offset int) (line, col int) {
	before := data[:min(max(offset, 0), len(data))]
	return 1 + bytes.Count(before, []byte("\n")), len(before) - bytes.LastIndexByte(before, '\n')
}
