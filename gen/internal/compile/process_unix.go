//go:build unix

package compile

import (
	"os/exec"
	"syscall"
)

// ownGroup puts cmd and what it starts, such as ptxas, into a process group of
// their own, all of which ends when its context is done.
func ownGroup(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
}
