package keeper

import (
	"bytes"
	"crypto/rand"
	"errors"
	"os"
	"slices"
	"strconv"
	"time"

	"golang.org/x/sys/unix"
)

// scanEvery is how often the keeper looks for such processes while it ends a server. A look reads two small files for each process.
const scanEvery = 100 * time.Millisecond

// newMark is one that no other server has.
func newMark() string { return rand.Text() }

// strays are the descendants of this process that have a mark, by the mark.
func strays() map[string][]int {
	found := map[string][]int{}
	for _, pid := range Descendants(os.Getpid()) {
		if mark := markOf(pid); mark != "" {
			found[mark] = append(found[mark], pid)
		}
	}
	return found
}

// markOf reads the mark of a process; empty if it has none.
func markOf(pid int) string {
	environ, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/environ")
	if err != nil {
		return ""
	}
	for kv := range bytes.SplitSeq(environ, []byte{0}) {
		if mark, ok := bytes.CutPrefix(kv, []byte(MarkVar+"=")); ok {
			return string(mark)
		}
	}
	return ""
}

// look tells the groups that are to end, and finds those who left them: when a group is new among them, when one has become empty, and every
// scanEvery. It is one look for all.
func (k *keeper) look() {
	due, wanted := false, false
	for pid, g := range k.groups {
		if !g.stopping {
			continue
		}
		if g.empty.IsZero() && !g.led && errors.Is(unix.Kill(-pid, 0), unix.ESRCH) {
			g.empty = time.Now()
		}
		wanted = true
		due = due || !g.told || g.empty.After(k.looked)
	}
	if !wanted || !due && time.Since(k.looked) < scanEvery {
		return
	}
	k.looked = time.Now() // before: who comes while it is looked is found by the next one
	k.found = strays()
	for pid, g := range k.groups {
		if !g.stopping {
			continue
		}
		if !g.told {
			g.told = true
			_ = unix.Kill(-pid, unix.SIGTERM)
		}
		fresh := slices.DeleteFunc(slices.Clone(k.found[g.mark]), func(stray int) bool { return slices.Contains(g.warned, stray) })
		g.signal(pid, fresh, unix.SIGTERM)
		g.warned = append(g.warned, fresh...)
	}
}

// signal sends a signal to those who left a group.
func (g *group) signal(pid int, found []int, sig unix.Signal) {
	for _, stray := range found {
		if group, err := unix.Getpgid(stray); err == nil && group != pid && markOf(stray) == g.mark { // it may be another process by now
			_ = unix.Kill(stray, sig)
		}
	}
}
