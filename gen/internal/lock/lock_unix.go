//go:build unix

package lock

import (
	"errors"
	"os"
	"syscall"
	"time"
)

// poll is the time between two attempts.
const poll = 20 * time.Millisecond

// Folder holds dir until release is called or the process ends, however it
// does. While another holds it, in this process or any, Folder waits, and after
// that time returns ErrHeld. A file system that knows no locks leaves held
// false: nobody is kept out then.
func Folder(dir string, wait time.Duration) (release func(), held bool, err error) {
	f, err := os.Open(dir)
	if err != nil {
		return nil, false, err
	}
	for deadline := time.Now().Add(wait); ; time.Sleep(poll) {
		err = syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
		switch {
		case err == nil:
			return func() { f.Close() }, true, nil
		case errors.Is(err, syscall.EINTR):
		case errors.Is(err, syscall.EWOULDBLOCK):
			if !time.Now().Before(deadline) {
				f.Close()
				return nil, false, ErrHeld
			}
		default: // NFS wants a file open for writing, others know no locks at all
			return func() { f.Close() }, false, nil
		}
	}
}
