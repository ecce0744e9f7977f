// Package launch launches what Triton 3.0 to 3.9 left below ../versions through
// the Launch functions that kerngen makes of it, and checks every element that
// comes out. gen's TestFixtures generates the packages, each from the cubin or
// from the PTX of one folder, and writes the file that fills fixtures.
package launch

import (
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	kernrt "github.com/kerngen/kerngen/runtime"
)

// fixture is the package made from one kind of images of one folder.
type fixture struct {
	release string // "3.0"
	folder  string // "add.sm80"
	kind    string // "cubin" or "ptx"
	images  []image
	refusal string         // what the generator said, where it made no package
	launch  map[string]any // the package's Launch functions by name
}

// image is what an image says it is for.
type image struct {
	sm  int    // 90: sm_90
	ptx [2]int // version of the language
}

var fixtures []fixture

// what is the entry of the table that the fixture falls under.
func (f fixture) what() string {
	name, _, _ := strings.Cut(f.folder, ".sm")
	return name
}

// key is the fixture's in table, where an entry may be for one kind only.
func (f fixture) key() string {
	if one := f.what() + "." + f.kind; table[one].refused != "" {
		return one
	}
	return f.what()
}

func (f fixture) String() string { return f.release + "/" + f.folder + "." + f.kind }

// draws is how often each kernel is launched, each time with other numbers.
const draws = 4

func TestFixtures(t *testing.T) {
	if len(fixtures) == 0 {
		t.Skip("launches nothing: gen's TestFixtures runs this with packages")
	}
	device, err := kernrt.Open(0)
	if errors.Is(err, kernrt.ErrNoDriver) || errors.Is(err, kernrt.ErrNoDevice) {
		t.Skip("launches nothing:", err)
	}
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := device.Close(); err != nil {
			t.Error(err)
		}
	}()
	used := map[string]bool{}
	for _, f := range fixtures {
		used[f.key()] = true
		t.Run(f.String(), func(t *testing.T) { testFixture(t, device, f) })
	}
	for what := range table {
		if !used[what] {
			t.Errorf("no fixture is a %s", what)
		}
	}
}

func testFixture(t *testing.T, device *kernrt.Device, f fixture) {
	e, ok := table[f.key()]
	switch {
	case !ok:
		t.Fatal("the table has no entry for it")
	case e.refused != "" || f.refusal != "":
		if e.refused == "" || !strings.Contains(f.refusal, e.refused) {
			t.Fatalf("generating it says %q, want %q", f.refusal, e.refused)
		}
		return
	}
	if got, want := slices.Sorted(maps.Keys(f.launch)), slices.Sorted(maps.Keys(e.launch)); !slices.Equal(got, want) {
		t.Fatalf("the package has %q, want %q", got, want)
	}
	for name, launch := range f.launch {
		for draw := range draws {
			t.Run(fmt.Sprint(name, " ", draw), func(t *testing.T) {
				testLaunch(t, device, f, launch, e.launch[name], draw)
			})
		}
	}
}

func testLaunch(t *testing.T, device *kernrt.Device, f fixture, launch any, check check, draw int) {
	stream, err := device.NewStream()
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := stream.Close(); err != nil {
			t.Error(err)
		}
	}()
	r := &run{T: t, Rand: rand.New(rand.NewPCG(uint64(draw), 1)), stream: stream, fixture: f, launch: launch}
	err = check(r)
	for _, free := range r.free {
		free()
	}
	info := device.Info()
	if reason := f.unfit(info); reason != "" {
		if !errors.Is(err, kernrt.ErrNoImage) {
			t.Errorf("got %v, want ErrNoImage: %s", err, reason)
		}
		return
	}
	switch {
	case err != nil:
		t.Error(err)
	case strings.HasPrefix(info.Name, "Fake "):
		// It takes the launch and runs nothing: a check that can fail does.
		if len(r.wrong) == 0 {
			t.Error("nothing has run, and the check does not notice")
		}
	case len(r.wrong) > 0:
		t.Error(strings.Join(r.wrong, "\n"))
	}
}

// unfit is why none of the images runs on a device; "" where one does.
func (f fixture) unfit(d kernrt.DeviceInfo) string {
	var reasons []string
	major, minor := d.ComputeCapability[0], d.ComputeCapability[1]
	for _, im := range f.images {
		exact := im.sm == 10*major+minor
		switch {
		case im.sm >= 90 && !exact: // Triton compiles for sm_90a, sm_100a, …
			reasons = append(reasons, fmt.Sprintf("sm_%da is no other architecture", im.sm))
		case f.kind == "cubin" && (im.sm/10 != major || im.sm%10 > minor):
			reasons = append(reasons, fmt.Sprintf("a cubin for sm_%d", im.sm))
		case f.kind == "ptx" && im.sm > 10*major+minor:
			reasons = append(reasons, fmt.Sprintf("PTX for sm_%d", im.sm))
		case f.kind == "ptx" && slices.Compare(im.ptx[:], newestPTX(d.DriverVersion)) > 0:
			reasons = append(reasons, fmt.Sprintf("PTX %d.%d", im.ptx[0], im.ptx[1]))
		default:
			return ""
		}
	}
	return strings.Join(reasons, ", ")
}

// newestPTX is the newest version of the language that a driver reads.
func newestPTX(driver int) []int {
	major, minor := driver/1000, driver%1000/10
	if major >= 13 {
		return []int{major - 4, minor}
	}
	// By the minor versions of CUDA 12, of which some brought none.
	return []int{8, []int{0, 1, 2, 3, 4, 5, 5, 6, 7, 8}[min(minor, 9)]}
}
