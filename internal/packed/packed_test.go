package packed

import (
	"strings"
	"testing"
)

func TestPack(t *testing.T) {
	for _, text := range []string{"", ".version 8.7\n", strings.Repeat("add.f32 %f1, %f2, %f3;\n", 10000)} {
		packed := Pack([]byte(text))
		got, err := Unpack(string(packed))
		if err != nil || got != text {
			t.Errorf("%d bytes come back as %d: %v", len(text), len(got), err)
		}
		if len(text) > 1000 && len(packed) > len(text)/5 {
			t.Errorf("%d bytes are packed into %d", len(text), len(packed))
		}
	}
}

func TestUnpackDamaged(t *testing.T) {
	good := string(Pack([]byte(strings.Repeat("bar.sync 0;\n", 100))))
	for i := range len(good) {
		if _, err := Unpack(good[:i]); err == nil {
			t.Errorf("the first %d of %d bytes are accepted", i, len(good))
		}
	}
	if _, err := Unpack(".version 8.7\n"); err == nil {
		t.Error("plain text is accepted")
	}
}
