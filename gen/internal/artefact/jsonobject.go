package artefact

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
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
	if !json.Valid(data) {
		err := json.Unmarshal(data, new(json.RawMessage)) // says why
		var syntax *json.SyntaxError
		if errors.As(err, &syntax) {
			return fault(syntax.Offset-1, "not JSON: %v", syntax)
		}
		return diag.Errorf(pos, "not JSON: %v", err)
	}
	if begin := bytes.TrimLeft(data, " \t\r\n"); begin[0] != '{' {
		return fault(int64(len(data)-len(begin)), "not a JSON object")
	}

	return eachKey(data, func(key []byte, offset int, again bool) error {
		if again {
			return fault(int64(offset), "key %q is given twice", key)
		}
		return nil
	}, func(offset int) error {
		return fault(int64(offset), "more than %d levels of nesting", maxJSONDepth)
	})
}

// eachKey calls visit for each key of data, which must be valid JSON, with the
// offset of its end and whether its object had it before; and tooDeep where the
// nesting goes beyond maxJSONDepth. It ends with the first error. A decoder's
// tokens would do as well, at ten times the cost.
func eachKey(data []byte, visit func(key []byte, offset int, again bool) error, tooDeep func(offset int) error) error {
	var open []jsonKeys
	wantKey := false
	for i := 0; i < len(data); i++ {
		switch data[i] {
		case '{', '[':
			if len(open) == maxJSONDepth {
				return tooDeep(i + 1)
			}
			wantKey = data[i] == '{'
			open = append(open, jsonKeys{object: wantKey})
		case '}', ']':
			open = open[:len(open)-1]
			wantKey = false
		case ',':
			wantKey = open[len(open)-1].object
		case '"':
			begin := i
			for i++; data[i] != '"'; i++ {
				if data[i] == '\\' {
					i++
				}
			}
			if !wantKey {
				continue
			}
			wantKey = false
			key := data[begin+1 : i]
			if bytes.IndexByte(key, '\\') >= 0 {
				var text string
				if err := json.Unmarshal(data[begin:i+1], &text); err != nil {
					return err
				}
				key = []byte(text)
			}
			if err := visit(key, i+1, open[len(open)-1].add(key)); err != nil {
				return err
			}
		}
	}
	return nil
}

// jsonKeys are the keys of an open object, or of an array, which has none. Most
// objects have few, which a list finds faster than a map.
type jsonKeys struct {
	object bool
	list   [][]byte
	more   map[string]bool // beyond maxListed
}

const maxListed = 64

// add reports whether key was there before.
func (k *jsonKeys) add(key []byte) (again bool) {
	for _, old := range k.list {
		if bytes.Equal(old, key) {
			return true
		}
	}
	if len(k.list) < maxListed {
		k.list = append(k.list, key)
		return false
	}
	if k.more == nil {
		k.more = map[string]bool{}
	}
	again = k.more[string(key)]
	k.more[string(key)] = true
	return again
}

// lineCol returns the line and the column in bytes of an offset, both from 1.
func lineCol(data []byte, offset int) (line, col int) {
	before := data[:min(max(offset, 0), len(data))]
	return 1 + bytes.Count(before, []byte("\n")), len(before) - bytes.LastIndexByte(before, '\n')
}
