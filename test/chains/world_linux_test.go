package chains

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"syscall"

	"github.com/go-json-experiment/json"
	"golang.org/x/sys/unix"
)

// A world is a machine of its own for one chain: namespaces for users, mounts, processes and the network. Everything outside is read
// only, /home, /tmp and /run are in memory, there is no network but the loopback, and all processes end with the first one. So a chain
// may do whatever an agent might do, every world has the same paths, and nothing is left behind.
//
// This very test program plays the world: [firstProcess] makes it and reaps what dies, as init does; [worker] has no privilege
// any more and does the job.

// The folders of every world. An account of the world's own says that home is its home, so that what asks the password database
// finds the same as what asks $HOME.
const (
	home       = "/home/dev"
	projectDir = home + "/shop"
	binDir     = home + "/go/bin"
	runDir     = "/run/user/1000"
	passwd     = "root:x:0:0:root:/root:/bin/sh\ndev:x:1000:1000:Developer:" + home + ":/bin/bash\n"
)

const (
	worldUser  = 1000  // who works in the world
	outerUser  = 65534 // who that is outside, where the tests run as root
	stageVar   = "CHAINS_STAGE"
	firstStage = "first"
	workStage  = "work"

	programsVar = "CHAINS_PROGRAMS" // the folder with our programs, outside
	snapshotFD  = 3                 // the tar file of the home, in the worker
)

// world is a running world, from outside. It does one job after the other.
type world struct {
	cmd  *exec.Cmd
	in   io.WriteCloser
	out  *bufio.Reader
	said bytes.Buffer
}

// newWorld starts a world with a prepared home: an empty one where the tar file is empty.
func newWorld(ctx context.Context, snapshot, programs string) (*world, error) {
	w := &world{cmd: exec.CommandContext(ctx, "/proc/self/exe")} // not by its name: the world's user may not enter every folder above it
	w.cmd.Stderr = &w.said
	w.cmd.Env = []string{stageVar + "=" + firstStage, programsVar + "=" + programs, "GORACE=" + os.Getenv("GORACE")}
	f, err := os.Open(snapshot)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	w.cmd.ExtraFiles = []*os.File{f}
	outer := os.Getuid()
	if outer == 0 {
		outer = outerUser
	}
	w.cmd.SysProcAttr = &syscall.SysProcAttr{
		Cloneflags: syscall.CLONE_NEWUSER | syscall.CLONE_NEWNS | syscall.CLONE_NEWPID | syscall.CLONE_NEWNET | syscall.CLONE_NEWIPC |
			syscall.CLONE_NEWUTS,
		UidMappings: []syscall.SysProcIDMap{{ContainerID: worldUser, HostID: outer, Size: 1}},
		GidMappings: []syscall.SysProcIDMap{{ContainerID: worldUser, HostID: outer, Size: 1}},
		Credential:  &syscall.Credential{Uid: worldUser, Gid: worldUser, NoSetGroups: true},
		AmbientCaps: []uintptr{unix.CAP_SYS_ADMIN, unix.CAP_NET_ADMIN},
	}
	if w.in, err = w.cmd.StdinPipe(); err != nil {
		return nil, err
	}
	out, err := w.cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	w.out = bufio.NewReader(out)
	return w, w.cmd.Start()
}

// does gives the world a job, one line of JSON, and returns its answer, another line.
func (w *world) does(j job) ([]byte, error) {
	line, err := json.Marshal(j)
	if err != nil {
		return nil, err
	}
	if _, err := w.in.Write(append(line, '\n')); err != nil {
		return nil, errors.Join(err, w.end())
	}
	answer, err := w.out.ReadBytes('\n')
	if err != nil {
		return nil, errors.Join(err, w.end())
	}
	return answer, nil
}

// end ends the world and everything in it.
func (w *world) end() error {
	_ = w.in.Close()
	if err := w.cmd.Wait(); err != nil {
		return fmt.Errorf("the world ended: %w: %s", err, w.said.Bytes())
	}
	return nil
}

// stage plays the part that the environment names.
func stage(name string) error {
	if name == firstStage {
		return firstProcess()
	}
	return worker(os.Stdin, os.Stdout)
}

// firstProcess makes the world, starts the worker without privileges and reaps whatever dies until the worker ends.
func firstProcess() error {
	if err := makeWorld(); err != nil {
		return fmt.Errorf("make a world: %w", err)
	}
	runtime.LockOSThread() // capabilities are a thread's; the worker is forked by this one
	if err := unix.Prctl(unix.PR_CAP_AMBIENT, unix.PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0); err != nil {
		return err
	}
	if err := unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0); err != nil {
		return err
	}
	pid, err := syscall.ForkExec("/proc/self/exe", []string{"chains"}, &syscall.ProcAttr{
		Dir: "/", Env: []string{stageVar + "=" + workStage, "GORACE=" + os.Getenv("GORACE")},
		Files: []uintptr{0, 1, 2, snapshotFD},
	})
	if err != nil {
		return err
	}
	for {
		var status syscall.WaitStatus
		dead, err := syscall.Wait4(-1, &status, 0, nil)
		switch {
		case errors.Is(err, syscall.EINTR):
		case err != nil:
			return err
		case dead == pid && status.ExitStatus() != 0:
			return fmt.Errorf("the worker ended: %v %v", status.ExitStatus(), status.Signal())
		case dead == pid:
			return nil
		}
	}
}

// makeWorld replaces the mounts and starts the loopback.
func makeWorld() error {
	if err := unix.Mount("", "/", "", unix.MS_REC|unix.MS_PRIVATE, ""); err != nil {
		return fmt.Errorf("detach the mounts: %w", err)
	}
	all := unix.MountAttr{Attr_set: unix.MOUNT_ATTR_RDONLY}
	if err := unix.MountSetattr(unix.AT_FDCWD, "/", unix.AT_RECURSIVE, &all); err != nil {
		return fmt.Errorf("make the mounts read only: %w", err)
	}
	programs, err := unix.OpenTree(unix.AT_FDCWD, os.Getenv(programsVar), unix.OPEN_TREE_CLONE|unix.OPEN_TREE_CLOEXEC)
	if err != nil {
		return fmt.Errorf("the programs in %s: %w", os.Getenv(programsVar), err)
	}
	devices, err := deviceFolder()
	if err != nil {
		return fmt.Errorf("devices: %w", err)
	}
	for _, dir := range []string{"/home", "/run", "/tmp"} {
		if err := memory(dir); err != nil {
			return err
		}
	}
	if err := unix.MoveMount(devices, "", unix.AT_FDCWD, "/dev", unix.MOVE_MOUNT_F_EMPTY_PATH); err != nil {
		return fmt.Errorf("devices: %w", err)
	}
	if err := unix.Mount("proc", "/proc", "proc", unix.MS_NOSUID|unix.MS_NODEV|unix.MS_NOEXEC|unix.MS_RDONLY, ""); err != nil {
		return fmt.Errorf("mount /proc: %w", err)
	}
	if err := account(); err != nil {
		return fmt.Errorf("the account: %w", err)
	}
	for _, dir := range []string{runDir, binDir} {
		if err := os.MkdirAll(dir, 0o700); err != nil {
			return err
		}
	}
	if err := unix.MoveMount(programs, "", unix.AT_FDCWD, binDir, unix.MOVE_MOUNT_F_EMPTY_PATH); err != nil {
		return fmt.Errorf("programs: %w", err)
	}
	return loopback()
}

// memory mounts an empty file system in memory.
func memory(dir string) error {
	if err := unix.Mount("tmpfs", dir, "tmpfs", unix.MS_NOSUID|unix.MS_NODEV, "mode=755,size=512m"); err != nil {
		return fmt.Errorf("mount %s: %w", dir, err)
	}
	return nil
}

// deviceFolder makes a folder with the devices that programs need, and returns it as a mount that is not attached anywhere.
func deviceFolder() (int, error) {
	const dir = "/tmp"
	if err := memory(dir); err != nil {
		return 0, err
	}
	for _, name := range []string{"null", "zero", "full", "random", "urandom"} {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, nil, 0o600); err != nil {
			return 0, err
		}
		if err := unix.Mount(filepath.Join("/dev", name), path, "", unix.MS_BIND, ""); err != nil {
			return 0, err
		}
	}
	for name, to := range map[string]string{"fd": "/proc/self/fd", "stdin": "/proc/self/fd/0", "stdout": "/proc/self/fd/1",
		"stderr": "/proc/self/fd/2"} {
		if err := os.Symlink(to, filepath.Join(dir, name)); err != nil {
			return 0, err
		}
	}
	if err := os.Mkdir(filepath.Join(dir, "shm"), 0o700); err != nil {
		return 0, err
	}
	return unix.OpenTree(unix.AT_FDCWD, dir, unix.OPEN_TREE_CLONE|unix.OPEN_TREE_CLOEXEC|unix.AT_RECURSIVE)
}

// account puts an account for the world's user over the password database.
func account() error {
	path := "/run/passwd"
	if err := os.WriteFile(path, []byte(passwd), 0o600); err != nil {
		return err
	}
	if err := unix.Mount(path, "/etc/passwd", "", unix.MS_BIND, ""); err != nil {
		return err
	}
	return os.Remove(path)
}

// loopback starts the interface lo, which is down in a new namespace.
func loopback() error {
	fd, err := unix.Socket(unix.AF_INET, unix.SOCK_DGRAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return err
	}
	defer unix.Close(fd)
	request, err := unix.NewIfreq("lo")
	if err != nil {
		return err
	}
	request.SetUint16(unix.IFF_UP)
	return unix.IoctlIfreq(fd, unix.SIOCSIFFLAGS, request)
}

// worker does one job after the other and writes what came of each.
func worker(in io.Reader, out io.Writer) error {
	m, err := newMachine()
	if err != nil {
		return err
	}
	jobs := bufio.NewReader(in)
	for {
		line, err := jobs.ReadBytes('\n')
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		var j job
		if err := json.Unmarshal(line, &j); err != nil {
			return err
		}
		answer, err := m.does(j)
		if err != nil {
			return err
		}
		text, err := json.Marshal(answer)
		if err != nil {
			return err
		}
		if _, err := out.Write(append(text, '\n')); err != nil {
			return err
		}
	}
}
