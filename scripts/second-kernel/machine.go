package main

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"time"

	"github.com/go-json-experiment/json"
)

// machine is what a guest says of its kernel.
type machine struct {
	Release  string
	ABI      int // of Landlock; 0: the sandbox does not hold
	Verdicts []verdict
	Opened   map[string]map[string][]string // by attack and user: the layers without which it gets out, as TestLayers writes them, or nothing
	Tests    string                         // what the tests print; "" if they were not run
	Failed   bool                           // the tests, or the guest
	Done     bool                           // the guest came to its end; what it said before is for the console's file only
}

// verdict is what "myc sandbox capabilities" says as a user, with the machine in some state, and what came of a command.
type verdict struct {
	State   string // of the machine; "": as it started
	User    string
	Holds   bool
	Layer   string // the first that fails
	Doing   string
	Cause   string
	Mend    string
	Ran     bool   // myc sandbox exec ran the command
	Said    string // what myc said where capabilities gave no JSON, or by its exec
	ABI     int
	Release string
}

// nothing stands for a layer in what the tests write: it gets out with all of them.
const nothing = "nothing"

// mark begins the one line of the guest that is its result.
const mark = "second-kernel-result "

// Words of the kernel's command line for the guest.
const (
	onlyLook  = "second_kernel=look"  // ask capabilities of the machine as it starts
	noAttacks = "second_kernel=quick" // ask in every state, and try no attacks
)

// longest is how long a kernel may take. Without KVM, on two busy cores, one took four minutes.
const longest = 40 * time.Minute

// boot starts a virtual machine without a network and returns what the guest says. Its console is kept in the file log.
//
// The processor is QEMU's own: where the machine is itself a virtual one, KVM may be there and hang.
func boot(ctx context.Context, emulator []string, image, initrd, log, words string) (*machine, error) {
	ctx, cancel := context.WithTimeout(ctx, longest)
	defer cancel()
	cmd := exec.CommandContext(ctx, emulator[0], append(emulator[1:], "-accel", "tcg", "-cpu", "max", "-smp", "2", //nolint:gosec // ours
		"-m", "4096", "-nodefaults", "-no-user-config", "-nic", "none", "-display", "none", "-serial", "stdio", "-no-reboot",
		"-kernel", image, "-initrd", initrd, "-append", "console=ttyS0 quiet loglevel=1 panic=-1 "+words)...)
	out, err := cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	var errs bytes.Buffer
	cmd.Stderr = &errs
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	console, err := os.Create(log) //nolint:gosec // in our own folder
	if err != nil {
		return nil, err
	}
	defer console.Close()
	m, said, readErr := result(io.TeeReader(out, console))
	if err := cmd.Wait(); err != nil {
		return nil, fmt.Errorf("%w: %s%s", err, errs.Bytes(), said)
	}
	if readErr != nil {
		return nil, fmt.Errorf("%w:\n%s", readErr, said)
	}
	if m.Failed {
		return m, fmt.Errorf("linux %s: %s\n%s", m.Release, m.Tests, said)
	}
	return m, nil
}

// result reads the console of the guest to its end.
func result(console io.Reader) (m *machine, said string, err error) {
	in := bufio.NewReader(console)
	for {
		line, readErr := in.ReadString('\n')
		if data, ok := strings.CutPrefix(strings.TrimSpace(line), mark); ok {
			m = &machine{}
			err = json.Unmarshal([]byte(data), m)
		} else {
			said += line
		}
		switch {
		case readErr == nil:
		case m == nil || err == nil && !m.Done && !m.Failed:
			return nil, said, errors.New("the machine ended before it said its result")
		default:
			return m, said, err
		}
	}
}

// whole returns why what a guest says is not a whole result: an answer without a verdict, a verdict without a cause, a state of which one
// user says nothing, or attacks that were not tried. Nothing is written from such a result.
func (m *machine) whole(attacks bool) error {
	states := map[string]int{}
	for _, v := range m.Verdicts {
		states[v.State]++
		switch {
		case v.Holds != v.Ran:
			return fmt.Errorf("linux %s, %s: capabilities and exec do not agree: %+v", m.Release, v.User, v)
		case !v.Holds && (v.Layer == "" || v.Doing == "" || v.Cause == "" || v.Said == ""):
			return fmt.Errorf("linux %s, %s: a refusal without its layer, its cause or its message: %+v", m.Release, v.User, v)
		}
	}
	for state, n := range states {
		if n != len(users()) {
			return fmt.Errorf("linux %s, state %q: %d verdicts, one for each of %v was expected", m.Release, state, n, users())
		}
	}
	switch holds := len(m.Verdicts) > 0 && m.Verdicts[0].Holds; {
	case states[""] == 0:
		return fmt.Errorf("linux %s: no verdict", m.Release)
	case said(m.Verdicts[0]) != said(m.Verdicts[1]):
		return fmt.Errorf("linux %s: the page has one column for both users, who differ: %+v", m.Release, m.Verdicts[:2])
	case holds && len(states) < 5: // as it started, two limits, AppArmor without and with our profile
		return fmt.Errorf("linux %s: %d states, at least 5 were expected", m.Release, len(states))
	case holds && attacks && len(m.Opened) == 0:
		return fmt.Errorf("linux %s: the table of ways out is empty: %s", m.Release, m.Tests)
	}
	return nil
}

// users returns the users, by the names that the tests give them.
func users() []string { return []string{"root", "an ordinary user"} }
