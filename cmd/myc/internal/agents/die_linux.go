package agents

import (
	"os/exec"
	"syscall"
)

// dieWith makes an agent die with this process, however this process ends: the port to which the agent posts its events would be free for
// another program.
func dieWith(cmd *exec.Cmd) {
	if cmd.SysProcAttr == nil {
		cmd.SysProcAttr = &syscall.SysProcAttr{}
	}
	cmd.SysProcAttr.Pdeathsig = syscall.SIGKILL
}
