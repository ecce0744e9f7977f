package exec

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"strings"
	"testing"
	"time"
)

const hostileHead = ".version 8.7\n.target sm_80\n.address_size 64\n"

// hostile are texts of a few lines that ask for more than there is, or for what cannot be: each is refused or faults, in little memory.
var hostile = map[string]struct{ text, want string }{
	"negative wait_group":     {hostileHead + ".entry k() { cp.async.wait_group -1; ret; }", "number of groups, -1"},
	"huge wait_group":         {hostileHead + ".entry k() { cp.async.wait_group 18446744073709551615; ret; }", "number of groups"},
	"alignment local":         {hostileHead + ".entry k() { .local .align 4611686018427387904 .b8 a[8]; .local .align 4611686018427387904 .b8 b[8]; .local .align 4611686018427387904 .b8 c[8]; ret; }", "alignment"},
	"alignment param":         {hostileHead + ".entry k(.param .align 4611686018427387904 .b8 a[8], .param .align 4611686018427387904 .b8 b[8], .param .align 4611686018427387904 .b8 c[8]) { ret; }", "alignment"},
	"alignment shared":        {hostileHead + ".shared .align 9223372036854775808 .b8 a[8];\n.entry k() { ret; }", "not a power"},
	"registers":               {hostileHead + ".entry k() { .reg .b64 " + strings.Repeat("%a<1048576>,", 40) + "%b; ret; }", "registers"},
	"params":                  {hostileHead + ".entry k(.param .b8 a[1073741824], .param .b8 b[1073741824]) { ret; }", "bytes of parameters"},
	"nots":                    {hostileHead + ".entry k() { .reg .pred %p; mov.pred %p, " + strings.Repeat("!", 1<<22) + "%p; ret; }", "operands within"},
	"brackets":                {hostileHead + ".entry k() { ld " + strings.Repeat("[", 1<<22) + "; ret; }", "operands within"},
	"lists":                   {hostileHead + ".entry k() { ld " + strings.Repeat("{", 1<<22) + "; ret; }", "operands within"},
	"printf of globals":       {hostileHead + ".extern .func (.param .b32 r) vprintf (.param .b64 a, .param .b64 b);\n.global .b64 g;\n.entry k(.param .b64 e) { .param .b32 r; call.uni (g), vprintf, (g, g); ret; }", "not a .param variable"},
	"printf of parameters":    {hostileHead + ".extern .func (.param .b32 r) vprintf (.param .b64 a, .param .b64 b);\n.entry k(.param .b8 e[256]) { .param .b32 r; call.uni (r), vprintf, (e, e); ret; }", "not a .param"},
	"printf of bytes":         {hostileHead + ".extern .func (.param .b8 r) vprintf (.param .b64 a, .param .b64 b);\n.entry k() { .param .b64 p; .param .b64 q; .param .b8 r; call.uni (r), vprintf, (p, q); ret; }", "a result of 1 bytes"},
	"assert of globals":       {hostileHead + ".extern .func __assertfail (.param .b64 a, .param .b64 b, .param .b32 c, .param .b64 d, .param .b64 e);\n.global .b64 g;\n.entry k() { call.uni __assertfail, (g, g, g, g, g); ret; }", "not a .param"},
	"call of nothing":         {hostileHead + ".entry k() { call; ret; }", "only calls of named"},
	"call of a name":          {hostileHead + ".entry k() { call.uni nothing, (a); ret; }", "not defined"},
	"reqntid":                 {hostileHead + ".entry k() .reqntid 18446744073709551615, 4294967297, 0 { ret; }", "requires"},
	"maxntid":                 {hostileHead + ".entry k() .maxntid 9223372036854775807, 9223372036854775807, 9 { ret; }", "a block of 64"},
	"shared":                  {hostileHead + ".shared .b8 a[1073741824];\n.entry k() { .shared .b8 b[1073741824]; ret; }", "bytes of shared memory"},
	"parameter store":         {hostileHead + ".entry k(.param .b64 a) { .reg .b64 %d; mov.b64 %d, 1; st.param.b64 [a], %d; ret; }", "read-only"},
	"parameter load":          {hostileHead + ".entry k(.param .b64 a) { .reg .b64 %d<2>; ld.param.b64 %d0, [a+8]; ld.param.v2.b64 {%d0, %d1}, [a+4]; ret; }", "of a parameter of 8"},
	"parameter negative":      {hostileHead + ".entry k(.param .b64 a) { .reg .b64 %d<2>; ld.param.b64 %d0, [a+-9223372036854775808]; ret; }", "of a parameter of 8"},
	"odd vector":              {hostileHead + ".shared .align 16 .b8 s[64];\n.entry k() { .reg .b32 %r<4>; ld.shared.v4.b32 {%r0, %r1, %r2, %r3}, [s+4]; ret; }", "not a multiple of 16"},
	"negative address":        {hostileHead + ".entry k() { .reg .b32 %r<4>; .reg .b64 %d; mov.b64 %d, -4; st.shared.b32 [%d], %r0; st.b32 [%d], %r0; ret; }", "outside"},
	"endless":                 {hostileHead + ".entry k() { a: bra a; }", "stopped before its end"},
	"endless apart":           {hostileHead + ".entry k() { .reg .pred %p; .reg .b32 %r; mov.u32 %r, %laneid; setp.lt.u32 %p, %r, 3; a: @%p bra a; bar.sync 0; b: bra b; }", "stopped before its end"},
	"barrier 16":              {hostileHead + ".entry k() { bar.sync 16; ret; }", "there are 0 to 15"},
	"barrier of too many":     {hostileHead + ".entry k() { bar.sync 1, 4294967264; ret; }", "multiple of 32"},
	"calls of many registers": {hostileHead + strings.Replace(doubling(16), "{ ret; }", "{ .reg .b64 %d<1000>; ret; }", 1) + ".entry k() { call f16, (); ret; }", "more than 131072 registers"},
	"arrive only":             {hostileHead + ".entry k() { a: bar.arrive 1, 64; bar.sync 2, 64; bra a; }", "k"},
	"doubling calls":          {hostileHead + doubling(40) + ".entry k() { call f40, (); ret; }", "more than 1048576 instructions"},
	"branch elsewhere":        {hostileHead + ".entry k() { bra k; }", "not defined"},
}

func doubling(n int) string {
	var b strings.Builder
	b.WriteString(".func f0() { ret; }\n")
	for i := range n {
		fmt.Fprintf(&b, ".func f%d() { call f%d; call f%[2]d; ret; }\n", i+1, i)
	}
	return b.String()
}

// TestHostile checks that each text is refused or stopped by name, in bounded memory.
func TestHostile(t *testing.T) {
	for name, text := range hostile {
		t.Run(name, func(t *testing.T) {
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			d := NewDevice(Options{Workers: 1})
			m, err := d.Load(text.text)
			if err == nil {
				e := m.entries["k"]
				c := Config{Grid: Dim{1, 1, 1}, Block: Dim{64, 1, 1}}
				for _, p := range e.Params() {
					c.Params = append(c.Params, make([]byte, p.Size))
				}
				ctx, cancel := context.WithTimeout(context.Background(), 50*time.Millisecond)
				defer cancel()
				err = e.Launch(ctx, c)
			}
			runtime.ReadMemStats(&after)
			if took := (after.TotalAlloc - before.TotalAlloc) >> 20; took > 1024 {
				t.Errorf("took %d MiB", took)
			}
			if err == nil || !strings.Contains(err.Error(), text.want) {
				t.Errorf("got %.300v, want %q", err, text.want)
			}
		})
	}
}

// TestHostMemory asks for more than any machine has: it is refused, and the program goes on.
func TestHostMemory(t *testing.T) {
	m := newMemory(1<<62, true)
	for _, size := range []uint64{1 << 47, 1 << 50, 1 << 61} {
		if _, err := m.Alloc(size); !errors.Is(err, ErrOutOfMemory) {
			t.Errorf("%d bytes: %v", size, err)
		}
	}
	if used, _ := m.Usage(); used != 0 {
		t.Errorf("%d bytes are in use", used)
	}
}
