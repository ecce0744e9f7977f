package cuda

// Capture modes (CUstreamCaptureMode): whose unsafe calls a capture forbids.
const (
	CaptureGlobal      = 0 // every thread's
	CaptureThreadLocal = 1 // its own thread's
	CaptureRelaxed     = 2 // no thread's
)

// States of a stream (CUstreamCaptureStatus).
const (
	CaptureNone        = 0
	CaptureActive      = 1
	CaptureInvalidated = 2 // spoilt, and not yet ended
)

// The driver's results of captures.
const (
	IllegalState           = 401 // the stream is captured already, or is not
	CaptureUnsupported     = 900 // not allowed now; spoils the capture
	CaptureWasInvalidated  = 901 // spoilt before
	CaptureMerge           = 902 // an event of another capture
	CaptureUnmatched       = 903 // ended on another stream than it began on
	CaptureUnjoined        = 904 // another stream's work is not waited for
	CaptureIsolation       = 905 // an event from before the capture
	CaptureImplicit        = 906 // the legacy default stream
	CapturedEvent          = 907 // the host asks for an event of a capture
	CaptureOnAnotherThread = 908 // ended on another thread than it began on
)

// CaptureInfo is a stream's part in a capture. All but State is zero unless that
// is CaptureActive.
type CaptureInfo struct {
	State int
	ID    uint64 // unique in the process
	Graph Graph  // the driver's until the capture ends
	// What the stream's next node will follow: after a launch, that launch's node.
	Nodes []GraphNode
}
