//go:build amd64 || arm64

package jail

import (
	"os"
	"os/exec"
	"slices"
	"strconv"
	"syscall"

	"golang.org/x/sys/unix"
)

// bubblewrap sets the command that starts the child by bwrap(1): it makes the namespaces and mounts the parts of the root. The child keeps
// the rights in its namespaces that it needs for the rest, as the child of [Own] has them, and gives them up before the command runs.
func bubblewrap(cmd *exec.Cmd, self []string, spec *Spec) (*Spec, error) {
	told := *spec
	if err := told.look(); err != nil {
		return nil, err
	}
	args := []string{spec.Program, "--die-with-parent", "--as-pid-1",
		"--cap-drop", "ALL", "--cap-add", "CAP_SYS_ADMIN", "--cap-add", "CAP_SETPCAP"}
	for _, s := range spaces {
		if told.wants(s.layer) && s.option != "" {
			args = append(args, s.option)
		}
	}
	if told.wants(PID) && spec.Host != "" {
		args = append(args, "--hostname", spec.Host)
	}
	for i, b := range spec.Binds {
		more, err := told.part(cmd, b, spec.Binds[:i])
		if err != nil {
			return nil, err
		}
		args = append(args, more...)
	}
	// Its own --dev would put the child into a second user namespace, which has no rights over the mounts.
	args = append(args, "--proc", "/proc")
	for _, name := range devices {
		args = append(args, "--dev-bind", "/dev/"+name, "/dev/"+name)
	}
	for _, l := range deviceLinks {
		args = append(args, "--symlink", l[1], "/dev/"+l[0])
	}
	for _, name := range deviceFolders {
		args = append(args, "--dir", "/dev/"+name)
	}
	args = append(args, "--ro-bind", self[0], childProgram, "--remount-ro", "/", "--", childProgram)
	cmd.Path, cmd.Args = spec.Program, slices.Concat(args, self[1:])
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
	return &told, nil
}

// part is a part of the root in the words of bwrap(1). A link in a tree of the machine is left to the child: bwrap would make it on the
// machine.
func (s *Spec) part(cmd *exec.Cmd, b Bind, earlier []Bind) ([]string, error) {
	in := within(b.Target, earlier)
	switch b.Kind {
	case Temp:
		return []string{"--perms", "0700", "--size", quarter(), "--tmpfs", b.Target}, nil
	case Link:
		if in.Kind == Tree {
			return nil, nil
		}
		return []string{"--symlink", b.Source, b.Target}, nil
	case File:
		fd, err := dataFile(cmd, b.Data)
		return []string{"--perms", "0400", "--file", strconv.Itoa(fd), b.Target}, err
	case Tree:
	}
	if shown, err := s.mounts(b, in); err != nil || !shown {
		return nil, err
	}
	if b.Write {
		return []string{"--bind", b.Source, b.Target}, nil
	}
	return []string{"--ro-bind", b.Source, b.Target}, nil
}

// dataFile gives bwrap a file in memory, and returns its descriptor there.
func dataFile(cmd *exec.Cmd, data []byte) (int, error) {
	fd, err := unix.MemfdCreate("data", unix.MFD_CLOEXEC)
	if err != nil {
		return 0, err
	}
	f := os.NewFile(uintptr(fd), "data")
	cmd.ExtraFiles = append(cmd.ExtraFiles, f)
	if _, err := f.Write(data); err != nil {
		return 0, err
	}
	_, err = f.Seek(0, 0)
	return controlFD + len(cmd.ExtraFiles) - 1, err
}

// quarter is a quarter of the machine's memory in bytes, as a folder in memory of [Own] has it.
func quarter() string {
	var info unix.Sysinfo_t
	if err := unix.Sysinfo(&info); err != nil {
		return strconv.Itoa(1 << 30)
	}
	return strconv.FormatUint(uint64(info.Totalram)*uint64(info.Unit)/4, 10)
}
