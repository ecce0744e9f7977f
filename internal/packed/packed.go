// Package packed is the form in which a generated package embeds PTX: gzip, which
// takes about a fifth of the room. The generator packs, the runtime unpacks.
package packed

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"io"
	"strings"
)

// Extension ends the names of packed files.
const Extension = ".gz"

// maxText is far more than any kernel's PTX has.
const maxText = 256 << 20 // bytes

// Pack packs text. What it yields depends on the Go release that kerngen was
// built with, so compare what Unpack yields.
func Pack(text []byte) []byte {
	var b bytes.Buffer
	w, _ := gzip.NewWriterLevel(&b, gzip.BestCompression) // the level is one that there is
	w.Write(text)                                         // a Buffer takes all
	w.Close()
	return b.Bytes()
}

// Is reports whether data begins as what Pack makes; no PTX does.
func Is(data string) bool { return strings.HasPrefix(data, "\x1f\x8b") }

// Unpack returns the text of what Pack made.
func Unpack(data string) (string, error) {
	r, err := gzip.NewReader(strings.NewReader(data))
	if err != nil {
		return "", err
	}
	var text strings.Builder
	if _, err := io.Copy(&text, io.LimitReader(r, maxText+1)); err != nil {
		return "", err
	}
	if text.Len() > maxText {
		return "", fmt.Errorf("more than %d bytes of text", maxText)
	}
	return text.String(), nil
}
