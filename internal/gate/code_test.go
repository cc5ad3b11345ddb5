package gate

import (
	"bytes"
	"context"
	"mycelium/internal/policy/sign"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"pgregory.net/rapid"

	"mycelium/internal/approval"
	"mycelium/internal/audit"
	"mycelium/internal/gate/session"
	"mycelium/internal/policy"
	"mycelium/internal/policy/box"
)

// projectFiles are the files of a project whose commands are asked about.
var projectFiles = map[string]string{
	"x.sh":              "#!/bin/bash\n. lib.sh\necho one\n",
	"lib.sh":            "bash deep/inner.sh\n",
	"deep/inner.sh":     "echo inner\n",
	"own.sh":            "#!/usr/bin/env bash\ncd \"$(dirname \"$0\")\"\nsource \"$(dirname \"${BASH_SOURCE[0]}\")/lib.sh\"\n",
	"t.py":              "import json\nimport helper\nprint(1)\n",
	"helper.py":         "x = 1\n",
	"a.js":              "const y = require('./y')\n",
	"y.js":              "module.exports = 1\n",
	"run":               "#!/bin/sh\necho run\n",
	"Makefile":          "include rules.mk\nTOOL = tools\n\nall:\n\t@bash $(TOOL)/build.sh\n",
	"rules.mk":          "test:\n\techo test\n",
	"tools/build.sh":    "echo build\n",
	"package.json":      `{"scripts":{"pretest":"node a.js","test":"bash x.sh"}}` + "\n",
	"package-lock.json": `{"lockfileVersion":3}` + "\n",
	"other.txt":         "nothing runs it\n",
}

// askingAboutCode is a house in which every shell command is asked about, and would run in the sandbox, with projectFiles.
func askingAboutCode(t *testing.T) (*asking, *session.Session) {
	t.Helper()
	p := three()
	p.skills[0].AllowedTools = append(p.skills[0].AllowedTools, "agent__Bash")
	p.rules = []policy.Rule{{Name: "shell", Action: "ask", Tool: policy.Names{"agent__Bash"}, Sandbox: box.Of("project")}}
	h := buildAsking(t, p, approval.Options{})
	for name, text := range projectFiles {
		h.put(name, text)
	}
	return h, h.enter("guest")
}

// put writes a file of the project.
func (h *asking) put(name, text string) {
	h.t.Helper()
	path := filepath.Join(h.dir, name)
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		h.t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o700); err != nil { //nolint:gosec // a script
		h.t.Fatal(err)
	}
}

// admit admits a call in the background, and ends it. Nothing hinders it to run in the sandbox, unless the request says so.
func (h *asking) admit(s *session.Session, r Request) <-chan called {
	out := make(chan called, 1)
	if r.Unbound == nil {
		r.Unbound = func(context.Context, policy.Effect) string { return "" }
	}
	go func() {
		a, err := h.Admit(h.t.Context(), s, r)
		if err == nil {
			a.Done(h.t.Context(), Reply{Result: []byte(`{}`)}, nil)
		}
		out <- called{err: err}
	}()
	return out
}

// boundTo are the files that each command runs.
var boundTo = map[string][]string{
	"bash x.sh":     {"x.sh", "lib.sh", "deep/inner.sh"},
	"bash own.sh":   {"own.sh", "lib.sh", "deep/inner.sh"},
	"./run":         {"run"},
	"python3 t.py":  {"t.py", "helper.py"},
	"node a.js":     {"a.js", "y.js"},
	"make":          {"Makefile", "rules.mk", "tools/build.sh"},
	"npm test":      {"package.json", "a.js", "y.js", "x.sh", "lib.sh", "deep/inner.sh"},
	"npm ci":        {"package.json", "package-lock.json"},
	"cat x.sh | sh": {"x.sh"},
}

// TestApprovalIsOfTheContent: a file that the call would run, and that changes while people are asked, is asked about anew, with what
// changed (W13). What was approved does not run.
func TestApprovalIsOfTheContent(t *testing.T) {
	h, s := askingAboutCode(t)
	for command, files := range boundTo {
		for _, name := range files {
			c := h.admit(s, bash(command))
			first := h.waits()
			h.put(name, projectFiles[name]+"# rm -rf ~\n")
			h.answer(first.ID, approval.Answer{Allow: true})
			again := h.waits()
			if !strings.Contains(again.Changed, name+" has changed") || !strings.Contains(again.Changed, "+ # rm -rf ~") {
				t.Errorf("%s, %s: asked again for %q", command, name, again.Changed)
			}
			h.answer(again.ID, approval.Answer{Reason: "no"})
			if d := denied(t, ended(t, c).err); !strings.Contains(d.Error(), "no") {
				t.Errorf("%s, %s: %v", command, name, d)
			}
			h.put(name, projectFiles[name])
		}
		c := h.admit(s, bash(command))
		id := h.waits().ID
		h.put("other.txt", "changed")
		h.answer(id, approval.Answer{Allow: true})
		if e := ended(t, c); e.err != nil {
			t.Errorf("%s: a file that it does not run: %v", command, e.err)
		}
	}
}

// TestSessionAnswerIsOfTheContent: what was approved for the session runs unasked as long as no byte of it changes.
func TestSessionAnswerIsOfTheContent(t *testing.T) {
	h, s := askingAboutCode(t)
	for command, files := range boundTo {
		if strings.Contains(command, "|") {
			continue // what another command writes is not approved for the session
		}
		c := h.admit(s, bash(command))
		h.answer(h.waits().ID, approval.Answer{Allow: true, For: approval.Session})
		if e := ended(t, c); e.err != nil {
			t.Fatalf("%s: %v", command, e.err)
		}
		if e := ended(t, h.admit(s, bash(command))); e.err != nil {
			t.Fatalf("%s again: %v", command, e.err)
		}
		name := files[len(files)-1]
		h.put(name, projectFiles[name]+"evil\n")
		c = h.admit(s, bash(command))
		if r := h.waits(); !strings.Contains(r.Changed, name+" has changed") {
			t.Errorf("%s: %q", command, r.Changed)
		} else {
			h.answer(r.ID, approval.Answer{For: approval.Never})
		}
		denied(t, ended(t, c).err)
		h.put(name, projectFiles[name]+"more evil\n")
		if d := denied(t, ended(t, h.admit(s, bash(command))).err); !strings.Contains(d.Error(), "for the rest of this session") {
			t.Errorf("%s: a denial is for whatever the file becomes: %v", command, d)
		}
		h.put(name, projectFiles[name])
		if err := h.queue.Reset(t.Context(), s.ID); err != nil {
			t.Fatal(err)
		}
	}
}

// TestLinksAndNewFiles: a link that leads elsewhere, a file that comes to be and a file that goes are changes too.
func TestLinksAndNewFiles(t *testing.T) {
	h, s := askingAboutCode(t)
	h.put("evil.sh", "evil\n")
	link := filepath.Join(h.dir, "link.sh")
	check := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	check(os.Symlink("x.sh", link))
	for _, step := range []struct {
		command, want string
		change        func()
	}{
		{"bash link.sh", "link.sh leads to " + filepath.Join(h.dir, "evil.sh"), func() {
			check(os.Remove(link))
			check(os.Symlink("evil.sh", link))
		}},
		{"make", "GNUmakefile is new", func() { h.put("GNUmakefile", "all:\n\tevil\n") }},
		{"python3 t.py", "json.py is new", func() { h.put("json.py", "evil\n") }},
		{"bash x.sh", "lib.sh is gone", func() { check(os.Remove(filepath.Join(h.dir, "lib.sh"))) }},
	} {
		c := h.admit(s, bash(step.command))
		first := h.waits()
		step.change()
		h.answer(first.ID, approval.Answer{Allow: true})
		again := h.waits()
		if !strings.Contains(again.Changed, step.want) {
			t.Errorf("%s: %q", step.command, again.Changed)
		}
		h.answer(again.ID, approval.Answer{})
		denied(t, ended(t, c).err)
	}
}

// TestNotForTheSession: where not all code could be read and no sandbox holds it, an answer holds once, and the question says so.
func TestNotForTheSession(t *testing.T) {
	h, s := askingAboutCode(t)
	h.put("long.sh", strings.Repeat("# comment\n", 1001))
	h.put("named.sh", `. "$LIB"`)
	for command, want := range map[string]string{
		"bash long.sh": "longer than 10000 bytes", "bash named.sh": "named.sh", "cat x.sh | sh": "what another command writes",
	} {
		outside := bash(command)
		outside.Unbound = func(context.Context, policy.Effect) string { return "layer mount" }
		c := h.admit(s, outside)
		r := h.waits()
		if told := r.Code.NotRead(); !strings.Contains(told, "project code that was not read") || !strings.Contains(told, want) {
			t.Errorf("%s: %q", command, told)
		}
		_, err := h.queue.Settle(t.Context(), r.ID, approval.Answer{Allow: true, For: approval.Session, By: "kimu"}, sign.Sure)
		if !approval.IsBadAnswer(err) || !strings.Contains(err.Error(), "only once") {
			t.Errorf("%s: %v", command, err)
		}
		h.answer(r.ID, approval.Answer{Allow: true})
		if e := ended(t, c); e.err != nil {
			t.Errorf("%s: %v", command, e.err)
		}
	}
	// A runner of tests runs what agents write all day: the question says so, and the session may be chosen.
	c := h.admit(s, bash("go test ./..."))
	r := h.waits()
	if r.Code.NotRead() != "It runs project code that was not read." {
		t.Errorf("%q", r.Code.NotRead())
	}
	h.answer(r.ID, approval.Answer{Allow: true, For: approval.Session})
	if e := ended(t, c); e.err != nil {
		t.Error(e.err)
	}
}

// TestOnlyInTheSandboxForTheSession: an answer for the session about code of the project is taken in the sandbox only, and holds only
// there. A call whose sandbox falls away while people are asked is asked about again.
func TestOnlyInTheSandboxForTheSession(t *testing.T) {
	h, s := askingAboutCode(t)
	c := h.admit(s, bash("go test ./..."))
	h.answer(h.waits().ID, approval.Answer{Allow: true, For: approval.Session})
	if e := ended(t, c); e.err != nil {
		t.Fatal(e.err)
	}
	if e := ended(t, h.admit(s, bash("go test ./..."))); e.err != nil {
		t.Fatal(e.err)
	}
	outside := bash("go test ./...")
	outside.Unbound = func(context.Context, policy.Effect) string { return "layer mount" }
	c = h.admit(s, outside)
	r := h.waits()
	if form := clientAnswers(&r); slices.Contains(form, saySession) {
		t.Errorf("a client is offered %q", form)
	}
	for _, how := range []approval.For{approval.Session, approval.Rule} {
		_, err := h.queue.Settle(t.Context(), r.ID, approval.Answer{Allow: true, For: how, By: "kimu"}, sign.Sure)
		if !approval.IsBadAnswer(err) || !strings.Contains(err.Error(), "outside of the sandbox") {
			t.Errorf("for %s: %v", how, err)
		}
	}
	h.answer(r.ID, approval.Answer{Allow: true})
	if e := ended(t, c); e.err != nil {
		t.Fatal(e.err)
	}
	falls := bash("bash x.sh")
	var fell atomic.Bool
	falls.Unbound = func(context.Context, policy.Effect) string {
		if fell.Load() {
			return "layer mount"
		}
		return ""
	}
	c = h.admit(s, falls)
	r = h.waits()
	fell.Store(true)
	h.answer(r.ID, approval.Answer{Allow: true})
	again := h.waits()
	if !r.Sandbox.Same(box.Of("project")) || !again.Sandbox.None() ||
		!strings.Contains(again.Changed, "no sandbox now, and not in the sandbox project") {
		t.Errorf("in %q, and then in %q: %q", r.Sandbox, again.Sandbox, again.Changed)
	}
	h.answer(again.ID, approval.Answer{})
	denied(t, ended(t, c).err)
}

// TestChangesWithoutEnd: a file that changes each time is refused in the end.
func TestChangesWithoutEnd(t *testing.T) {
	h, s := askingAboutCode(t)
	c := h.admit(s, bash("bash x.sh"))
	for i := range maxChanges {
		id := h.waits().ID
		h.put("x.sh", strings.Repeat("#\n", i+1))
		h.answer(id, approval.Answer{Allow: true})
	}
	if d := denied(t, ended(t, c).err); !strings.Contains(d.Error(), "changes while people are asked") {
		t.Error(d)
	}
	if last := h.last(audit.Decided); last["effect"] != "deny" {
		t.Errorf("%v", last)
	}
}

// TestNoChangedByteIsAdmitted: whichever byte of whichever bound file changes, an approval of the file before does not admit the call.
func TestNoChangedByteIsAdmitted(t *testing.T) {
	h, s := askingAboutCode(t)
	commands := []string{}
	for command := range boundTo {
		commands = append(commands, command)
	}
	slices.Sort(commands)
	rapid.Check(t, func(rt *rapid.T) {
		command := rapid.SampledFrom(commands).Draw(rt, "command")
		name := rapid.SampledFrom(boundTo[command]).Draw(rt, "file")
		text := []byte(projectFiles[name])
		i := rapid.IntRange(0, len(text)-1).Draw(rt, "at")
		text[i] ^= byte(rapid.IntRange(1, 255).Draw(rt, "bits"))
		c := h.admit(s, bash(command))
		id := h.waits().ID
		h.put(name, string(text))
		h.answer(id, approval.Answer{Allow: true})
		again := h.waits()
		if again.ID == id || again.Changed == "" || bytes.Equal(text, []byte(projectFiles[name])) {
			rt.Fatalf("%s, %s: %q", command, name, again.Changed)
		}
		h.answer(again.ID, approval.Answer{})
		h.put(name, projectFiles[name])
		if e := ended(t, c); e.err == nil {
			rt.Fatalf("%s ran with another %s", command, name)
		}
	})
}
