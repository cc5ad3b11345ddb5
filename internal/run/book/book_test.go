package book

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"mycelium/internal/approval"
)

// begin enters a session of Claude Code and returns its name.
func begin(b *Book, id, window, dir string, now time.Time) string {
	return b.Begin(approval.AgentSession{Agent: "claude", ID: id, Dir: dir, Seen: now, Since: now}, window).Label
}

// TestNames: a session has the name of its window, else of its folder, else a number; it is one word, and no other live session has it.
func TestNames(t *testing.T) {
	now := time.Now()
	b := Open("", nil, func() time.Time { return now })
	for i, c := range []struct{ window, dir, want string }{
		{"", "/src/shop", "shop"}, {"", "/src/shop", "shop-2"}, {"api", "/src/shop", "api"}, {"shop", "/src/x", "shop-3"},
		{"", "", "1"}, {"", "", "2"}, {"my  api\n", "/x", "my-api"}, {`"quoted"`, "/x", "quoted"}, {"  ", "/src/店", "店"},
		{strings.Repeat("長", 100), "/x", strings.Repeat("長", maxName)}, {"", "/", "3"},
	} {
		got := begin(b, fmt.Sprint(i), c.window, c.dir, now)
		if got != c.want {
			t.Errorf("window %q in %s: %q, want %q", c.window, c.dir, got, c.want)
		}
		if again := begin(b, fmt.Sprint(i), "another", "/src/shop/deep", now); again != got {
			t.Errorf("%s is called %s later", got, again)
		}
	}
}

// TestNamesSurvive: a restart changes no name. A name is free when its session has ended, or was silent for long.
func TestNamesSurvive(t *testing.T) {
	now := time.Now()
	clock := func() time.Time { return now }
	path := filepath.Join(t.TempDir(), "state", "agents.json")
	b := Open(path, nil, clock)
	begin(b, "first", "", "/src/shop", now)
	if got := begin(b, "second", "", "/src/shop", now); got != "shop-2" {
		t.Fatal(got)
	}
	b.Save()
	b = Open(path, nil, clock)
	if got := begin(b, "second", "", "/src/shop", now); got != "shop-2" {
		t.Errorf("after a restart: %s", got)
	}
	s := b.Begin(approval.AgentSession{Agent: "claude", ID: "first", Dir: "/src/shop/deep", Seen: now}, "")
	if s.Label != "shop" || s.Start != "/src/shop" {
		t.Errorf("after a restart: %+v", s)
	}
	s.Ended = now
	b.Keep(s)
	if got := begin(b, "third", "", "/src/shop", now); got != "shop" {
		t.Errorf("after the end of shop: %s", got)
	}
	if got := begin(b, "first", "", "/src/shop", now); got != "shop-3" {
		t.Errorf("resumed, and another session is called shop: %s", got)
	}
	now = now.Add(claim + time.Minute)
	if got := begin(b, "fourth", "", "/src/shop", now); got != "shop" {
		t.Errorf("after a long silence: %s", got)
	}
}

// TestBookIsBounded: the oldest sessions are forgotten, and a damaged file is begun again.
func TestBookIsBounded(t *testing.T) {
	now := time.Now()
	path := filepath.Join(t.TempDir(), "agents.json")
	if err := os.WriteFile(path, []byte("{"), 0o600); err != nil {
		t.Fatal(err)
	}
	b := Open(path, nil, nil)
	for i := range most + 10 {
		begin(b, fmt.Sprint(i), "", "/src/shop", now)
	}
	b.Save()
	all, err := Read(path)
	if err != nil || len(all) != most || all[0].ID != "10" || b.Sessions()[0].ID != fmt.Sprint(most+9) {
		t.Errorf("%d sessions, %v", len(all), err)
	}
}

// TestNameSeen: an agent that is known from tmux only keeps its name while it is there, also when one with the same window ends.
func TestNameSeen(t *testing.T) {
	b := Open("", nil, nil)
	begin(b, "a", "api", "/src/api", time.Now())
	at := func(panes ...string) (names []string) {
		var list []approval.AgentSession
		for _, p := range panes {
			list = append(list, approval.AgentSession{ID: "pane:" + p, Pane: p, Tmux: "/tmp/t", Label: "api"})
		}
		b.NameSeen(list)
		for _, s := range list {
			names = append(names, s.Pane+"="+s.Label)
		}
		return names
	}
	if got := fmt.Sprint(at("%10", "%9")); got != "[%9=api-2 %10=api-3]" {
		t.Error(got)
	}
	if got := fmt.Sprint(at("%10")); got != "[%10=api-3]" {
		t.Error(got)
	}
	if got := fmt.Sprint(at("%2", "%10")); got != "[%2=api-2 %10=api-3]" {
		t.Error(got)
	}
}
