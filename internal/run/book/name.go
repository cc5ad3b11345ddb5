package book

import (
	"cmp"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"mycelium/internal/approval"
	"mycelium/internal/credential"
	"mycelium/internal/text"
)

// maxName bounds a name without its number, in characters.
const maxName = 40

// pane is one pane of one tmux server.
type pane struct{ socket, id string }

// called is the name of an agent that is known from tmux only, and what it was made of.
type called struct{ base, name string }

// base returns the name of a session without the number that makes it unique: that of its tmux window, else that of its folder, else "".
// It is one word, so that a person can write it in a command.
func base(window, dir string) string {
	name := window
	if oneWord(name) == "" && dir != "" {
		name = filepath.Base(dir)
	}
	return oneWord(name)
}

func oneWord(name string) string {
	name = text.OneLine(strings.Join(strings.Fields(credential.Mask(name)), "-"))
	name = strings.Trim(name, `"'“”/`)
	if runes := []rune(name); len(runes) > maxName {
		name = string(runes[:maxName])
	}
	return name
}

// unique returns a name that nobody has: shop, shop-2, shop-3. Without a base it is a number.
func unique(base string, taken map[string]bool) string {
	for n := 1; ; n++ {
		name := base
		switch {
		case base == "":
			name = strconv.Itoa(n)
		case n > 1:
			name += "-" + strconv.Itoa(n)
		}
		if !taken[name] {
			return name
		}
	}
}

// taken returns the names that a new session cannot have. The lock is held.
func (b *Book) taken() map[string]bool {
	names := map[string]bool{}
	since := b.now().Add(-claim)
	for _, s := range b.sessions {
		if s.Ended.IsZero() && s.Seen.After(since) {
			names[s.Label] = true
		}
	}
	return names
}

// NameSeen names the agents that are known from tmux only, which have the name of their window in Label. An agent keeps its name as long
// as it is in the list.
func (b *Book) NameSeen(list []approval.AgentSession) {
	b.mu.Lock()
	defer b.mu.Unlock()
	taken, now := b.taken(), map[pane]called{}
	slices.SortStableFunc(list, func(x, y approval.AgentSession) int {
		return cmp.Or(cmp.Compare(x.Tmux, y.Tmux), cmp.Compare(len(x.Pane), len(y.Pane)), cmp.Compare(x.Pane, y.Pane))
	})
	key := func(s *approval.AgentSession) pane { return pane{approval.SocketOf(s.Tmux), s.Pane} }
	for i := range list { // those that have a name come first
		s := &list[i]
		if old, ok := b.seen[key(s)]; ok && old.base == base(s.Label, s.Dir) && !taken[old.name] {
			now[key(s)], taken[old.name] = old, true
		}
	}
	for i := range list {
		s := &list[i]
		if _, ok := now[key(s)]; !ok {
			made := called{base: base(s.Label, s.Dir)}
			made.name = unique(made.base, taken)
			now[key(s)], taken[made.name] = made, true
		}
		s.Label = now[key(s)].name
	}
	b.seen = now
}
