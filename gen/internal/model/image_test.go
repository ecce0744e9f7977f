package model

import (
	"fmt"
	"path"
	"strings"

	"github.com/kerngen/kerngen/gen/internal/artefact"
)

// arg is a TTIR argument on line 7.
func arg(name, typ string, divisibility int) artefact.Arg {
	return artefact.Arg{Name: name, SSA: name, Type: typ, Divisibility: divisibility, Line: 7}
}

// scaleArgs are the arguments of a small kernel: scale(x, n, f).
func scaleArgs() []artefact.Arg {
	return []artefact.Arg{arg("x", "!tt.ptr<f32>", 16), arg("n", "i32", 0), arg("f", "f32", 0)}
}

// newImage is what the files of a kernel for sm_80 say, all in agreement; the
// kernel has the name of the file. Two scratch pointers follow its arguments.
func newImage(file string, args []artefact.Arg) *artefact.Image {
	name := path.Base(file)
	im := &artefact.Image{
		Path: file,
		Meta: &artefact.Meta{
			Name: name, Backend: "cuda", Arch: 80, WarpSize: 32, TritonVersion: "3.6.0",
			NumWarps: 4, NumCTAs: 1, ClusterDims: [3]int{1, 1, 1},
			GlobalScratch: artefact.Scratch{Align: 1}, ProfileScratch: artefact.Scratch{Align: 1},
		},
		TTIR:   &artefact.Signature{Name: name, Args: args},
		Source: &artefact.Signature{Name: name, Args: append([]artefact.Arg(nil), args...)},
		PTX: &artefact.PTX{
			Version: "8.7", Target: "sm_80", Entry: name, ReqNTID: [3]int{128, 1, 1}, Text: []byte("ptx of " + file),
		},
		Cubin: &artefact.Cubin{
			Symbol: name, Arch: 80, ReqNTID: [3]int{128, 1, 1}, Bytes: []byte("cubin of " + file),
		},
	}
	for _, a := range args {
		take(im, a.Type)
	}
	take(im, "!tt.ptr<i8>")
	take(im, "!tt.ptr<i8>")
	return im
}

// take appends a parameter of a TTIR type to the image's code.
func take(im *artefact.Image, ttir string) {
	p := artefact.PTXParam{Line: 12 + len(im.PTX.Params)}
	switch {
	case strings.HasPrefix(ttir, "!tt.ptr"):
		p.Type, p.Size, p.Align, p.Pointer = ".u64", 8, 1, true
	case ttir == "f16" || ttir == "bf16":
		p.Type, p.Size, p.Align = ".b8", 2, 2
	case ttir == "f32":
		p.Type, p.Size = ".f32", 4
	case ttir == "f64":
		p.Type, p.Size = ".f64", 8
	case ttir == "i1" || ttir == "i8" || strings.HasPrefix(ttir, "f8"):
		p.Type, p.Size = ".u8", 1
	default:
		var bits int
		if _, err := fmt.Sscanf(ttir, "i%d", &bits); err != nil {
			bits = 32
		}
		p.Type, p.Size = fmt.Sprintf(".u%d", bits), bits/8
	}
	offset := 0
	if n := len(im.Cubin.Params); n > 0 {
		last := im.Cubin.Params[n-1]
		offset = (last.Offset + last.Size + p.Size - 1) / p.Size * p.Size
	}
	im.Cubin.Params = append(im.Cubin.Params, artefact.CubinParam{Ordinal: len(im.PTX.Params), Offset: offset, Size: p.Size})
	im.PTX.Params = append(im.PTX.Params, p)
}

// retarget makes the image one for another architecture.
func retarget(im *artefact.Image, arch int) *artefact.Image {
	suffix := ""
	if arch >= 90 {
		suffix = "a"
	}
	im.Meta.Arch, im.Cubin.Arch, im.Cubin.Accelerated = arch, arch, suffix != ""
	im.PTX.Target = fmt.Sprintf("sm_%d%s", arch, suffix)
	return im
}

// scale is a good image of scale(x, n, f).
func scale(folder string) *artefact.Image { return newImage(folder+"/scale", scaleArgs()) }

// describedScale is scale(x, n, f, BLOCK) with a sidecar.
func describedScale(folder string) *artefact.Image {
	im := scale(folder)
	im.Sidecar = &artefact.Sidecar{
		Schema: artefact.SidecarSchema, Kernel: "scale", Doc: "Multiply x by f.", Triton: "3.6.0",
		Source: []artefact.SidecarFile{{Path: "vec.py", SHA256: "ab"}, {Path: "common.py", SHA256: "cd"}},
		Params: []artefact.SidecarParam{
			{Name: "x", Type: "*fp32", DivisibleBy: 16},
			{Name: "n", Type: "u32"},
			{Name: "f", Type: "fp32"},
			{Name: "BLOCK", Constant: &artefact.Constant{Int: new(int64(1024))}},
		},
	}
	return im
}

// fold compiles parameter i of a described image away.
func fold(im *artefact.Image, i int, why string) *artefact.Image {
	p := &im.Sidecar.Params[i]
	p.Folded, p.DivisibleBy = why, 0
	drop := func(args []artefact.Arg) []artefact.Arg {
		var kept []artefact.Arg
		for _, a := range args {
			if a.Name != p.Name {
				kept = append(kept, a)
			}
		}
		return kept
	}
	im.TTIR.Args, im.Source.Args = drop(im.TTIR.Args), drop(im.Source.Args)
	im.PTX.Params, im.Cubin.Params = nil, nil
	for _, a := range im.TTIR.Args {
		take(im, a.Type)
	}
	take(im, "!tt.ptr<i8>")
	take(im, "!tt.ptr<i8>")
	return im
}

// promise sets the divisibility of argument i everywhere.
func promise(im *artefact.Image, i, n int) *artefact.Image {
	im.TTIR.Args[i].Divisibility, im.Source.Args[i].Divisibility = n, n
	if im.Sidecar != nil {
		im.Sidecar.Params[i].DivisibleBy = n
	}
	return im
}
