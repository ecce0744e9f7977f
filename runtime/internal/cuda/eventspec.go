package cuda

// Event flags (CUevent_flags).
const (
	EventBlocking = 1 // a thread that waits for it sleeps
	EventUntimed  = 2
)

// The driver's results of queries and waits.
const (
	InvalidHandle = 400
	NotReady      = 600
)
