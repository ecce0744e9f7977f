package artefact

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestPTXArtefacts(t *testing.T) {
	ptr := func(line int, used bool) PTXParam { return PTXParam{".u64", 8, 0, true, line, used} }
	for _, test := range []struct {
		file string
		want PTX
	}{
		{"triton-3.6.0/scalars.sm90/scalars_kernel.ptx", PTX{Version: "8.7", Target: "sm_90a", Entry: "scalars_kernel", ReqNTID: [3]int{32, 1, 1}, Params: []PTXParam{
			ptr(12, true), {".u8", 1, 0, false, 13, true}, {".u8", 1, 0, false, 14, true}, {".u16", 2, 0, false, 15, true}, {".u32", 4, 0, false, 16, true}, {".u64", 8, 0, false, 17, true},
			{".u8", 1, 0, false, 18, true}, {".u16", 2, 0, false, 19, true}, {".u32", 4, 0, false, 20, true}, {".u64", 8, 0, false, 21, true}, {".b8", 2, 2, false, 22, true},
			{".b8", 2, 2, false, 23, true}, {".f32", 4, 0, false, 24, true}, {".f64", 8, 0, false, 25, true}, ptr(26, false), ptr(27, false),
		}}},
		{"triton-3.6.0/matmul_cta2.sm90/matmul_kernel.ptx", PTX{Version: "8.7", Target: "sm_90a", Entry: "matmul_kernel", ReqNTID: [3]int{256, 1, 1},
			Cluster: [3]int{2, 1, 1}, ExplicitCluster: true, UsesShared: true, Params: []PTXParam{
				ptr(13, true), ptr(14, true), ptr(15, true), {".u32", 4, 0, false, 16, true}, {".u32", 4, 0, false, 17, true}, {".u32", 4, 0, false, 18, true},
				{".u32", 4, 0, false, 19, true}, {".u32", 4, 0, false, 20, true}, {".u32", 4, 0, false, 21, true}, ptr(22, false), ptr(23, false),
			}}},
		{"triton-3.6.0/tma_host.sm90/tma_host_kernel.ptx", PTX{Version: "8.7", Target: "sm_90a", Entry: "tma_host_kernel", ReqNTID: [3]int{128, 1, 1}, UsesShared: true, Params: []PTXParam{
			{".b8", 128, 64, false, 13, true}, {".u32", 4, 0, false, 14, false}, {".u32", 4, 0, false, 15, false}, {".u64", 8, 0, false, 16, false}, {".u64", 8, 0, false, 17, false},
			{".b8", 128, 64, false, 18, true}, {".u32", 4, 0, false, 19, false}, {".u32", 4, 0, false, 20, false}, {".u64", 8, 0, false, 21, false}, {".u64", 8, 0, false, 22, false}, ptr(23, false), ptr(24, false),
		}}},
		{"ptxas/bounds.ptx", PTX{Version: "8.7", Target: "sm_90", Entry: "store_next", MaxNTID: [3]int{256, 2, 1}, Params: []PTXParam{
			ptr(16, true), {".u8", 1, 0, false, 17, false}, {".b8", 2, 2, false, 18, false}, {".b8", 128, 64, false, 19, false}, {".u32", 4, 0, false, 20, false},
		}}},
	} {
		data := file(t, test.file)
		got, err := parsePTX(test.file, data)
		if err != nil {
			t.Error(err)
			continue
		}
		test.want.Text = data
		if diff := cmp.Diff(&test.want, got); diff != "" {
			t.Errorf("%s: -want +got\n%s", test.file, diff)
		}
	}
}

const ptxHead = ".version 8.7\n.target sm_80\n.address_size 64\n"

func TestPTXForms(t *testing.T) {
	base := PTX{Version: "8.7", Target: "sm_80", Entry: "k"}
	with := func(change func(*PTX)) PTX {
		p := base
		change(&p)
		return p
	}
	wait := with(func(p *PTX) { p.WaitsForGrid = true })
	stride := with(func(p *PTX) { p.SetsStride = true })
	for _, test := range []struct {
		name, text string
		want       PTX
	}{
		{"no parameters", ptxHead + ".visible .entry k() { ret; }", base},
		{"tensor map's stride", ptxHead + ".entry k() { @%p tensormap.replace.tile.global_stride.shared::cta.b1024.b64 [ %r1 + 0 ], 0x0, %rd1; ret; }", stride},
		{"tensor map's rank", ptxHead + ".entry k() { tensormap.replace.tile.rank.shared::cta.b1024.b32 [ %r1 + 0 ], 0x1; ret; }", base},
		{"no list", ptxHead + ".visible .entry k { ret; }", base},
		{"not visible", ptxHead + ".entry k() { ret; }", base},
		{"further items of the target", ".version 8.7 .target sm_80, texmode_independent, debug .address_size 64 .entry k() { }", base},
		{"plain parameters", ptxHead + ".entry k(.param .u64 a, .param .b16 b, .param .align 16 .b32 c[4]) { }", with(func(p *PTX) {
			p.Params = []PTXParam{{".u64", 8, 0, false, 4, false}, {".b16", 2, 0, false, 4, false}, {".b32", 16, 16, false, 4, false}}
		})},
		{"pointers", ptxHead + ".entry k(.param .u64 .ptr a, .param .u64 .ptr .shared .align 0x10 b) { }", with(func(p *PTX) {
			p.Params = []PTXParam{{".u64", 8, 0, true, 4, false}, {".u64", 8, 0, true, 4, false}}
		})},
		{"used parameters and shared memory", ptxHead + ".extern .shared .b8 global_smem[];\n.entry k(.param .u64 a, .param .u64 b, .param .u64 c) { ld.param.b64 %rd1, [b]; mov.b32 %r1, global_smem; /* a */ ld.param.b32 %r2, [c+4]; } // a", with(func(p *PTX) {
			p.UsesShared = true
			p.Params = []PTXParam{{".u64", 8, 0, false, 5, false}, {".u64", 8, 0, false, 5, true}, {".u64", 8, 0, false, 5, true}}
		})},
		{"shared memory declared only", ptxHead + ".extern .shared .b8 global_smem[];\n.entry k() { ret; }", base},
		{"three numbers", ptxHead + ".entry k()\n.maxntid 1, 2, 3 .reqntid 4, 5 .reqnctapercluster 2, 2, 1 { }", with(func(p *PTX) {
			p.MaxNTID, p.ReqNTID, p.Cluster = [3]int{1, 2, 3}, [3]int{4, 5, 1}, [3]int{2, 2, 1}
		})},
		{"other directives", ptxHead + ".entry k() .maxnreg 64 .minnctapersm 2 .maxnctapersm 3 .maxclusterrank 8 .noreturn .pragma \"a\", \"b\"; .pragma \"c\"; .explicitcluster { }",
			with(func(p *PTX) { p.ExplicitCluster = true })},
		{"functions, variables and sections", ptxHead + `.file 1 "k.py"
			.extern .func (.param .b32 r) vprintf (.param .b64 a);
			.global .align 4 .b32 t[2] = {1, 2};
			.extern .shared .align 16 .b8 smem[];
			.visible .func f(.param .b32 a) .noreturn { { ret; } }
			.visible .entry k() { ret; }
			.section .debug_str { $L: .b8 1 }`, base},
		{"comments", ptxHead + "/* .entry no() { griddepcontrol.wait; } */ .entry /* * / */ k() { // }\n}", base},
		{"strings", ptxHead + ".file 1 \"{ .entry \\\" }\"\n.entry k() { .pragma \"griddepcontrol.wait\"; }", base},
		{"waits", ptxHead + ".entry k() {\n\t// begin inline asm\n\tgriddepcontrol.wait;\n\t// end inline asm\n}", wait},
		{"waits at the end", ptxHead + ".entry k() { griddepcontrol.wait; }", wait},
		{"ends with a label", ptxHead + ".entry k() { ret; $L: }", base},
		{"ends with a block", ptxHead + ".entry k() { { ret; } }", base},
		{"waits under a predicate", ptxHead + ".entry k() { @%p1 griddepcontrol.wait; }", wait},
		{"waits in a function", ptxHead + ".func f() { griddepcontrol.wait; } .entry k() { }", wait},
		{"waits in a comment", ptxHead + ".entry k() { // griddepcontrol.wait;\n /* griddepcontrol.wait; */ }", base},
		{"launches dependents", ptxHead + ".entry k() { griddepcontrol.launch_dependents; }", base},
		{"CRLF", strings.ReplaceAll(ptxHead, "\n", "\r\n") + ".entry k()\r\n.reqntid 32\r\n{\r\n}\r\n", with(func(p *PTX) { p.ReqNTID = [3]int{32, 1, 1} })},
	} {
		t.Run(test.name, func(t *testing.T) {
			got, err := parsePTX("k.ptx", []byte(test.text))
			if err != nil {
				t.Fatal(err)
			}
			got.Text = nil
			if diff := cmp.Diff(&test.want, got); diff != "" {
				t.Errorf("-want +got\n%s", diff)
			}
		})
	}
}

func manyParams(n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, ".param .u8 a%d,", i)
	}
	return b.String()
}

func TestPTXFaults(t *testing.T) {
	param := func(s string) string { return ptxHead + ".entry k(\n" + s + ") { }" }
	directive := func(s string) string { return ptxHead + ".entry k()\n" + s + "\n{ }" }
	for _, test := range []struct {
		name, text, want string
	}{
		{"empty", "", "k.ptx:1:1: not PTX: it begins with the end of the file, not with .version"},
		{"text", "hello", `k.ptx:1:1: not PTX: it begins with "hello", not with .version`},
		{"binary", "\x7fELF\x02", "k.ptx:1:1: not PTX: it begins with"},
		{"zero byte", ptxHead + "\x00", "k.ptx:4:1: not text: a zero byte"},
		{"odd version", ".version eight", `k.ptx:1:10: "eight" instead of a version of the PTX language`},
		{"no target", ".version 8.7\n.entry k() { }", "k.ptx: no .target directive; compile the kernel again"},
		{"odd target", ".version 8.7\n.target gfx942", `k.ptx:2:9: "gfx942" instead of an architecture such as sm_80`},
		{"second target", ptxHead + ".target sm_90", "k.ptx:4:1: a second .target directive"},
		{"32 bits", ".version 8.7\n.target sm_80\n.address_size 32", "k.ptx:3:15: addresses of 32 bits are not supported; compile for 64 bits"},
		{"no kernel", ptxHead + ".func f() { }", "k.ptx: no kernel (.visible .entry NAME); compile the kernel again"},
		{"two kernels", string(file(t, "ptxas/two.ptx")), `k.ptx:11:17: a second entry, "second" after "first"; a module must hold one kernel`},
		{"no name", ptxHead + ".entry (", `k.ptx:4:8: "(" instead of the entry's name`},
		{"unknown type", param(".param .b8x2 a"), `k.ptx:5:8: parameter 0: unknown type ".b8x2"; this kerngen does not know how to pass it`},
		{"texture", param(".param .u32 a, .param .texref t"), `k.ptx:5:23: parameter 1: unknown type ".texref"`},
		{"two types", param(".param .u32 .u64 a"), `unknown type ".u64"`},
		{"space without .ptr", param(".param .u64 .global a"), `unknown type ".global"`},
		{"no type", param(".param .align 4 a"), `k.ptx:5:17: parameter "a" has no type`},
		{"no parameter", param(".u32 a"), `k.ptx:5:1: ".u32" instead of .param`},
		{"no parameter's name", param(".param .u32"), `k.ptx:5:12: ")" instead of a parameter's name`},
		{"no comma", param(".param .u32 a .param .u32 b"), `k.ptx:5:15: ".param" instead of a comma or the end of the parameters`},
		{"odd alignment", param(".param .align 3 .b8 a[3]"), "k.ptx:5:8: alignment 3 is not a power of two"},
		{"array without length", param(".param .b8 a[]"), `k.ptx:5:14: "]" instead of an array's length`},
		{"absurd array", param(".param .b8 a[99999999999]"), `k.ptx:5:14: an array's length is "99999999999", not between 1 and 1048576`},
		{"many parameters", param(manyParams(40000)), "more than 32768 parameters"},
		{"one name twice", param(".param .u32 a, .param .u32 a"), `k.ptx:5:28: a second parameter "a"`},
		{"no address size", ".version 8.7\n.target sm_80\n.entry k() { }", "k.ptx: no .address_size directive, which means addresses of 32 bits; compile for 64 bits"},
		{"second version", ptxHead + ".version 8.7", "k.ptx:4:1: a second .version directive; a file must hold one module"},
		{"brace too many", ptxHead + ".entry k() { ret; } }", `k.ptx:4:21: "}" closes nothing; compile the kernel again`},
		{"cut in an instruction", ptxHead + ".entry k() { mov.u32 %r1, %r2 }", `k.ptx:4:27: entry "k" ends within an instruction; compile the kernel again`},
		{"cut before the wait", ptxHead + ".entry k() { griddepcontrol.wait }", `entry "k" ends within an instruction`},
		{"unknown directive", directive(".blocksareclusters"), `k.ptx:5:1: entry "k": unknown directive ".blocksareclusters"; it may change how the kernel is launched; use a newer kerngen`},
		{"four numbers", directive(".reqntid 1, 2, 3, 4"), "k.ptx:5:1: .reqntid has more than three numbers"},
		{"no number", directive(".reqntid"), `k.ptx:6:1: "{" instead of a side of .reqntid`},
		{"zero", directive(".maxntid 0"), `a side of .maxntid is "0", not between`},
		{"absurd cluster", directive(".reqnctapercluster 0xffffffff"), `a side of .reqnctapercluster is "0xffffffff", not between 1`},
		{"twice", directive(".reqntid 1 .reqntid 2"), "a second .reqntid directive"},
		{"odd pragma", directive(".pragma nounroll;"), `"nounroll" instead of the text of .pragma`},
		{"open pragma", directive(`.pragma "nounroll"`), `"{" instead of the end of .pragma`},
		{"no body", ptxHead + ".entry k();", `k.ptx:4:11: ";" instead of the entry's body`},
		{"cut in the body", ptxHead + ".entry k()\n{\n{ }\n", `k.ptx:7:1: the file ends early: "{" of line 5 is not closed; compile the kernel again`},
		{"cut in a comment", ptxHead + ".entry k() { /* }", "k.ptx:4:14: a comment has no end"},
		{"cut in a string", ptxHead + ".file 1 \"a", "k.ptx:4:9: the file ends inside a string"},
	} {
		t.Run(test.name, func(t *testing.T) {
			p, err := parsePTX("k.ptx", []byte(test.text))
			if err == nil {
				t.Fatalf("read as %+v", p)
			}
			if !strings.Contains(err.Error(), test.want) || !strings.HasPrefix(err.Error(), "k.ptx:") {
				t.Errorf("got  %v\nwant %s", err, test.want)
			}
		})
	}
}

// A cut before the end of the entry's body must be noticed. What follows are
// debug sections.
func TestPTXCut(t *testing.T) {
	data := file(t, "triton-3.6.0/add.sm80/add_kernel.ptx")
	end := bytes.Index(data, []byte("\n}"))
	for n := range end {
		if _, err := parsePTX("k.ptx", data[:n]); err == nil {
			t.Errorf("the first %d of %d bytes pass", n, len(data))
		}
	}
}
