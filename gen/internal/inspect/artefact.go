package inspect

import (
	"fmt"
	"strings"

	"github.com/kerngen/kerngen/gen/internal/artefact"
	"github.com/kerngen/kerngen/gen/internal/model"
)

// Images reports the artefacts that were read.
func Images(images []*artefact.Image) []Kernel {
	var kernels []Kernel
	for _, im := range images {
		kernels = append(kernels, kernelOf(im))
	}
	return kernels
}

func kernelOf(im *artefact.Image) Kernel {
	m := im.Meta
	facts := model.FactsOf(im)
	k := Kernel{
		Name: m.Name, Symbol: m.Name, Triton: m.TritonVersion, Target: fmt.Sprintf("sm_%d", m.Arch), Path: im.Path,
		Params: []Param{}, Hidden: hiddenNames(facts.Hidden),
		NumWarps: m.NumWarps, NumCTAs: m.NumCTAs, Cluster: m.ClusterDims, Shared: m.Shared, Cooperative: m.Cooperative, PDL: m.PDL,
		GlobalScratch: Scratch(m.GlobalScratch), ProfileScratch: Scratch(m.ProfileScratch),
		Images: []Image{},
	}
	if m.Arch == 0 {
		k.Target = m.Backend
	}
	if im.Sidecar != nil {
		k.Name = im.Sidecar.Kernel
	}
	if im.Cubin != nil {
		suffix := ""
		if im.Cubin.Accelerated || im.PTX != nil && strings.HasSuffix(im.PTX.Target, "a") {
			suffix = "a"
		}
		k.Registers = im.Cubin.Registers
		k.Images = append(k.Images, imageOf("cubin", fmt.Sprintf("sm_%d%s", im.Cubin.Arch, suffix), im.Cubin.Bytes))
		for _, p := range im.Cubin.Params {
			k.slots = append(k.slots, Slot{&p.Offset, p.Size})
		}
	}
	if im.PTX != nil {
		k.Images = append(k.Images, imageOf("ptx", im.PTX.Target, im.PTX.Text))
		if im.Cubin == nil {
			for _, p := range im.PTX.Params {
				k.slots = append(k.slots, Slot{nil, p.Size})
			}
		}
	}
	var sizes []int
	for _, p := range facts.Params {
		k.Params = append(k.Params, Param{Name: p.Name, Type: p.Type, DivisibleBy: p.DivisibleBy})
		sizes = append(sizes, p.Slots)
	}
	if facts.Params == nil && facts.Refused != nil { // nothing tells them: then all are arguments, for all that is known
		for range k.slots {
			k.Params = append(k.Params, Param{})
			sizes = append(sizes, 1)
		}
	}
	k.lay(sizes)
	if facts.Refused != nil {
		k.notes = strings.Split(facts.Refused.Error(), "\n")
	}
	return k
}
