package model

import (
	"fmt"
	"regexp"
	"strconv"
)

// release is a release of Triton.
type release struct{ major, minor int }

// What Triton's output contains only since some release. All else that differs
// between releases is read from the files themselves; docs/triton-abi.md has the
// whole of it.
var (
	ownFP8Spelling = release{3, 2} // TTIR tells fp8e4nv from fp8e4b8; before, both were f8E4M3FNUZ
	argumentNames  = release{3, 5} // TTIR has the arguments' names
	clusterInCode  = release{3, 6} // the code states its cluster; before, only the launch did
	constInTTIR    = release{3, 9} // TTIR tells *kfp32 from *fp32

	globalScratchPassed  = release{3, 3} // a pointer to it follows the arguments
	profileScratchPassed = release{3, 5} // and one to that follows it

	doubledFP4Argument = release{3, 5} // what is passed beside an fp4_padded map is doubled as the map's extent
	trueFP4Argument    = release{3, 7} // and no more
)

var releasePattern = regexp.MustCompile(`^(\d{1,6})\.(\d{1,6})`)

// parseRelease reads "3.6.0", "3.8.0+fb". Before 3.3 Triton did not state its
// version: "" is older than any other.
func parseRelease(s string) (release, error) {
	if s == "" {
		return release{}, nil
	}
	m := releasePattern.FindStringSubmatch(s)
	if m == nil {
		return release{}, fmt.Errorf("%q is not a version", s)
	}
	major, _ := strconv.Atoi(m[1]) // digits, by the pattern
	minor, _ := strconv.Atoi(m[2])
	return release{major, minor}, nil
}

// String is the release as people write it: "3.5".
func (r release) String() string { return fmt.Sprintf("%d.%d", r.major, r.minor) }

// prints reports whether TTIR of release r prints an argument of type t so that
// it reads as got.
func (r release) prints(t, got Type) bool {
	if t.Elem == "fp8e4nv" && got.Elem == "fp8e4b8" && !r.has(ownFP8Spelling) {
		got.Elem = t.Elem
	}
	return got.spelled(t) && got.Const == (t.Const && r.has(constInTTIR))
}

// has reports whether r writes what Triton writes since the given release.
func (r release) has(since release) bool {
	return r.major > since.major || r.major == since.major && r.minor >= since.minor
}
