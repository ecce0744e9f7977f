package cuda

import "sync"

// simulated marks the statuses of a simulated device: their upper half tells no
// call, but which of the latest faults it was.
const (
	simulated  = 1 << 31
	mostFaults = 1<<15 - 1 // so that none is Capturing
)

var faults struct {
	mu     sync.Mutex
	latest [mostFaults]fault
	count  int
}

type fault struct {
	name string
	err  error
}

// Fault is the status of a call on a simulated device that failed: the result
// that a driver would give, its name, and the error that says more. It is
// remembered until thousands have followed, by when whoever asked has read it.
func Fault(result int, name string, err error) Status {
	faults.mu.Lock()
	defer faults.mu.Unlock()
	i := faults.count % len(faults.latest)
	faults.count++
	faults.latest[i] = fault{name, err}
	return simulated | Status(i)<<16 | Status(result)
}

// Fault gives back what a simulated device's status was made of; err is nil for
// a driver's status.
func (s Status) Fault() (name string, err error) {
	if s&simulated == 0 || s == Capturing {
		return "", nil
	}
	faults.mu.Lock()
	defer faults.mu.Unlock()
	f := faults.latest[int(s>>16)&^(1<<15)]
	return f.name, f.err
}
