package agentshell

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"sync"

	"github.com/go-json-experiment/json"
	"golang.org/x/sys/unix"

	"mycelium/internal/sandbox/light"
	"mycelium/internal/shell"
)

// Behind the light wall an agent's shell cannot write the state, so it can take no ticket and start no sandbox. The program before the
// shell then asks the process that started the agent, and gives it its streams. What runs in the sandbox is started there. What runs
// outside of it is started by the program itself, behind the light wall.
//
// The process that is asked has more rights than whoever asks, which may be any program of the agent. Of the message it uses the line,
// for which there must be a ticket, and the folder, which must be that of the ticket. It makes a sandbox with its own environment, because
// PATH and the variables of git choose programs that prepare one. The command inside has the other variables of whoever asked.

// socketName is the socket in the folder of a run.
const socketName = "shell.sock"

// asked is the message of the program about itself.
type asked struct {
	Args    []string `json:"args"`
	Environ []string `json:"environ"`
	Dir     string   `json:"dir"`            // with links resolved
	Shell   string   `json:"shell,omitzero"` // the name of the shell that started it
}

// answered is the answer, when the command has ended.
type answered struct {
	Exit    int      `json:"exit"`
	Argv    []string `json:"argv,omitempty"` // the program that the asking one becomes
	Environ []string `json:"environ,omitempty"`
}

// Server answers for the shell of one run. Shell returns a run of the program, which lacks its name, arguments and streams, and has the
// environment for sandboxes.
type Server struct {
	Folder string // of the run
	Shell  func() Shell
}

// Listen answers until end is called, which ends every command.
func (s *Server) Listen() (end func(), err error) {
	at, err := os.Open(s.Folder)
	if err != nil {
		return nil, fmt.Errorf("listen for the agent's shell: %w", err)
	}
	l, err := net.ListenUnix("unix", socketIn(at))
	if err != nil {
		_ = at.Close()
		return nil, fmt.Errorf("listen for the agent's shell: %w", err)
	}
	l.SetUnlinkOnClose(false) // the folder of the run goes as a whole
	ctx, cancel := context.WithCancel(context.Background())
	var parts sync.WaitGroup
	parts.Go(func() {
		for {
			c, err := l.AcceptUnix()
			if err != nil {
				return // it is closed
			}
			parts.Go(func() { s.answer(ctx, c) })
		}
	})
	return func() {
		cancel()
		_ = l.Close()
		parts.Wait()
		_ = at.Close()
	}, nil
}

// socketIn is the address of the socket in an open folder: its whole path may be longer than that of a socket may be (unix(7)).
func socketIn(folder *os.File) *net.UnixAddr {
	return &net.UnixAddr{Net: "unix", Name: "/proc/self/fd/" + strconv.Itoa(int(folder.Fd())) + "/" + socketName}
}

// answer answers one program. The command ends with the connection.
func (s *Server) answer(ctx context.Context, c *net.UnixConn) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	defer context.AfterFunc(ctx, func() { _ = c.Close() })()
	defer func() { _ = c.Close() }()
	first, rights := make([]byte, 1), make([]byte, unix.CmsgSpace(3*4))
	_, n, _, _, err := c.ReadMsgUnix(first, rights)
	if err != nil {
		return
	}
	streams, err := filesOf(rights[:n])
	defer func() {
		for _, f := range streams {
			_ = f.Close()
		}
	}()
	if err != nil || len(streams) != 3 {
		return
	}
	in := bufio.NewReader(c)
	line, err := in.ReadBytes('\n')
	var q asked
	if err != nil || json.Unmarshal(append(first, line...), &q) != nil || !filepath.IsAbs(q.Dir) {
		return
	}
	go func() { // it says nothing more: it is gone
		_, _ = io.Copy(io.Discard, in)
		cancel()
	}()
	var a answered
	sh := s.Shell()
	sh.Program, sh.Args, sh.In, sh.Out, sh.Err = Program(s.Folder), q.Args, streams[0], streams[1], streams[2]
	sh.served = &served{ctx: ctx, asked: q, instead: func(argv, environ []string) { a.Argv, a.Environ = argv, environ }}
	a.Exit = sh.Main()
	if said, err := json.Marshal(a); err == nil {
		_, _ = c.Write(append(said, '\n'))
	}
}

// filesOf returns the files that came with a message.
func filesOf(rights []byte) (files []*os.File, err error) {
	messages, err := unix.ParseSocketControlMessage(rights)
	if err != nil || len(messages) != 1 {
		return nil, errors.Join(err, errors.New("the streams did not come"))
	}
	fds, err := unix.ParseUnixRights(&messages[0])
	for _, fd := range fds {
		files = append(files, os.NewFile(uintptr(fd), "stream"))
	}
	return files, err
}

// served is a run of the program for another process.
type served struct {
	ctx     context.Context //nolint:containedctx // the life of the other process
	asked   asked
	instead func(argv, environ []string)
}

// passOn has the process that started the agent answer, and returns the exit code.
func (s *Shell) passOn(folder string, n *Note) int {
	a, err := s.answerFrom(folder)
	if err == nil && len(a.Argv) > 0 {
		err = s.closeInput(n)
	}
	switch {
	case err != nil:
		fmt.Fprintf(s.Err, "Mycelium did not run this command: %v.\n", err)
		return exitRefused
	case len(a.Argv) > 0:
		return s.become(a.Argv, a.Environ)
	}
	return a.Exit
}

func (s *Shell) answerFrom(folder string) (a answered, err error) {
	dir, err := s.dir()
	if err != nil {
		return a, err
	}
	at, err := os.Open(folder)
	if err != nil {
		return a, err
	}
	defer at.Close()
	c, err := net.DialUnix("unix", nil, socketIn(at))
	if err != nil {
		return a, fmt.Errorf("the myc that started this agent does not answer: %w", err)
	}
	defer func() { _ = c.Close() }()
	q, err := json.Marshal(asked{Args: s.Args, Environ: s.Environ, Dir: dir, Shell: s.caller()})
	if err != nil {
		return a, err
	}
	q = append(q, '\n')
	rights := unix.UnixRights(int(s.In.Fd()), int(s.Out.Fd()), int(s.Err.Fd()))
	if _, _, err = c.WriteMsgUnix(q[:1], rights, nil); err == nil {
		_, err = c.Write(q[1:])
	}
	if err != nil {
		return a, err
	}
	line, err := bufio.NewReader(c).ReadBytes('\n')
	if err != nil {
		return a, fmt.Errorf("the myc that started this agent ended before it answered: %w", err)
	}
	return a, json.Unmarshal(line, &a)
}

// dir is the folder in which the program was started, with links resolved.
func (s *Shell) dir() (string, error) {
	if s.served != nil {
		return s.served.asked.Dir, nil
	}
	dir, err := os.Getwd()
	if err != nil {
		return "", err
	}
	return filepath.EvalSymlinks(dir)
}

// environ is the environment of a command that runs outside of the sandbox.
func (s *Shell) environ() []string {
	if s.served != nil {
		return s.served.asked.Environ
	}
	return s.Environ
}

// barred are programs that need another user than the agent's, or rights over the mounts of the machine. Behind the light wall there are
// neither.
var barred = []string{"sudo", "sudoedit", "su", "doas", "pkexec", "podman", "buildah", "fusermount", "fusermount3", "sshfs", "crontab", "at",
	"newuidmap", "mount", "umount"}

// warn names a program of a command that does not work behind the light wall, if the agent of a run is behind one.
func (s *Shell) warn(folder string, n *Note, command string) {
	if lost, none := light.Of(folder); s.served == nil || lost != "" || none != "" {
		return
	}
	for _, part := range shell.Facts(command, shell.Options{}).Parts {
		if slices.Contains(barred, filepath.Base(part.Program)) {
			fmt.Fprintf(s.Err, "myc: %s does not work behind the light wall; your person can start the agent without it: myc %s --wall no\n",
				filepath.Base(part.Program), n.Agent)
			return
		}
	}
}
