package graph

import (
	"fmt"
	"slices"
	"strings"

	kernrt "github.com/kerngen/kerngen/runtime"
	"github.com/kerngen/kerngen/runtime/internal/cuda"
)

// forks names the streams that joined the capture and whose last work the
// captured stream does not follow directly: if some stream was never joined, it
// is among them. The driver can only be asked while the capture goes on.
func (c *capturing) forks(ctx cuda.Driver, origin cuda.Stream) (string, error) {
	last, status := ctx.CaptureInfo(origin)
	if status != cuda.OK || last.State != cuda.CaptureActive {
		return "", inside.DriverError(status)
	}
	var names []string
	for _, s := range inside.Streams(c.stream.Device()) {
		apart, err := c.apart(s, last.Nodes)
		if err != nil {
			return "", err
		}
		if apart {
			names = append(names, fmt.Sprintf("%#x", s.Handle()))
		}
	}
	slices.Sort(names)
	switch len(names) {
	case 0:
		return "a stream of another library's has work that the captured stream does not wait for", nil
	case 1:
		return fmt.Sprintf("stream %s has work that the captured stream does not wait for", names[0]), nil
	}
	return fmt.Sprintf("one or more of the streams %s have work that the captured stream does not wait for", strings.Join(names, ", ")), nil
}

// apart reports whether s takes part in the capture with work that is not among
// the last of the captured stream.
func (c *capturing) apart(s *kernrt.Stream, last []cuda.GraphNode) (bool, error) {
	const legacy = 1 // a handle of the default stream's, which is never captured; 0 is another
	if s == c.stream || s.Handle() <= legacy {
		return false, nil
	}
	// The captured stream is held: to wait for one here could deadlock two captures
	// that end at once.
	ctx, handle, open := inside.TryAcquire(s)
	if !open {
		return false, nil
	}
	defer inside.Release(s)
	info, status := ctx.CaptureInfo(handle)
	if status != cuda.OK || info.ID != c.id {
		return false, inside.DriverError(status)
	}
	return slices.ContainsFunc(info.Nodes, func(n cuda.GraphNode) bool { return !slices.Contains(last, n) }), nil
}
