package sandbox

import (
	"bytes"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// dialMain connects to path sockets, and says for each whether somebody answers. The last argument is where it listens itself.
func dialMain(args []string) int {
	for i, path := range args {
		if i == len(args)-1 {
			if err := os.Remove(path); err != nil && !errors.Is(err, os.ErrNotExist) {
				fmt.Println(err)
				return 1
			}
			l, err := net.ListenUnix("unix", &net.UnixAddr{Name: path, Net: "unix"})
			if err != nil {
				fmt.Println(err)
				return 1
			}
			l.SetUnlinkOnClose(false) // as a program that is killed leaves it
			fmt.Println("own: listens")
			continue
		}
		for _, network := range []string{"unix", "unixgram"} {
			c, err := net.Dial(network, path)
			if err == nil {
				fmt.Println(filepath.Base(path) + ": answers as " + network)
				_ = c.Close()
			}
		}
	}
	return 0
}

// TestSockets: at a path socket of the project, another program does not answer, in every profile. Sockets that nobody has any more and
// those that the command makes are as ever.
func TestSockets(t *testing.T) {
	c := projectCommand(t)
	t.Chdir(c.Project) // an address has at most 107 bytes
	deep := strings.Repeat("a-folder-with-a-long-name/", 6)
	if err := os.MkdirAll(deep, 0o755); err != nil {
		t.Fatal(err)
	}
	accepted := make(chan bool, 1)
	l, err := net.Listen("unix", "stream.sock")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	go func() {
		c, err := l.Accept()
		if err == nil {
			_ = c.Close()
		}
		accepted <- err == nil
	}()
	gram, err := net.ListenPacket("unixgram", "gram.sock")
	if err != nil {
		t.Fatal(err)
	}
	defer gram.Close()
	t.Chdir(deep)
	listen(t, "unix", "deep.sock")
	t.Chdir(c.Project)
	stale, err := net.ListenUnix("unix", &net.UnixAddr{Name: "stale.sock", Net: "unix"})
	if err != nil {
		t.Fatal(err)
	}
	stale.SetUnlinkOnClose(false)
	_ = stale.Close()

	program := self(t).Argv[0]
	c.Read = []string{program}
	c.Argv = []string{program, "dial", "stream.sock", "gram.sock", deep + "deep.sock", "stale.sock"}
	for _, name := range []string{"project", "standard"} {
		c.Profile, _ = Find(name)
		var said bytes.Buffer
		c.Out, c.Err = &said, &said
		result, err := Run(t.Context(), self(t), c)
		if err != nil {
			t.Fatal(err)
		}
		if strings.Contains(said.String(), "answers") {
			t.Errorf("%s: %s", name, said.String())
		}
		if name == "project" && (result.ExitCode != 0 || said.String() != "own: listens\n" || len(result.Left.Quarantined) > 0) {
			t.Errorf("%s: %+v %s", name, result, said.String())
		}
	}
	if st, err := os.Lstat("stale.sock"); err != nil || st.Mode()&os.ModeSocket == 0 {
		t.Errorf("the command's own socket is gone: %v", err)
	}
	_ = l.Close()
	if <-accepted {
		t.Error("the look connected to the program")
	}
}
