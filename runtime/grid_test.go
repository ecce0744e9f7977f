package kernrt_test

import (
	"math"
	"testing"

	kernrt "github.com/kerngen/kerngen/runtime"
)

func TestCdiv(t *testing.T) {
	for _, test := range []struct{ a, b, want int }{
		{0, 4, 0}, {1, 4, 1}, {4, 4, 1}, {5, 4, 2}, {math.MaxInt, 2, 1 << 62}, {math.MaxInt, math.MaxInt, 1}, {math.MaxInt, 1, math.MaxInt},
	} {
		if got := kernrt.Cdiv(test.a, test.b); got != test.want {
			t.Errorf("Cdiv(%d, %d) = %d, want %d", test.a, test.b, got, test.want)
		}
	}
	if got := kernrt.Cdiv(int32(math.MaxInt32), 1024); got != 1<<21 {
		t.Errorf("in 32 bits %d", got)
	}
}
