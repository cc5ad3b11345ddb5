package keeper

import (
	"bytes"
	"errors"
	"os"
	"slices"
	"strconv"
	"time"

	"golang.org/x/sys/unix"
)

// scanEvery is how often the keeper scans for processes that left their group, while it ends a server. A scan reads two small files
// for each process.
const scanEvery = 100 * time.Millisecond

// findStrays returns the descendants of this process that have a mark, by mark.
func findStrays() map[string][]int {
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

// scan sends SIGTERM to the groups that are to end, and to the processes that left them. It scans the processes of the machine once for
// all groups: when a group is new among those that are to end, when one has become empty, and every scanEvery.
func (k *keeper) scan() {
	due, wanted := false, false
	for pid, g := range k.groups {
		if !g.stopping {
			continue
		}
		if g.empty.IsZero() && !g.leaderAlive && errors.Is(unix.Kill(-pid, 0), unix.ESRCH) {
			g.empty = time.Now()
		}
		wanted = true
		due = due || !g.termSent || g.empty.After(k.scanned)
	}
	if !wanted || !due && time.Since(k.scanned) < scanEvery {
		return
	}
	k.scanned = time.Now() // before the scan: the next one finds what starts meanwhile
	k.strays = findStrays()
	for pid, g := range k.groups {
		if !g.stopping {
			continue
		}
		if !g.termSent {
			g.termSent = true
			_ = unix.Kill(-pid, unix.SIGTERM)
		}
		fresh := slices.DeleteFunc(slices.Clone(k.strays[g.mark]), func(stray int) bool { return slices.Contains(g.straysTermed, stray) })
		g.signal(pid, fresh, unix.SIGTERM)
		g.straysTermed = append(g.straysTermed, fresh...)
	}
}

// signal sends a signal to the processes that left a group.
func (g *group) signal(pid int, found []int, sig unix.Signal) {
	for _, stray := range found {
		// The pid may belong to another process by now: its mark is read again.
		if group, err := unix.Getpgid(stray); err == nil && group != pid && markOf(stray) == g.mark {
			_ = unix.Kill(stray, sig)
		}
	}
}
