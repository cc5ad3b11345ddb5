// Package fence tells a person from an agent, for the acts that only a person may do (docs/decisions/0003-operator-fence.md).
package fence

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"

	"mycelium/internal/harness"
	"mycelium/internal/hook"
	"mycelium/internal/keeper"
	"mycelium/internal/op"
	"mycelium/internal/op/failure"
)

// Acts of an operator (mint a session, trust a folder, stop the daemon …) are refused to agents: to a process that has one of our tokens
// or an agent's mark in its environment, or an agent among its ancestors. Without a sandbox this fence is not a wall: an agent that runs
// as the same user can remove its own marks.

// Marks returns the environment variables that only the children of an agent have, or those of a server: a tool that runs commands is
// another shell of the agent (W2).
func Marks() []string { return append(harness.Marks(), hook.TokenVar, keeper.MarkVar) }

// AgentBehind says which agent a process belongs to, or "" for a person. It looks at the process and at its ancestors.
func AgentBehind(pid int) string {
	seen := map[int]bool{}
	for pid > 1 && !seen[pid] {
		seen[pid] = true
		proc := filepath.Join("/proc", strconv.Itoa(pid))
		if env, err := os.ReadFile(filepath.Join(proc, "environ")); err == nil {
			if mark := markIn(env); mark != "" {
				return fmt.Sprintf("process %d carries %s", pid, mark)
			}
		}
		if name := programOf(proc); name != "" {
			return fmt.Sprintf("process %d is %s", pid, name)
		}
		pid = parentOf(proc)
	}
	return ""
}

// PersonOnly refuses an act to agents (decision 9).
func PersonOnly(c op.Caller, act string) error {
	if why := AgentBehind(c.PID); why != "" {
		return failure.New(failure.Denied, fmt.Errorf("%s: only a person may do this, and %s", act, why), "")
	}
	return nil
}

// AgentHere is AgentBehind for this process, with its environment and its ancestors.
func AgentHere(environ []string) string {
	if mark := markIn([]byte(strings.Join(environ, "\x00"))); mark != "" {
		return "this process carries " + mark
	}
	return behind.of(os.Getppid())
}

// behind is what was found of the ancestors of this process. A command asks several times, and looks only once.
var behind found

type found struct {
	mu     sync.Mutex
	parent int // 0: nothing was found yet
	why    string
}

// of is AgentBehind. It looks again if the parent is another one.
func (f *found) of(parent int) string {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.parent != parent {
		f.parent, f.why = parent, AgentBehind(parent)
	}
	return f.why
}

func markIn(environ []byte) string {
	marks := Marks()
	for entry := range bytes.SplitSeq(environ, []byte{0}) {
		name, value, _ := strings.Cut(string(entry), "=")
		if value != "" && slices.Contains(marks, name) {
			return name
		}
	}
	return ""
}

// programOf returns the agent's name if the process is one: by its own name, or by the script that an interpreter runs. npm has the program
// of Claude Code as claude.exe, on every system.
func programOf(proc string) string {
	comm, _ := os.ReadFile(filepath.Join(proc, "comm"))
	if name := strings.TrimSuffix(strings.TrimSpace(string(comm)), ".exe"); slices.Contains(harness.Programs(), name) {
		return name
	}
	if isSelf(proc) {
		return "" // `myc claude` is a command of a person, not a script with that name
	}
	cmdline, _ := os.ReadFile(filepath.Join(proc, "cmdline"))
	args := strings.Split(string(cmdline), "\x00")
	for _, arg := range args[:min(len(args), 2)] { // the program, and the script of `node script`
		if name := strings.TrimSuffix(strings.TrimSuffix(filepath.Base(arg), ".js"), ".exe"); slices.Contains(harness.Programs(), name) {
			return name
		}
	}
	return ""
}

// isSelf reports whether a process runs this program, under any name. A program of the same name counts, because a daemon may be of
// another version than the command that asks it.
func isSelf(proc string) bool {
	theirs, err := os.Stat(filepath.Join(proc, "exe"))
	if err != nil {
		return false
	}
	ours, err := os.Stat("/proc/self/exe")
	return err == nil && (os.SameFile(theirs, ours) || fileOf(proc) == fileOf("/proc/self"))
}

// fileOf is the name of the file that a process runs, also if it was replaced or removed.
func fileOf(proc string) string {
	link, _ := os.Readlink(filepath.Join(proc, "exe"))
	return strings.TrimSuffix(filepath.Base(link), " (deleted)")
}

// parentOf reads the parent's pid from /proc/PID/stat, whose second field may hold spaces and brackets; 0 ends the walk.
func parentOf(proc string) int {
	stat, err := os.ReadFile(filepath.Join(proc, "stat"))
	if err != nil {
		return 0
	}
	_, rest, ok := bytes.Cut(stat[max(0, bytes.LastIndexByte(stat, ')')):], []byte(") "))
	fields := strings.Fields(string(rest))
	if !ok || len(fields) < 2 {
		return 0
	}
	pid, err := strconv.Atoi(fields[1])
	if err != nil {
		return 0
	}
	return pid
}
