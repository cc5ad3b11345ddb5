//go:build amd64 || arm64

package jail

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"

	"github.com/go-json-experiment/json"
	"golang.org/x/sys/unix"
)

// The names in the folder of a container.
const (
	containerRoot  = "root"  // the root of the container: links and places of mounts
	containerState = "state" // what the runtime notes
	containerPID   = "pid"   // the first process
)

// containerConfig is the description of a container (config.json of the OCI runtime specification, version 1.0.2).
type containerConfig struct {
	Version  string           `json:"ociVersion"`
	Process  containerProcess `json:"process"`
	Root     containerFolder  `json:"root"`
	Hostname string           `json:"hostname,omitzero"`
	Mounts   []containerMount `json:"mounts"`
	Linux    containerLinux   `json:"linux"`
}

type containerProcess struct {
	User         containerUser       `json:"user"`
	Args         []string            `json:"args"`
	Env          []string            `json:"env"`
	Dir          string              `json:"cwd"`
	Capabilities map[string][]string `json:"capabilities"`
}

type containerUser struct {
	UID int `json:"uid"`
	GID int `json:"gid"`
}

type containerFolder struct {
	Path string `json:"path"`
}

type containerMount struct {
	Target  string   `json:"destination"`
	Type    string   `json:"type"`
	Source  string   `json:"source"`
	Options []string `json:"options"`
}

type containerLinux struct {
	Namespaces []containerSpace `json:"namespaces"`
	UIDs       []containerIDs   `json:"uidMappings,omitzero"`
	GIDs       []containerIDs   `json:"gidMappings,omitzero"`
}

type containerSpace struct {
	Type string `json:"type"`
}

type containerIDs struct {
	Inside  int `json:"containerID"`
	Outside int `json:"hostID"`
	Size    int `json:"size"`
}

// container sets the command that starts the child by crun(1), which makes the namespaces and mounts the parts of the root, as the engines
// of containers have it do. The child keeps rights in its namespaces until it has finished the root. The folder of the container, which is
// returned, is removed when the command has ended.
func container(cmd *exec.Cmd, self []string, spec *Spec) (told *Spec, folder string, err error) {
	sent := *spec
	if err := sent.look(); err != nil {
		return nil, "", err
	}
	if folder, err = os.MkdirTemp(spec.Scratch, "container-"); err != nil {
		return nil, "", err
	}
	config := &containerConfig{Version: "1.0.2", Root: containerFolder{filepath.Join(folder, containerRoot)},
		Process: containerProcess{User: containerUser{os.Getuid(), os.Getgid()}, Args: append([]string{childProgram}, self[1:]...),
			Env: []string{}, Dir: "/", Capabilities: map[string][]string{}}}
	for _, set := range []string{"bounding", "effective", "permitted", "inheritable", "ambient"} {
		config.Process.Capabilities[set] = []string{"CAP_SYS_ADMIN", "CAP_NET_ADMIN", "CAP_SETPCAP"}
	}
	if sent.wants(PID) {
		config.Hostname = spec.Host
	}
	err = errors.Join(os.Mkdir(filepath.Join(folder, containerRoot), 0o755), //nolint:gosec // the root of the sandbox
		os.Mkdir(filepath.Join(folder, containerState), 0o700))
	if err == nil {
		config.Linux = sent.containerSpaces()
		config.Mounts, err = sent.containerMounts(folder, self[0])
	}
	data, jsonErr := json.Marshal(config)
	if err = errors.Join(err, jsonErr); err == nil {
		err = os.WriteFile(filepath.Join(folder, "config.json"), data, 0o600)
	}
	if err != nil {
		return nil, "", errors.Join(err, os.RemoveAll(folder))
	}
	// Without cgroups, so that an ordinary user needs no service that gives them.
	cmd.Path = spec.Program
	cmd.Args = []string{spec.Program, "--root", filepath.Join(folder, containerState), "--cgroup-manager=disabled", "run",
		"--preserve-fds", strconv.Itoa(len(cmd.ExtraFiles)), "--pid-file", filepath.Join(folder, containerPID), "--bundle", folder,
		filepath.Base(folder)}
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
	return &sent, folder, nil
}

// containerSpaces are the namespaces in the words of the specification of containers.
func (s *Spec) containerSpaces() (out containerLinux) {
	names := map[string]string{"user": "user", "mnt": "mount", "pid": "pid", "ipc": "ipc", "uts": "uts", "net": "network"}
	for _, space := range spaces {
		if s.wants(space.layer) {
			out.Namespaces = append(out.Namespaces, containerSpace{names[space.name]})
		}
	}
	if s.wants(User) {
		out.UIDs = []containerIDs{{os.Getuid(), os.Getuid(), 1}}
		out.GIDs = []containerIDs{{os.Getgid(), os.Getgid(), 1}}
	}
	return out
}

// containerMounts are the parts of the root. Links of the root itself and the content of files are made in the folder; links in a part are
// left to the child.
func (s *Spec) containerMounts(folder, self string) ([]containerMount, error) {
	// The processes and devices come first; the runtime makes the usual devices in /dev.
	out := []containerMount{{"/proc", "proc", "proc", []string{"nosuid", "nodev", "noexec"}},
		{"/dev", "tmpfs", "myc", []string{"nosuid", "noexec", "mode=0755", "size=64k"}}}
	for i, b := range s.Binds {
		in := within(b.Target, s.Binds[:i])
		switch b.Kind {
		case Temp:
			out = append(out, containerMount{b.Target, "tmpfs", "myc", []string{"nosuid", "nodev", "mode=0700", "size=25%"}})
		case Link:
			if in.Kind != "" {
				continue
			}
			path := filepath.Join(folder, containerRoot, b.Target)
			err := os.MkdirAll(filepath.Dir(path), 0o755) //nolint:gosec // a folder of the root of the sandbox
			if err = errors.Join(err, os.Symlink(b.Source, path)); err != nil {
				return nil, failed(Mount, "make the link "+b.Target, err)
			}
		case File:
			path := filepath.Join(folder, "file-"+strconv.Itoa(i))
			if err := os.WriteFile(path, b.Data, 0o400); err != nil {
				return nil, err
			}
			out = append(out, containerBind(path, b.Target, false))
		case Tree:
			if shown, err := s.mounts(b, in); err != nil {
				return nil, err
			} else if shown {
				out = append(out, containerBind(b.Source, b.Target, b.Write))
			}
		}
	}
	return append(out, containerBind(self, childProgram, false)), nil
}

func containerBind(source, target string, write bool) containerMount {
	how := "ro"
	if st, err := os.Lstat(source); write {
		how = "rw"
	} else if err == nil && st.IsDir() {
		how = "rro" // with all that is mounted below; crun refuses it for files
	}
	return containerMount{target, "bind", source, []string{"rbind", "rprivate", "nosuid", "nodev", how}}
}

// mounts reports whether a tree is mounted: one that is not there is left out. Its place in another tree must be there, because it would be
// made on the machine.
func (s *Spec) mounts(b, in Bind) (bool, error) {
	if _, ok := s.Outside.Files[b.Source]; !ok {
		return false, nil
	}
	if in.Kind == Tree {
		if _, err := os.Lstat(in.Source + strings.TrimPrefix(b.Target, in.Target)); err != nil {
			return false, failed(Mount, "mount "+b.Target, unix.ENOENT)
		}
	}
	return true, nil
}

// endContainer ends the first process of a container and with it all others; the runtime takes its exit code and ends by itself. Before
// that process is there, the runtime is ended.
func endContainer(folder string, runtime *os.Process) error {
	data, err := os.ReadFile(filepath.Join(folder, containerPID))
	if err != nil {
		return runtime.Kill()
	}
	pid, err := strconv.Atoi(strings.TrimSpace(string(data)))
	if err != nil || pid < 2 {
		return errors.Join(fmt.Errorf("the runtime of containers wrote %q for a process", data), runtime.Kill())
	}
	return syscall.Kill(pid, syscall.SIGKILL)
}

// sealContainer makes what the runtime leaves writable read-only: the root, and the folder of the devices.
func sealContainer() *StageError {
	for _, dir := range []string{"/dev", "/"} {
		attr := unix.MountAttr{Attr_set: unix.MOUNT_ATTR_RDONLY | unix.MOUNT_ATTR_NOSUID}
		if err := unix.MountSetattr(unix.AT_FDCWD, dir, 0, &attr); err != nil {
			return failed(Mount, "make "+dir+" read-only", err)
		}
	}
	return nil
}
