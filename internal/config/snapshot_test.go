package config

import (
	"os"
	"reflect"
	"testing"
)

// snap loads the project as a hook does, and reports whether it took the snapshot: then no file was read.
func (w *world) snap() (p *Project, taken bool) {
	w.t.Helper()
	p, err := Load(Options{Dir: w.dir, Snapshot: true})
	if err != nil {
		w.t.Fatal(err)
	}
	return p, p.texts == nil
}

// plain returns the content of a project as far as a snapshot has it.
func plain(p *Project) Content {
	c := p.Content
	for i := range c.Skills {
		c.Skills[i] = c.Skills[i].Plain()
	}
	for i := range c.Rules {
		c.Rules[i].Checked = nil
	}
	return c
}

// full writes files with every kind of content, among them lists that are empty and lists that are missing, which mean different things.
func (w *world) full() {
	w.writeUser("mycelium.yaml", "session: {roles: [dev, guest], defaultRole: dev}\nlimits: {dev: {perMinute: 9, session: {perDay: 3}}}\n")
	w.writeUser("rules.yaml", "version: 1\nrules: [{name: mine, action: deny, tool: Bash, match: {program: [sudo, {regex: 'su.*'}]}}]\n")
	w.writeUser("skills/own/SKILL.md", "---\nname: own\ndescription: Own.\nallowedRoles: [dev]\nallowedTools: [agent__Read]\n---\nRead.\n")
	w.write("mycelium.yaml", "mcpServers: {fs: {command: ./srv, args: [--ro], timeout: 3s}}\nsession: {defaultSkills: []}\n"+
		"approval: {deadline: 90s}\nagents: {budget: {session: 2.5}}\nserver: {anonymous: guest}\n")
	w.write("srv", "#!/bin/sh\n")
	w.write("rules.yaml", "version: 1\nrules:\n- {name: when, action: ask, tool: Bash, when: 'args.command == \"a\" || \"x\" in skills'}\n"+
		"- {name: ex, action: allow, tool: Bash, args: {command: ls}, examples: {match: [{tool: Bash, args: {command: ls}}]}}\n")
	w.write("roles/dev.yaml", "id: dev\nallowedSkills: []\ndeny: [fs__*]\nmodel: {provider: anthropic, temperature: 0.5}\n")
	w.write("roles/guest.yaml", "id: guest\nname: ゲスト\n")
	w.write("skills/none/SKILL.md", "---\nname: none\ndescription: For nobody.\nallowedRoles: []\nallowedTools: [agent__Write]\n---\n")
	w.write("skills/open/SKILL.md", "---\nname: open\ndescription: By ceiling.\nallowedTools: [agent__Bash]\ntriggers: [試す]\n"+
		"commands: [{name: go, handlerType: script, scriptPath: go.sh, arguments: [{name: n, default: yes}]}]\n---\nGo.\n")
	w.write("skills/open/go.sh", "echo\n")
	w.accept()
}

// TestSnapshot: a hook that takes the snapshot has the same content as one that reads the files, the folders of skills included.
func TestSnapshot(t *testing.T) {
	w := newWorld(t)
	w.full()
	first, taken := w.snap()
	if taken {
		t.Fatal("there was a snapshot before anybody made it")
	}
	second, taken := w.snap()
	if !taken {
		t.Fatal("the snapshot was not taken")
	}
	if script, err := second.Skills[len(second.Skills)-1].Dir.Open("go.sh"); err != nil {
		t.Error(err)
	} else {
		_ = script.Close()
	}
	same := reflect.DeepEqual(plain(first), plain(second)) && reflect.DeepEqual(first.closed, second.closed)
	if !same || !reflect.DeepEqual(plain(first), plain(w.load())) {
		t.Errorf("%+v\n%+v", plain(first), plain(second))
	}
	if !second.Trusted || !second.User.Trusted || len(second.Rules[1].Checked) != 0 {
		t.Errorf("trusted %v %v", second.Trusted, second.User.Trusted)
	}
}

// TestSnapshotOfOtherContents: a snapshot of anything else than what is accepted now is not taken.
func TestSnapshotOfOtherContents(t *testing.T) {
	deny := "version: 1\nrules: [{name: no, action: deny, tool: Bash}]\n"
	for name, change := range map[string]func(*world){
		"accepted":        func(w *world) { w.write("rules.yaml", deny); w.accept() },
		"the user's":      func(w *world) { w.writeUser("rules.yaml", deny); w.accept() },
		"trust of folder": func(w *world) { w.writeUser("mycelium.yaml", "trust: folder\n"); w.accept() },
		"damaged": func(w *world) {
			data, err := os.ReadFile(w.state().Snapshot())
			if err != nil {
				t.Fatal(err)
			}
			data[len(data)/2] ^= 1
			if err := os.WriteFile(w.state().Snapshot(), data, 0o600); err != nil {
				t.Fatal(err)
			}
		},
		"cut": func(w *world) {
			if err := os.Truncate(w.state().Snapshot(), 20); err != nil {
				t.Fatal(err)
			}
		},
		"copy damaged": func(w *world) {
			if err := os.WriteFile(w.load().accepted.Path("rules.yaml"), nil, 0o600); err != nil {
				t.Fatal(err)
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			w.full()
			w.snap()
			change(w)
			p, taken := w.snap()
			if taken || !reflect.DeepEqual(plain(p), plain(w.load())) {
				t.Errorf("taken: %v", taken)
			}
		})
	}
}

// TestPendingIsNotInTheSnapshot: files that changed on disk are neither in force nor kept.
func TestPendingIsNotInTheSnapshot(t *testing.T) {
	w := newWorld(t)
	w.full()
	w.write("rules.yaml", "version: 1\nrules: []\n")
	w.snap()
	if p, taken := w.snap(); !taken || len(p.Rules) != 3 {
		t.Errorf("taken: %v, %d rules", taken, len(p.Rules))
	}
}
