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
	"sync"

	"github.com/go-json-experiment/json"
	"golang.org/x/sys/unix"

	"mycelium/internal/node/agentshell/shim"
	"mycelium/internal/sandbox"
	"mycelium/internal/sandbox/light"
	"mycelium/internal/shell"
)

// The process that is asked ([shim]) has more rights than the program that asks, which may be any program of the agent. Of the message it uses the
// line, for which there must be a ticket, and the folder, which must be that of the ticket. It makes a sandbox with its own environment,
// because PATH and the variables of git choose programs that prepare one. The command inside has the other variables of the program that asked.

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
	l, err := net.ListenUnix("unix", shim.Socket(at))
	if err != nil {
		_ = at.Close()
		return nil, fmt.Errorf("listen for the agent's shell: %w", err)
	}
	l.SetUnlinkOnClose(false) // the folder of the run goes as a whole
	ctx, cancel := context.WithCancel(context.Background())
	session := &sandbox.Session{}
	var parts sync.WaitGroup
	parts.Go(func() {
		for {
			c, err := l.AcceptUnix()
			if err != nil {
				return // it is closed
			}
			parts.Go(func() { s.answer(ctx, c, session) })
		}
	})
	return func() {
		cancel()
		_ = l.Close()
		parts.Wait()
		session.Close()
		_ = at.Close()
	}, nil
}

// answer answers one program. The command ends with the connection.
func (s *Server) answer(ctx context.Context, c *net.UnixConn, session *sandbox.Session) {
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
	var q shim.Asked
	if err != nil || json.Unmarshal(append(first, line...), &q) != nil || !filepath.IsAbs(q.Dir) {
		return
	}
	go func() { // it says nothing more: it is gone
		_, _ = io.Copy(io.Discard, in)
		cancel()
	}()
	var a shim.Answered
	sh := s.Shell()
	sh.Program, sh.Args, sh.In, sh.Out, sh.Err = shim.Path(s.Folder), q.Args, streams[0], streams[1], streams[2]
	sh.served = &served{ctx: ctx, asked: q, session: session, answer: &a}
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
	asked   shim.Asked
	session *sandbox.Session // of all commands of the agent
	answer  *shim.Answered
}

// dir is the folder in which the program was started, with links resolved.
func (s *Shell) dir() (string, error) {
	if s.served != nil {
		return s.served.asked.Dir, nil
	}
	return shim.Dir()
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
