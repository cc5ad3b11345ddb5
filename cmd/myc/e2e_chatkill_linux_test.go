package main

import (
	"fmt"
	"math/rand/v2"
	"os/exec"
	"regexp"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"mycelium/internal/model/fake"
)

// TestChatKilled kills the chat on a terminal in the middle of its turns, and goes on with --continue. Nothing that stood on the screen is
// lost, and no tool runs twice. KILLS_OF_AGENT says how often; make soak does it 100 times.
func TestChatKilled(t *testing.T) {
	t.Parallel()
	kills := killsOfAgent(3)
	s := fake.New()
	defer s.Close()
	answers := answersAndCalls(s, kills)
	a := inChat(t, s, map[string]string{"rules.yaml": "version: 1\nrules: []\n",
		"mycelium.yaml": "session: {defaultRole: developer, roles: [developer, guest], defaultSkills: [common, code-modifier]}\n"})
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	random := rand.New(rand.NewPCG(seed, 0)) //nolint:gosec // chooses where to kill
	var screens []string
	var args []string
	for n := range kills + 1 {
		dead := a.pane.ID
		a.chat("160", "200", args...)
		if dead != "" { // not before: without a pane the server ends
			a.tmux("kill-pane", "-t", dead)
		}
		a.tmux("set-option", "-w", "remain-on-exit", "on")
		a.sees("❯")
		have := <-answers // before the model is asked for the next one
		answers <- have
		a.types("go on please")
		end := have - have%4 + 4 // of the turn
		upTo := sentence(end)
		if n < kills {
			said := sentence(have + 1 + random.IntN(end-have))
			upTo = said[:len("Answer ")+2+random.IntN(len(said)-len("Answer ")-1)]
		}
		a.sees(upTo)
		screens = append(screens, a.killPane())
		args = []string{"--continue"}
	}
	a.keptAll(screens)
	a.ranOnce()
}

// sentence is an answer of the model.
func sentence(n int) string {
	return fmt.Sprintf("Answer %d is about as long as a sentence of a model is.", n)
}

// sees waits until a text stands on the screen.
func (a *agentTerminal) sees(said string) {
	a.t.Helper()
	var screen string
	if !poll(a.ctx, patience, func() bool {
		screen, _ = a.server.Screen(a.ctx, a.pane.ID)
		return strings.Contains(screen, said)
	}) {
		a.t.Fatalf("%q never stood on the screen:\n%s", said, screen)
	}
}

// killPane kills what runs in the pane, and returns what stands on its screen then.
func (a *agentTerminal) killPane() string {
	a.t.Helper()
	pid, err := strconv.Atoi(a.asks("#{pane_pid}"))
	if err != nil {
		a.t.Fatal(err)
	}
	if err := syscall.Kill(pid, syscall.SIGKILL); err != nil {
		a.t.Fatal(err)
	}
	a.eventually("the chat is dead", func() bool { return a.asks("#{pane_dead}") == "1" })
	screen, err := a.server.Screen(a.ctx, a.pane.ID)
	if err != nil {
		a.t.Fatal(err)
	}
	return screen
}

// asks returns what tmux says of the pane.
func (a *agentTerminal) asks(format string) string {
	a.t.Helper()
	out, err := exec.CommandContext(a.ctx, a.program, "-S", a.server.Socket, "display-message", "-p", "-t", a.pane.ID, format).Output()
	if err != nil {
		a.t.Fatal(err)
	}
	return strings.TrimSpace(string(out))
}

// keptAll checks that what stood on the screens is in the conversation: answers, and calls with their outcomes.
func (a *agentTerminal) keptAll(screens []string) {
	a.t.Helper()
	var kept strings.Builder
	outcomes := map[string]bool{}
	for _, m := range a.onlyTalk().Messages {
		kept.WriteString(m.Content + "\n")
		for _, c := range m.Calls {
			if c.Output != "" && !c.Failed {
				outcomes[string(c.Input)] = true
			}
		}
	}
	answers, calls := regexp.MustCompile(`Answer \d[^\n]*`), regexp.MustCompile(`✓ files__write_file (f\d+\.txt)`)
	seen := 0
	for i, screen := range screens {
		for _, said := range answers.FindAllString(screen, -1) {
			if seen++; !strings.Contains(kept.String(), strings.TrimSpace(said)) {
				a.t.Errorf("run %d showed %q, which is not kept", i, said)
			}
		}
		for _, call := range calls.FindAllStringSubmatch(screen, -1) {
			ok := false
			for input := range outcomes {
				ok = ok || strings.Contains(input, `"`+call[1]+`"`)
			}
			if seen++; !ok {
				a.t.Errorf("run %d showed an outcome of %s, which is not kept", i, call[1])
			}
		}
	}
	if seen < len(screens) {
		a.t.Errorf("%d screens showed %d things", len(screens), seen)
	}
	a.t.Logf("%d screens showed %d answers and outcomes", len(screens), seen)
}
