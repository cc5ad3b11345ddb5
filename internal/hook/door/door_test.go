package door

import (
	"context"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"mycelium/internal/harness"
	"mycelium/internal/hook"
	"mycelium/internal/state"
)

// TestMain is also the small program, as an agent starts it.
func TestMain(m *testing.M) {
	if os.Getenv("TEST_HOOK") != "" {
		os.Exit(hook.RunSmall(context.Background, os.Args[1:], os.Stdin, os.Stdout, os.Stderr, os.Environ()))
	}
	os.Exit(m.Run())
}

// small runs the small program.
func small(t *testing.T, stdin string, args ...string) (stdout string, code int) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), os.Args[0], args...)
	cmd.Env, cmd.Stdin = append(os.Environ(), "TEST_HOOK=1", hook.TokenVar+"=another"), strings.NewReader(stdin)
	out, _ := cmd.Output()
	return string(out), cmd.ProcessState.ExitCode()
}

const event = `{"session_id":"s","hook_event_name":"PreToolUse","tool_name":"Bash","tool_input":{"command":"ls"},"tool_use_id":"t",` +
	`"cwd":"/"}`

// open opens a door behind which every call is answered by decide.
func open(t *testing.T, decide func(harness.Event) harness.Answer) (*Door, string) {
	t.Helper()
	project := state.Root(t.TempDir()).Of(t.TempDir())
	d := &Door{Agent: "codex", Token: "its own",
		Program: func() *hook.Program {
			return &hook.Program{Project: project, Alone: func(ctx context.Context, c hook.Command) int {
				if got := c.Getenv(hook.TokenVar); got != "its own" {
					t.Errorf("the token is %q", got)
				}
				c.Decide = func(_ context.Context, e harness.Event) (harness.Answer, error) { return decide(e), nil }
				return c.Run(ctx)
			}}
		},
		Gateway: func(_ context.Context, in io.Reader, out io.Writer) error {
			_, err := io.Copy(out, in)
			return err
		}}
	socket, end, err := d.Listen(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		end()
		if _, err := os.Stat(filepath.Dir(socket)); err == nil {
			t.Error("the folder of the socket is left")
		}
	})
	return d, socket
}

// TestEvents: an event of the agent is answered in the session of the agent; whatever cannot be asked is denied.
func TestEvents(t *testing.T) {
	d, socket := open(t, func(e harness.Event) harness.Answer {
		if e.Tool != "agent__Bash" {
			t.Errorf("%+v", e)
		}
		return harness.Answer{Verdict: harness.Deny, Reason: "not here"}
	})
	flags := []string{"--event", "PreToolUse", "--limit", "10m"}
	out, code := small(t, event, append([]string{"codex", "--door", socket}, flags...)...)
	if code != 0 || !strings.Contains(out, "not here") {
		t.Errorf("exit %d: %s", code, out)
	}
	if d.Calls() != 1 {
		t.Errorf("%d calls", d.Calls())
	}
	for name, args := range map[string][]string{
		"nobody there":  {"codex", "--door", socket + "x"},
		"another agent": {"gemini", "--door", socket},
	} {
		if name == "another agent" {
			args = append(args, "--event", "BeforeTool", "--limit", "10m")
		} else {
			args = append(args, flags...)
		}
		if out, code := small(t, event, args...); code == 0 && !strings.Contains(out, "deny") {
			t.Errorf("%s: exit %d: %s", name, code, out)
		}
	}
	if d.Calls() != 1 {
		t.Errorf("%d calls", d.Calls())
	}
}

// TestGateway: the MCP server of the agent is a stream to the gateway, until its input ends.
func TestGateway(t *testing.T) {
	_, socket := open(t, nil)
	if out, code := small(t, "{\"jsonrpc\":\"2.0\"}\n", hook.DoorGateway, socket); code != 0 || out != "{\"jsonrpc\":\"2.0\"}\n" {
		t.Errorf("exit %d: %q", code, out)
	}
	if _, code := small(t, "", hook.DoorGateway, socket+"x"); code == 0 {
		t.Error("a gateway that is not there is a success")
	}
}

// TestNonsense: a client that says something else, or too much, gets nothing.
func TestNonsense(t *testing.T) {
	d, socket := open(t, nil)
	for _, said := range []string{"\n", "event\n", "event {}\n", "daemon {\"method\":\"session/new\"}\n",
		strings.Repeat("x", maxLine+70<<10)} {
		c, err := net.Dial("unix", socket)
		if err != nil {
			t.Fatal(err)
		}
		_, _ = io.WriteString(c, said) // it may be closed before all of it is there
		if got, _ := io.ReadAll(c); len(got) > 0 {
			t.Errorf("%.20q is answered %q", said, got)
		}
		_ = c.Close()
	}
	if d.Calls() != 0 {
		t.Error("it counts as a call")
	}
}
