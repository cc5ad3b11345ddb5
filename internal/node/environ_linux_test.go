package node

import (
	"os"
	"os/exec"
	"slices"
	"testing"

	"mycelium/internal/backend"
	"mycelium/internal/config"
	"mycelium/internal/node/project"
	"mycelium/internal/op"
)

// TestAnAgentReplacesNoVariable: an agent's client fills in what is missing, a person's replaces.
func TestAnAgentReplacesNoVariable(t *testing.T) {
	pool, err := backend.New(nil, backend.Options{Dir: t.TempDir(), Catalogs: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	view := &project.View{Project: &config.Project{Content: config.Content{File: config.File{Env: []string{"OWN", "NEW", "LATE"}}}}}
	n := &Servers{pool: pool, files: &reloader{view: view}, environ: []string{"OWN=daemon"}, renew: func() {}}
	agent := startEcho(t, "CLAUDECODE=1")
	hand := func(pid int, environ ...string) {
		t.Helper()
		n.SetEnviron(op.Caller{PID: pid}, environ)
	}
	hand(agent, "OWN=evil", "NEW=agent", "UNNAMED=x")
	if want := []string{"NEW=agent"}; !slices.Equal(n.handed, want) {
		t.Errorf("handed over: %q, want %q", n.handed, want)
	}
	hand(os.Getpid(), "OWN=person", "NEW=person")
	hand(agent, "NEW=agent again", "LATE=agent")
	if want := []string{"OWN=person", "NEW=person", "LATE=agent"}; !slices.Equal(n.handed, want) {
		t.Errorf("handed over: %q, want %q", n.handed, want)
	}
}

// startEcho returns the pid of a process with exactly that environment. It has answered once: Start alone returns while
// the kernel still sets up the new program, whose environment then reads as empty.
func startEcho(t *testing.T, environ ...string) int {
	t.Helper()
	cat := exec.Command("cat")
	cat.Env = environ
	in, err := cat.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cat.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cat.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = cat.Process.Kill(); _ = cat.Wait() })
	if _, err := in.Write([]byte("x")); err != nil {
		t.Fatal(err)
	}
	if _, err := out.Read(make([]byte, 1)); err != nil {
		t.Fatal(err)
	}
	return cat.Process.Pid
}
