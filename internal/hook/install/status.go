package install

import (
	"bytes"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"mycelium/internal/harness"
)

// Installation is the state of one installation.
type Installation struct {
	Scope     string    `json:"scope"` // project, user or managed
	File      string    `json:"file"`
	Installed bool      `json:"installed"` // at least one entry exists, or existed and is missing
	Ours      int       `json:"ours"`      // entries of ours
	Foreign   int       `json:"foreign"`   // hooks of others
	Denials   int       `json:"denials"`   // our entries in the agent's own deny list
	Problems  []Problem `json:"problems"`
}

// Problem is a fault that keeps an installed hook from working.
type Problem struct {
	Message string `json:"message"`
	Hint    string `json:"hint"`
}

// Status reports the state of an installation. It changes nothing.
func (s *Setup) Status() Installation {
	st := Installation{Scope: s.Scope.String(), Problems: []Problem{}}
	again := fmt.Sprintf("myc hook install %s --%s writes it again", s.Agent.Name, st.Scope)
	bad := func(hint, format string, args ...any) {
		st.Problems = append(st.Problems, Problem{fmt.Sprintf(format, args...), hint})
	}
	f, err := s.files()
	if err != nil {
		bad("set HOME", "%v", err)
		return st
	}
	st.File = f.Hooks
	text, _, err := readConfig(f.Hooks)
	n, noteErr := s.readNote(f.Hooks)
	if err == nil {
		err = noteErr
	}
	var handlers []handler
	if err == nil {
		handlers, err = s.handlers(text)
	}
	if err != nil {
		st.Installed = n.File != ""
		hint := "fix the file: if the agent cannot read it either, the hook does not run"
		if fe := (*FileError)(nil); errors.As(err, &fe) {
			hint = fe.Hint
		}
		bad(hint, "%v", err)
		return st
	}
	for _, h := range handlers {
		if h.ours {
			st.Ours++
		} else {
			st.Foreign++
		}
	}
	st.Denials = len(standing(text, s.Agent, n.Denied))
	st.Installed = st.Ours > 0 || n.File != ""
	if !st.Installed {
		return st
	}
	s.statusEntries(handlers, again, bad)
	s.statusInstalled(text, &n, again, bad)
	if s.Scope != harness.Managed { // an administrator's entries run the program beside myc
		st.Problems = append(st.Problems, (&Program{Folder: filepath.Dir(s.Small)}).Problems(again)...)
	}
	if missing := len(n.Denied) - st.Denials; missing > 0 {
		bad(again, "%d of the agent's own deny entries are gone", missing)
	}
	s.statusSwitches(text, bad)
	if f.Trust != "" {
		s.statusTrust(f.Trust, f.Hooks, handlers, again, bad)
	}
	return st
}

// statusInstalled reports entries that the daemon no longer puts back.
func (s *Setup) statusInstalled(text []byte, n *note, again string, bad func(hint, format string, args ...any)) {
	if now, err := s.fingerprint(text, n); err == nil && n.Restored >= maxRestored && now != n.Print {
		bad("find out what changes them; then "+again, "somebody changes our entries again and again; the daemon has put them back %d times, "+
			"and leaves it to you now", n.Restored)
	}
}

// statusEntries compares the entries with those that Install writes.
func (s *Setup) statusEntries(handlers []handler, again string, bad func(hint, format string, args ...any)) {
	programs := map[string]bool{}
	for _, event := range s.Agent.Events() {
		found := slices.DeleteFunc(slices.Clone(handlers), func(h handler) bool { return !h.ours || h.Event != event })
		if len(found) == 0 {
			bad(again, "the entry for %s is gone", event)
			continue
		}
		for _, h := range found {
			words := words(h.HookEntry)
			programs[words[0]] = true
			if s.Agent.ArgsFrom() != "" && h.Args == nil {
				bad(again, "the entry for %s runs the hook through a shell, which variables of a project can change", event)
			}
			if h.Matcher != "" && h.Matcher != "*" {
				bad(again, "the entry for %s is for %q only", event, h.Matcher)
			}
			if want := s.Agent.Timeout(event); h.Timeout != want {
				bad(again, "the time-out of %s is %s, and %s was pinned: the answer may come too late, and then the tool runs", event,
					orNone(h.Timeout), want)
			}
			if s.Agent.BlocksFrom() != "" && !h.Blocks {
				bad(again, "the entry for %s does not say that a hook that fails blocks the tool (onFailure)", event)
			}
			i := slices.Index(words, "--event")
			if i < 0 || i+1 == len(words) || words[i+1] != event {
				bad(again, "the entry for %s is one of another event", event)
			}
			if i := slices.Index(words, "--limit"); i < 0 || i+1 == len(words) || words[i+1] != s.Agent.Pinned(event).String() {
				bad(again, "the entry for %s says another limit to the hook than to the agent", event)
			}
			if i := slices.Index(words, "-C"); s.Scope == harness.Project && (i < 0 || i+1 == len(words) || words[i+1] != s.project()) {
				bad(again, "the entry for %s is for another folder", event)
			}
		}
	}
	for program := range programs {
		switch {
		case !executable(program):
			bad(again, "the program %s is not there: the agent runs its tools as if there were no hook", program)
		case program != s.Small:
			bad(again, "the entries run %s, and %s is the program that is installed", program, s.Small)
		}
	}
}

// statusSwitches looks for settings that switch hooks off.
func (s *Setup) statusSwitches(text []byte, bad func(hint, format string, args ...any)) {
	root, err := parseJSON(text, s.Agent.Hooks.Comments)
	if err != nil {
		return // already reported
	}
	for _, sw := range s.Agent.Hooks.Switches {
		if v := lookup(&root, sw.Path); v != nil && string(v.raw(text)) != sw.On {
			bad(sw.Hint, "%s switches every hook off", strings.Join(sw.Path, "."))
		}
	}
	list := s.Agent.Hooks.Disabled
	if off := lookup(&root, list); list != nil && off != nil {
		for i := range off.elems {
			if name := off.elems[i].str(text); s.isOurs(harness.HookEntry{Command: name}) || strings.HasPrefix(name, harness.HookName("")) {
				path := strings.Join(list, ".")
				bad("take it out of "+path, "%s switches %q off", path, name)
			}
		}
	}
}

// statusTrust checks whether Codex trusts our entries.
func (s *Setup) statusTrust(file, hooks string, handlers []handler, again string, bad func(hint, format string, args ...any)) {
	text, _, err := readConfig(file)
	if err == nil {
		_, err = tomlTables(text)
	}
	if err != nil {
		bad("mend the file", "%s: %v", file, err)
		return
	}
	var not []string
	for _, h := range handlers {
		if ok, err := s.trusts(hooks, text, h); h.ours && (err != nil || !ok) {
			not = append(not, h.Event)
		}
	}
	if len(not) > 0 {
		bad(again, "Codex does not trust the entries for %s, and skips them", strings.Join(not, ", "))
	}
	tables, _ := tomlTables(text)
	trusted := s.Scope != harness.Project
	for _, t := range tables {
		if slices.Equal(t.name, []string{"features"}) && (t.values["hooks"] == "false" || t.values["codex_hooks"] == "false") {
			bad("take hooks = false out of [features] in "+file, "[features] switches every hook off")
		}
		if len(t.name) == 2 && t.name[0] == "projects" && t.name[1] == s.Dir && t.values["trust_level"] == "trusted" {
			trusted = true
		}
	}
	if !trusted {
		bad("start codex there once and trust the folder, or use --user", "Codex reads the hooks of a project only once it trusts the folder, "+
			"and %s does not say so of %s", file, s.Dir)
	}
}

func orNone(s string) string {
	if s == "" {
		return "not set"
	}
	return string(bytes.TrimSpace([]byte(s)))
}
