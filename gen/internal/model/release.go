package model

import (
	"fmt"
	"regexp"
	"strconv"
)

// release is a release of Triton.
type release struct{ major, minor int }

// What Triton's output contains only since some release. All else that differs
// between releases is read from the files themselves.
var (
	clusterInCode = release{3, 6} // the code states its cluster; before, only the launch did
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

// has reports whether r writes what Triton writes since the given release.
func (r release) has(since release) bool {
	return r.major > since.major || r.major == since.major && r.minor >= since.minor
}
