//go:build unix

package compile

import (
	"errors"
	"os"
	"os/exec"
	"syscall"

	"github.com/kerngen/kerngen/gen/internal/diag"
)

// ownGroup puts cmd and what it starts, such as ptxas, into a process group of
// their own, all of which ends when its context is done.
func ownGroup(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
}

// lock keeps other runs out of the folder until unlock is called or the process
// ends, however it does.
func lock(folder string) (unlock func(), err error) {
	f, err := os.Open(folder)
	if err != nil {
		return nil, fileFault(folder, err)
	}
	err = syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
	switch {
	case err == nil, errors.Is(err, syscall.ENOTSUP), errors.Is(err, syscall.ENOLCK):
		// A file system without locks: each folder of artefacts is still whole.
		return func() { f.Close() }, nil
	case errors.Is(err, syscall.EWOULDBLOCK):
		err = diag.Errorf(folder, "another kerngen is compiling into this folder").Fix("wait until it is done")
	default:
		err = fileFault(folder, err)
	}
	f.Close()
	return nil, err
}
