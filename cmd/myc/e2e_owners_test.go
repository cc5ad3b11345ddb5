package main

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"mycelium/internal/atomicfile"
	"mycelium/internal/daemon"
)

// owners is a project with a server of its own, and the folder of the test binary's fixtures in PATH.
func owners(t *testing.T) *project {
	t.Helper()
	p := newProject(t, map[string]string{
		"mycelium.yaml":          "mcpServers:\n  fix: {command: deffile, args: [DIR/tools.json], env: {PATH: \"" + os.Getenv("PATH") + "\"}}\nsession: {defaultRole: guest}\n",
		"skills/user/SKILL.yaml": "name: user\ndescription: Uses the fixture.\nallowedRoles: [guest]\nallowedTools: [fix__echo, fix__slow]\n",
		"tools.json":             `[{"name":"echo","description":"Says it back."},{"name":"slow","description":"Takes its time."}]`,
	})
	p.env = append(p.env, "PATH="+os.Getenv("PATH"), noPages)
	return p
}

// ended is a command that was started, and its end.
type ended struct {
	out bytes.Buffer
	err chan error
}

func (p *project) begin(args ...string) *ended {
	p.t.Helper()
	e := &ended{err: make(chan error, 1)}
	cmd := p.command(args...)
	cmd.Stdout, cmd.Stderr = &e.out, &e.out
	if err := cmd.Start(); err != nil {
		p.t.Fatal(err)
	}
	go func() { e.err <- cmd.Wait() }()
	return e
}

func (p *project) there(name string) {
	p.t.Helper()
	p.eventually(name+" is there", func() bool {
		_, err := os.Stat(filepath.Join(p.dir, name))
		return err == nil
	})
}

// A daemon that a person starts waits for the call of a command, or of a client of an automatic daemon, and takes its place then. A
// command that comes meanwhile is served at once by the owner.
func TestServeWaitsForTheCallOfAnother(t *testing.T) {
	t.Parallel()
	for _, by := range []string{"command", "mcp"} {
		t.Run(by, func(t *testing.T) {
			t.Parallel()
			p := owners(t)
			var answered func() string
			if by == "command" {
				call := p.begin("call", "fix__slow")
				answered = func() string {
					if err := <-call.err; err != nil {
						t.Errorf("the call was cut: %v", err)
					}
					return call.out.String()
				}
			} else {
				w := startWire(t, p.command("mcp")).hello("2025-11-25")
				id := w.request("tools/call", `{"name":"fix__slow","arguments":{}}`)
				answered = func() string {
					said := string(w.await(id))
					// The client goes on with the next daemon, in the same session.
					if again := string(w.ask("tools/call", `{"name":"fix__echo","arguments":{}}`)); !strings.Contains(again, "called echo") {
						t.Errorf("after the daemon was replaced: %s", again)
					}
					return said
				}
			}
			p.there("tools.json.began")
			serve := p.begin("serve", "--background", "--addr", "127.0.0.1:0")
			p.eventually("the daemon waits", func() bool {
				held, err := atomicfile.Locked(p.state().DaemonNext())
				return held && err == nil
			})
			p.must("approvals", "list") // the owner still serves
			p.write("tools.json.go", "")
			if err := <-serve.err; err != nil {
				t.Errorf("serve: %v\n%s", err, serve.out.String())
			}
			if got := answered(); !strings.Contains(got, "called slow") {
				t.Errorf("the call is answered %s", got)
			}
			if s := p.status(); s.Daemon.Addr == "" {
				t.Errorf("the daemon is %+v", s.Daemon)
			}
		})
	}
}

// myc mcp --alone serves its own client: a daemon does not take its place, and says why. What it says names the process and its kind.
func TestServeLeavesAnotherAlone(t *testing.T) {
	t.Parallel()
	p := owners(t)
	w := startWire(t, p.command("mcp", "--alone")).hello("2025-11-25")
	_, stderr, err := p.run("serve", "--background", "--addr", "127.0.0.1:0")
	if err == nil || !strings.Contains(stderr, "myc mcp --alone") {
		t.Errorf("serve: %v\n%s", err, stderr)
	}
	if got := string(w.ask("tools/call", `{"name":"fix__echo","arguments":{}}`)); !strings.Contains(got, "called echo") {
		t.Errorf("its client is answered %s", got)
	}
}

// Beside loops of commands, clients and hooks a daemon starts each time, and nothing of theirs fails. STARTS is how often.
func TestStartsBesideLoops(t *testing.T) {
	t.Parallel()
	p := owners(t)
	starts := 4
	if n, err := strconv.Atoi(os.Getenv("STARTS")); err == nil {
		starts = n
	}
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	var loops sync.WaitGroup
	var done [4]atomic.Int64
	loop := func(i int, once func() error) {
		for range 3 {
			loops.Go(func() {
				for ctx.Err() == nil {
					if err := once(); err != nil {
						t.Error(err)
						return
					}
					done[i].Add(1)
				}
			})
		}
	}
	command := func(want string, in string, args ...string) func() error {
		return func() error {
			cmd := p.command(args...)
			var out bytes.Buffer
			cmd.Stdin, cmd.Stdout, cmd.Stderr = strings.NewReader(in), &out, &out
			if err := cmd.Run(); err != nil || !strings.Contains(out.String(), want) {
				return fmt.Errorf("myc %s: %w\n%s", strings.Join(args, " "), err, out.String())
			}
			return nil
		}
	}
	loop(0, command("called echo", "", "call", "fix__echo"))
	loop(1, command("", "", "approvals", "list"))
	loop(2, func() error { return p.oneClient() })
	loop(3, command("", `{"hook_event_name":"PreToolUse","session_id":"s","tool_name":"Read","tool_use_id":"u","cwd":"`+p.dir+
		`","tool_input":{"file_path":"`+p.dir+`/tools.json"}}`, "hook", "claude"))
	for i := range starts {
		if _, stderr, err := p.run("serve", "--background", "--addr", "127.0.0.1:0"); err != nil {
			t.Errorf("start %d: %v\n%s", i, err, stderr)
			break
		}
		if _, stderr, err := p.run("stop"); err != nil {
			t.Errorf("stop %d: %v\n%s", i, err, stderr)
			break
		}
	}
	stop()
	loops.Wait()
	t.Logf("%d starts beside %d calls, %d lists of approvals, %d clients, %d events", starts, done[0].Load(), done[1].Load(),
		done[2].Load(), done[3].Load())
	if pid, kind, leaving := daemon.Owning(daemon.PathsOf(p.state(), "")); pid != 0 && leaving {
		t.Errorf("process %d (%s) is still leaving", pid, kind)
	}
}

// oneClient is an MCP client that makes one call.
func (p *project) oneClient() error {
	cmd := p.command("mcp")
	in, err := cmd.StdinPipe()
	if err != nil {
		return err
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		return err
	}
	var said bytes.Buffer
	cmd.Stderr = &said
	if err := cmd.Start(); err != nil {
		return err
	}
	heard, err := initializeAndCall(in, out)
	_ = in.Close()
	if werr := cmd.Wait(); err == nil {
		err = werr
	}
	if err != nil {
		return fmt.Errorf("myc mcp: %w\n%s\n%s", err, heard, said.String())
	}
	return nil
}

// initializeAndCall initializes, makes one call, and reads both answers.
func initializeAndCall(in io.Writer, out io.Reader) (heard string, err error) {
	for i, m := range []string{
		`{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"l","version":"1"}}}`,
		`{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"fix__echo","arguments":{}}}`,
	} {
		if _, err := fmt.Fprintln(in, m); err != nil {
			return heard, err
		}
		for id := fmt.Sprintf(`"id":%d`, i+1); !strings.Contains(heard, id); {
			b := make([]byte, 64<<10)
			n, err := out.Read(b)
			if heard += string(b[:n]); err != nil {
				return heard, err
			}
		}
		if i == 0 {
			_, _ = fmt.Fprintln(in, `{"jsonrpc":"2.0","method":"notifications/initialized"}`)
		} else if !strings.Contains(heard, "called echo") {
			return heard, fmt.Errorf("the call was not answered")
		}
	}
	return heard, nil
}
