package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"mycelium/internal/harness"
	"mycelium/internal/hook"
)

// TestLastWord: a denial that cannot be written ends as the exit code that blocks, with a reason on stderr, in both programs; so do a
// signal and a --help that somebody put into the entry.
func TestLastWord(t *testing.T) {
	t.Parallel()
	w := newFailWorld(t)
	w.start()
	const malformed = `{"tool_name":"Write","tool_name":"Read"`
	run := func(agent string, small bool, before string, stdout *os.File, more ...string) badOutput {
		args := append([]string{agent, "-C", w.dir, "--event", agentWrites[agent][0], "--limit", "60s"}, more...)
		cmd := w.command(append([]string{"hook"}, args...)...)
		if small {
			cmd.Path, cmd.Args = filepath.Join(filepath.Dir(cmd.Path), hook.Small), append([]string{hook.Small}, args...)
		}
		shell, err := exec.LookPath("sh")
		if err != nil {
			t.Fatal(err)
		}
		cmd.Args = slices.Concat([]string{"sh", "-c", before, "sh", cmd.Path}, cmd.Args[1:])
		cmd.Path = shell
		var errout strings.Builder
		cmd.Stdin, cmd.Stderr = strings.NewReader(malformed), &errout
		if stdout != nil {
			cmd.Stdout = stdout
		}
		_ = cmd.Run()
		return badOutput{cmd.ProcessState.ExitCode(), "", errout.String()}
	}
	full, err := os.OpenFile("/dev/full", os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer full.Close()
	r, unread, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer unread.Close()
	if err := r.Close(); err != nil {
		t.Fatal(err)
	}
	for _, agent := range harness.Names() {
		for name, small := range map[string]bool{"myc hook": false, hook.Small: true} {
			for fault, o := range map[string]badOutput{
				"closed":          run(agent, small, `exec "$@" >&-`, nil),
				"the null device": run(agent, small, `exec "$@"`, nil),
				"full":            run(agent, small, `exec "$@"`, full),
				"unread":          run(agent, small, `exec "$@"`, unread),
				"help":            run(agent, small, `exec "$@"`, nil, "--help"),
				"help as a value": run(agent, small, `exec "$@"`, nil, "--gateway", "--help"),
			} {
				if o.code != harness.Block || !strings.Contains(o.errout, "Mycelium denied this call") {
					t.Errorf("%s by %s, stdout %s: %+v", agent, name, fault, o)
				}
			}
		}
	}
}

// TestSignalledHook: a signal that reaches the hook while it waits for its event is no consent.
func TestSignalledHook(t *testing.T) {
	t.Parallel()
	w := newFailWorld(t)
	for _, small := range []bool{false, true} {
		for _, s := range []syscall.Signal{syscall.SIGHUP, syscall.SIGTERM, syscall.SIGINT, syscall.SIGUSR1} {
			args := []string{"claude", "-C", w.dir, "--event", "PreToolUse", "--limit", "60s"}
			cmd := w.command(append([]string{"hook"}, args...)...)
			if small {
				cmd.Path, cmd.Args = filepath.Join(filepath.Dir(cmd.Path), hook.Small), append([]string{hook.Small}, args...)
			}
			var out strings.Builder
			cmd.Stdout = &out
			in, err := cmd.StdinPipe()
			if err != nil {
				t.Fatal(err)
			}
			if err := cmd.Start(); err != nil {
				t.Fatal(err)
			}
			if !poll(t.Context(), badPatience, func() bool { return ignoresPipe(cmd.Process.Pid) }) {
				t.Fatal("it does not take signals on")
			}
			if err := cmd.Process.Signal(s); err != nil {
				t.Fatal(err)
			}
			_, _ = in.Write([]byte(`{"hook_event_name":"PreToolUse","tool_name":"Write"`)) // it may have answered already
			_ = in.Close()
			_ = cmd.Wait()
			if denied := strings.Contains(out.String(), `"permissionDecision":"deny"`); !denied && cmd.ProcessState.ExitCode() != harness.Block {
				t.Errorf("small %t, %s: %v, %q", small, s, cmd.ProcessState, out.String())
			}
		}
	}
}

// ignoresPipe reports whether a process ignores SIGPIPE, which is the sign that it is past its start and deaf to the other signals too.
func ignoresPipe(pid int) bool {
	status, _ := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	_, mask, _ := strings.Cut(string(status), "SigIgn:")
	mask, _, _ = strings.Cut(strings.TrimSpace(mask), "\n")
	bits, _ := strconv.ParseUint(mask, 16, 64)
	return bits>>(syscall.SIGPIPE-1)&1 == 1
}
