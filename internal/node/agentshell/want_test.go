package agentshell

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"mycelium/internal/approval"
	"mycelium/internal/policy/box"
	"mycelium/internal/sandbox/proxy"
)

// TestWants: what a command lacked is asked for once each time that it lacked it, as long as it was approved for the session, and not any
// more once it was refused for the session.
func TestWants(t *testing.T) {
	folder, now := t.TempDir(), time.Now()
	f := wantOf(folder, "npm ci", folder)
	thing := func(name string) approval.Lack { return approval.Lack{Need: approval.NeedHost, Name: name} }
	lacked := func(names ...string) (l approval.Lacked) {
		l.Profile = "project"
		for _, n := range names {
			l.Things = append(l.Things, thing(n))
		}
		return l
	}
	add := func(l, more approval.Lacked, wantAsked, wantNever bool) {
		t.Helper()
		asked, never, err := f.add(l, more, now)
		if err != nil || asked != wantAsked || never != wantNever {
			t.Errorf("added: asked %t, never %t, %v", asked, never, err)
		}
	}
	settle := func(allowed bool, answer approval.For) {
		t.Helper()
		if err := f.settle(f.find(now), allowed, answer, now); err != nil {
			t.Error(err)
		}
	}
	finds := func(when time.Time, want string) {
		t.Helper()
		if got := f.find(when).String(); got != want {
			t.Errorf("asks for %q, want %q", got, want)
		}
	}
	finds(now, "")
	for _, once := range []bool{true, false} {
		add(lacked("a:1"), approval.Lacked{}, true, false)
		finds(now, "host a:1")
		finds(now.Add(ticketFor+time.Second), "")
		settle(once, approval.Once)
		finds(now, "")
	}
	add(lacked("a:1"), approval.Lacked{}, true, false)
	settle(true, approval.Session)
	finds(now, "host a:1")
	add(lacked("a:1"), lacked("a:1"), false, false) // it had it
	add(lacked("b:1"), lacked("a:1"), true, false)
	finds(now, "host a:1, host b:1")
	settle(false, approval.Never)
	finds(now, "")
	add(lacked("b:1"), approval.Lacked{}, false, true)
	add(lacked("b:1", "c:1"), approval.Lacked{}, true, true)
	finds(now, "host c:1")
	settle(true, approval.Once)
	finds(now, "")
	add(lacked("b:1"), approval.Lacked{}, false, true) // that stays

	other := wantOf(folder, "npm ci", t.TempDir())
	if l := other.find(now); l.Any() {
		t.Errorf("in another folder it asks for %s", l)
	}
}

// TestPackageIsAThing: a package of a registry that the proxy refused is asked for as such, and a host as before.
func TestPackageIsAThing(t *testing.T) {
	l, words := lackedOf([]proxy.Refusal{{Host: "registry.npmjs.org:443", Package: "npm:left-pad"}, {Host: "a.example:443"}}, nil)
	if l.String() != "package npm:left-pad, host a.example:443" || strings.Join(words, ", ") != l.String() {
		t.Errorf("it asks for %q, and says %q", l, words)
	}
	if lines := strings.Join(l.Lines(), "\n"); !strings.Contains(lines, "npm:left-pad comes with the dependencies that its registry lists.") {
		t.Errorf("the person reads %s", lines)
	}
	want := box.Box{Hosts: []string{"a.example:443"}, Packages: []string{"npm:left-pad"}}
	if got := l.Grants(); !got.Same(want) {
		t.Errorf("it grants %+v", got)
	}
}

// TestWantsAreBounded: neither many commands nor many names fill the state.
func TestWantsAreBounded(t *testing.T) {
	folder, now := t.TempDir(), time.Now()
	var l approval.Lacked
	for i := range 2 * mostThings {
		l.Things = append(l.Things, approval.Lack{Need: approval.NeedRead, Name: fmt.Sprint("/", i)})
	}
	for i := range mostWants + 10 {
		if _, _, err := wantOf(folder, fmt.Sprint(i), folder).add(l, approval.Lacked{}, now); err != nil {
			t.Fatal(err)
		}
	}
	files, err := os.ReadDir(filepath.Join(folder, wantsName))
	if err != nil || len(files) != mostWants {
		t.Errorf("%d files, %v", len(files), err)
	}
	if got := wantOf(folder, fmt.Sprint(mostWants+9), folder).find(now); len(got.Things) != mostThings {
		t.Errorf("it asks for %d things", len(got.Things))
	}
}
