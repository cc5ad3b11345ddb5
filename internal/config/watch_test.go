package config

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"go.uber.org/goleak"

	"mycelium/internal/policy"
	"mycelium/internal/skill"
)

// watched runs Watch and loads the project at each call of changed.
type watched struct {
	t      *testing.T
	loaded chan *Project
}

func (w *world) watch(p *Project) *watched {
	w.t.Helper()
	out := &watched{w.t, make(chan *Project, 1000)}
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() {
		done <- Watch(ctx, p, func() {
			if p, err := Load(Options{Dir: w.dir, OnDisk: w.trusted}); err == nil {
				out.loaded <- p
			}
		})
	}()
	w.t.Cleanup(func() {
		cancel()
		select {
		case err := <-done:
			if err != nil {
				w.t.Error(err)
			}
		case <-time.After(10 * time.Second):
			w.t.Error("Watch did not return")
		}
		goleak.VerifyNone(w.t)
	})
	return out
}

// until waits for a load that sees a change.
func (o *watched) until(what string, seen func(*Project) bool) {
	o.t.Helper()
	deadline := time.After(10 * time.Second)
	for {
		select {
		case p := <-o.loaded:
			if seen(p) {
				return
			}
		case <-deadline:
			o.t.Fatalf("not noticed: %s", what)
		}
	}
}

func hasRole(id string) func(*Project) bool {
	return func(p *Project) bool {
		return slices.ContainsFunc(p.Roles, func(r policy.Role) bool { return r.ID == id })
	}
}

func hasRule(name string) func(*Project) bool {
	return func(p *Project) bool {
		return slices.ContainsFunc(p.Rules, func(r policy.Rule) bool { return r.Name == name })
	}
}

func hasSkill(name string) func(*Project) bool {
	return func(p *Project) bool {
		return slices.ContainsFunc(p.Skills, func(s skill.Skill) bool { return s.Name == name })
	}
}

func not(f func(*Project) bool) func(*Project) bool { return func(p *Project) bool { return !f(p) } }

func rule(name string) string {
	return "version: 1\nrules: [{name: " + name + ", action: deny, tool: a__b}]\n"
}

func aSkill(name string) string {
	return "name: " + name + "\ndescription: A skill.\nallowedRoles: [dev]\nallowedTools: [files__read_file]\n"
}

func TestWatch(t *testing.T) {
	w := newWorld(t)
	w.write("skills/reader/SKILL.yaml", aSkill("reader"))
	w.write("roles/dev.yaml", "id: dev\n")
	w.write("rules.yaml", rule("first"))
	w.trust()
	o := w.watch(w.load())

	w.write("skills/reader/SKILL.yaml", aSkill("reader2"))
	o.until("a skill's file", hasSkill("reader2"))
	w.write("roles/dev.yaml", "id: dev2\n")
	o.until("a role's file", hasRole("dev2"))
	w.write("rules.yaml", rule("second"))
	o.until("rules", hasRule("second"))
	if err := os.Rename(w.write(".rules.yaml.new", rule("third")), filepath.Join(w.dir, "rules.yaml")); err != nil {
		t.Fatal(err)
	}
	o.until("an editor's rename", hasRule("third"))
	w.write("rules.yaml", rule("fourth"))
	o.until("rules after a rename", hasRule("fourth"))
	w.write("skills/new/SKILL.yaml", aSkill("new"))
	o.until("a new skill", hasSkill("new"))
	w.write("skills/new/SKILL.yaml", aSkill("new2"))
	o.until("the new skill's file", hasSkill("new2"))
	if err := os.RemoveAll(filepath.Join(w.dir, "skills", "new")); err != nil {
		t.Fatal(err)
	}
	o.until("a skill that goes", not(hasSkill("new2")))
	w.write(".mcp.json", `{"mcpServers": {}}`)
	o.until("a client's file", func(p *Project) bool { return p.ServersFrom == ".mcp.json" })
	w.write("mycelium.yaml", "policy: {rules: [sub/more.yaml]}\nsession: {defaultRole: x}\n")
	o.until("mycelium.yaml", func(p *Project) bool { return p.File.Session.DefaultRole == "x" })
	w.writeUser("rules.yaml", rule("mine"))
	o.until("the user's first file", hasRule("mine"))
	w.writeUser("roles/x.yaml", "id: x\n")
	o.until("the user's second file", hasRole("x"))
}

// TestWatchNoticesWhatCameBefore: what changed between loading and watching is not lost.
func TestWatchNoticesWhatCameBefore(t *testing.T) {
	w := newWorld(t)
	w.trust()
	p := w.load()
	w.write("rules.yaml", rule("early"))
	w.watch(p).until("a change before the watch", hasRule("early"))
}

// TestWatchFollowsLinks: a configuration that is a link is noticed where it really lies.
func TestWatchFollowsLinks(t *testing.T) {
	w := newWorld(t)
	w.write("~/dotfiles/rules.yaml", rule("a"))
	w.write("~/dotfiles/skills/reader/SKILL.yaml", aSkill("reader"))
	for _, name := range []string{"rules.yaml", "skills"} {
		if err := os.Symlink(filepath.Join(w.home, "dotfiles", name), filepath.Join(w.dir, name)); err != nil {
			t.Fatal(err)
		}
	}
	w.trust()
	o := w.watch(w.load())
	w.write("~/dotfiles/rules.yaml", rule("b"))
	o.until("the rules behind the link", hasRule("b"))
	w.write("~/dotfiles/skills/reader/SKILL.yaml", aSkill("writer"))
	o.until("the skill behind the link", hasSkill("writer"))
}

// TestWatchUnderSteadyWriting: whoever writes without a pause is still noticed.
func TestWatchUnderSteadyWriting(t *testing.T) {
	w := newWorld(t)
	w.trust()
	o := w.watch(w.load())
	stop, stopped := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(stopped)
		tick := time.NewTicker(50 * time.Millisecond)
		defer tick.Stop()
		for {
			select {
			case <-stop:
				return
			case <-tick.C:
				_ = os.WriteFile(filepath.Join(w.dir, "rules.yaml"), []byte(rule("steady")), 0o644)
			}
		}
	}()
	o.until("steady writing", hasRule("steady"))
	close(stop)
	<-stopped
}
