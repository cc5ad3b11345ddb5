// Package install adds our hook to the configuration of an agent, removes it, and checks it. People own these files: everything that is
// not ours stays, byte for byte.
package install

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"mycelium/internal/atomicfile"
	"mycelium/internal/harness"
	"mycelium/internal/hook"
	"mycelium/internal/hook/web"
	"mycelium/internal/rawjson"
	"mycelium/internal/state"
)

// DefaultGateway is the name of our gateway among an agent's MCP servers, unless a person gives it another one.
const DefaultGateway = "mycelium"

// Setup describes an installation of our hook in one agent's configuration.
type Setup struct {
	Agent     harness.Agent
	Scope     harness.Scope       // whose configuration
	Dir       string              // the folder whose configuration it is, absolute: the project's, or a working tree of it
	Environ   []string            // HOME, and the variables that move an agent's configuration
	Myc       string              // our program, absolute
	Small     string              // the small program, absolute: see Program
	Version   string              // of the agent, which decides the form of the entries of a run; "": not known
	Addr      string              // host and port where the daemon takes events over HTTP from sessions with a token; "": nowhere
	Door      string              // the socket at which an agent in the sandbox is answered; "": it is not in the sandbox
	Token     string              // of the session of a run; "": none
	Shell     string              // the program that stands before the commands of the agent's shell in a run; "": none
	Gateway   string              // the name of our gateway among the agent's MCP servers
	State     state.Paths         // of the project: entries name it, and its root has the notes; zero: entries name none
	Protected []harness.Protected // paths that no agent may touch, for the agent's own deny list if it has one
}

// Change is what Install or Uninstall did to a file.
type Change struct {
	File string `json:"file"`
	Did  string `json:"did"` // wrote, changed, removed or kept
}

// FileError is a file that could not be edited. It was not changed.
type FileError struct {
	File string
	Err  error
	Hint string
}

func (e *FileError) Error() string { return e.File + ": " + e.Err.Error() }
func (e *FileError) Unwrap() error { return e.Err }

// runs returns what the entry for an event runs.
func (s *Setup) runs(event string) harness.Runs {
	r := harness.Runs{Program: s.Small, Args: []string{s.Agent.Name}}
	if s.Addr != "" && s.Agent.Posts(s.Version, event) {
		r.URL = web.URL(s.Addr, s.Agent.Name, event, s.Agent.Pinned(event), s.Gateway)
		r.Headers = [][2]string{{"Authorization", "Bearer $" + hook.TokenVar}}
		for _, h := range web.Headers(s.Agent) {
			r.Headers = append(r.Headers, [2]string{h[0], "$" + h[1]})
		}
	}
	if s.Scope == harness.Project {
		r.Args = append(r.Args, "-C", s.project())
	}
	if s.Agent.BlocksFrom() != "" && s.Agent.Kind(event) == harness.Prompt {
		// If the program is missing, every prompt is blocked, and the agent shows the person nothing of ours but this entry.
		r.Args = append(r.Args, "--mend", fmt.Sprintf("%s hook install %s --%s", s.Myc, s.Agent.Name, s.Scope))
	}
	switch {
	case s.Door != "": // in the sandbox there is nothing of the project's state
		r.Args = append(r.Args, "--door", s.Door)
	case s.State.Root == "", s.Scope == harness.Managed:
	case s.Scope == harness.Project:
		r.Args = append(r.Args, s.State.Pin()...)
	default: // for every folder
		r.Args = append(r.Args, s.State.Root.Pin()...)
	}
	r.Args = append(r.Args, "--event", event, "--limit", s.Agent.Pinned(event).String())
	if s.Gateway != "" {
		r.Args = append(r.Args, "--gateway", s.Gateway)
	}
	return r
}

// shellWords splits a line that harness.ShellWord has quoted. ok is false if a shell would do more than split it.
func shellWords(line string) (words []string, ok bool) {
	var w strings.Builder
	in, word := false, false
	for i := 0; i < len(line); i++ {
		c := line[i]
		switch {
		case in && c == '\'':
			in = false
		case in:
			w.WriteByte(c)
		case c == '\'':
			in, word = true, true
		case c == '\\' && i+1 < len(line):
			i++
			w.WriteByte(line[i])
			word = true
		case c == ' ':
			if word {
				words = append(words, w.String())
			}
			word = false
			w.Reset()
		case strings.IndexByte("\"$`;&|<>(){}*?[]#~\n\t", c) >= 0:
			return nil, false
		default:
			w.WriteByte(c)
			word = true
		}
	}
	if word {
		words = append(words, w.String())
	}
	return words, !in
}

// words returns the program and the arguments of a handler, or nil for a line that a shell would do more with.
func words(h harness.HookEntry) []string {
	if h.Args != nil {
		return append([]string{h.Command}, h.Args...)
	}
	w, _ := shellWords(h.Command)
	return w
}

// isOurs reports whether a handler runs our hook for this agent. Entries of every version count.
func (s *Setup) isOurs(h harness.HookEntry) bool {
	w := words(h)
	if len(w) >= 2 && (w[0] == s.Small || filepath.Base(w[0]) == hook.Small) {
		return w[1] == s.Agent.Name
	}
	if len(w) >= 6 && w[1] == s.Agent.Name && slices.Contains(w, "--event") && slices.Contains(w, "--limit") {
		return true // somebody has put another program before our arguments
	}
	return len(w) >= 3 && w[1] == "hook" && w[2] == s.Agent.Name && (w[0] == s.Myc || slices.Contains(hook.Programs[:], filepath.Base(w[0])))
}

// project is the project folder.
func (s *Setup) project() string { return cmp.Or(s.State.Project, s.Dir) }

// files returns the files that this installation edits.
func (s *Setup) files() (harness.Files, error) { return s.Agent.Files(s.Scope, s.Dir, s.Environ) }

// denials returns the agent's own deny entries for protected paths.
func (s *Setup) denials() []string {
	at := harness.Place{Scope: s.Scope, Dir: s.Dir}
	for _, kv := range s.Environ {
		if v, ok := strings.CutPrefix(kv, "HOME="); ok {
			at.Home = v
		}
	}
	rules := s.Agent.DenyRules(s.Protected, at)
	if at.Dir = s.project(); at.Dir != s.Dir && s.Scope == harness.Project { // there, too, is what is protected in the project
		ofProject := slices.Clone(s.Protected)
		ofProject = slices.DeleteFunc(ofProject, func(p harness.Protected) bool { return !strings.HasPrefix(p.Path, "./") })
		rules = append(rules, s.Agent.DenyRules(ofProject, at)...)
	}
	return rules
}

// Install writes our entries and replaces older ones. Everything else stays. It does not write a file that would not change.
func (s *Setup) Install() ([]Change, error) {
	return s.edit(func(file string, text []byte, n *note) ([]byte, error) {
		n.Restored, n.Since = 0, time.Now().UTC()
		n.Off, n.Known = s.off(text), nil
		for _, z := range Hazards(s.State.For(s.Dir), s.Agent, s.Environ) {
			n.Known = append(n.Known, z.id)
		}
		text, err := statusLine{s}.remove(text)
		if err != nil {
			return nil, err
		}
		if text, err = s.install(file, text, n); err != nil {
			return nil, err
		}
		return statusLine{s}.add(text)
	})
}

// Uninstall removes our entries. It also removes the containers and the file that Install created if nothing else is in them.
func (s *Setup) Uninstall() ([]Change, error) {
	return s.edit(func(_ string, text []byte, n *note) ([]byte, error) { return s.uninstall(text, n) })
}

// install returns the text of a file with our entries, and the note about them.
func (s *Setup) install(file string, text []byte, n *note) ([]byte, error) {
	if n.File == "" {
		n.File, n.New = file, len(bytes.TrimSpace(text)) == 0
	}
	text, err := s.strip(text, n)
	if err != nil {
		return nil, err
	}
	made := n.Made
	n.Made, n.Denied = nil, nil
	if text, err = s.switchOn(text, n); err != nil {
		return nil, err
	}
	for _, path := range s.paths() {
		if !exists(text, s.Agent.Hooks.Comments, path) || hasPath(made, path) {
			n.Made = append(n.Made, path)
		}
	}
	for _, event := range s.Agent.Events() {
		if text, err = addElements(text, s.Agent.Hooks.Comments, []string{"hooks", event}, s.Agent.Entry(event, s.runs(event))); err != nil {
			return nil, err
		}
	}
	if text, err = deny(text, s.Agent, s.denials(), n); err != nil {
		return nil, err
	}
	n.Agent, n.Scope, n.Dir, n.Myc, n.Small, n.Gateway = s.Agent.Name, s.Scope, s.Dir, s.Myc, s.Small, s.Gateway
	n.ID = s.id()
	n.Protected = s.Protected
	n.Print, err = s.fingerprint(text, n)
	return text, err
}

// deny adds rules to the own deny list of an agent. What stands there already is somebody else's, and stays theirs.
func deny(text []byte, agent harness.Agent, rules []string, n *note) ([]byte, error) {
	theirs := standing(text, agent, rules)
	var missing []jsontext.Value
	for _, rule := range rules {
		if !slices.Contains(theirs, rule) && !slices.Contains(n.Denied, rule) {
			n.Denied = append(n.Denied, rule)
			missing = append(missing, jsontext.Value(rawjson.Quote(rule)))
		}
	}
	if missing == nil {
		return text, nil
	}
	return addElements(text, agent.Hooks.Comments, agent.Hooks.DenyPath, missing...)
}

// uninstall returns the text without our entries, and an empty note.
func (s *Setup) uninstall(text []byte, n *note) ([]byte, error) {
	text, err := statusLine{s}.remove(text)
	if err != nil {
		return nil, err
	}
	if text, err = s.strip(text, n); err != nil {
		return nil, err
	}
	if n.New && string(bytes.Join(bytes.Fields(text), nil)) == "{}" {
		text = nil
	}
	*n = note{Trust: n.Trust}
	return text, nil
}

// edit reads the file, has it changed, and writes it and its note. Uninstall would leave behind an entry without a note, while a note
// without its entry does no harm. The note is therefore written first and deleted last.
func (s *Setup) edit(change func(file string, text []byte, n *note) ([]byte, error)) ([]Change, error) {
	f, err := s.files()
	if err != nil {
		return nil, err
	}
	before, mode, err := readConfig(f.Hooks)
	if err != nil {
		return nil, err
	}
	if s.Scope == harness.Managed && len(before) == 0 {
		mode = 0o644 // every user's agent reads it
	}
	n, err := s.readNote(f.Hooks)
	if err != nil {
		return nil, err
	}
	after, err := change(f.Hooks, before, &n)
	if err != nil {
		return nil, &FileError{f.Hooks, err, "fix the file, or move it away, and run this again; it was not touched"}
	}
	edits := []edit{{f.Hooks, before, after, mode, s.Scope == harness.Managed}}
	if f.Trust != "" {
		e, err := s.trust(f, after, &n)
		if err != nil {
			return nil, err
		}
		edits = append(edits, e)
	}
	if n.File != "" {
		if err := s.writeNote(f.Hooks, &n); err != nil {
			return nil, err
		}
	}
	var done []Change
	for _, e := range edits {
		did, err := e.write()
		if err != nil {
			return done, err
		}
		done = append(done, Change{e.path, did})
	}
	if n.File == "" {
		err = s.dropNote(f.Hooks)
	}
	return done, err
}

// readConfig reads a file of an agent and its mode. A missing file is empty, and is created for its owner only.
func readConfig(path string) ([]byte, fs.FileMode, error) {
	st, err := os.Stat(path)
	if errors.Is(err, fs.ErrNotExist) {
		if _, lerr := os.Lstat(path); lerr == nil {
			return nil, 0, &FileError{path, errors.New("the link has no target"), "fix the link, or remove it"}
		}
		return nil, 0o600, nil
	}
	if err != nil {
		return nil, 0, &FileError{path, err, "make it readable for you"}
	}
	const most = 16 << 20
	if !st.Mode().IsRegular() || st.Size() > most {
		return nil, 0, &FileError{path, errors.New("not a regular file, or too large"), "move it away, and run this again"}
	}
	b, err := os.ReadFile(path)
	if err != nil {
		return nil, 0, &FileError{path, err, "make it readable for you"}
	}
	return b, st.Mode().Perm(), nil
}

// edit is the change of one file of an agent.
type edit struct {
	path          string
	before, after []byte
	mode          fs.FileMode
	managed       bool // it is the administrator's
}

// folderMode returns the mode of a folder that is made for the file.
func (e *edit) folderMode() fs.FileMode {
	if e.managed {
		return 0o755
	}
	return 0o700
}

// hint returns how to mend a file that cannot be written.
func (e *edit) hint(usual string) string {
	if e.managed {
		return "only root may write the administrator's configuration: run this again with sudo"
	}
	return usual
}

// write writes a changed file atomically. It follows links, because people keep such files elsewhere.
func (e *edit) write() (did string, err error) {
	if bytes.Equal(e.before, e.after) {
		return "kept", nil
	}
	target := e.path
	if resolved, err := filepath.EvalSymlinks(target); err == nil {
		target = resolved
	}
	now, err := os.ReadFile(target)
	if err != nil && !errors.Is(err, fs.ErrNotExist) || !bytes.Equal(now, e.before) {
		return "", &FileError{e.path, errors.New("the file changed during the edit"), "run this again"}
	}
	if len(e.after) == 0 {
		if err := os.Remove(target); err != nil {
			return "", &FileError{e.path, err, "remove it by hand"}
		}
		return "removed", nil
	}
	if err := os.MkdirAll(filepath.Dir(target), e.folderMode()); err != nil {
		return "", &FileError{e.path, err, e.hint("make its folder")}
	}
	if err := atomicfile.Write(target, e.after, e.mode); err != nil {
		return "", &FileError{e.path, err, e.hint("make its folder writable for you")}
	}
	if len(e.before) == 0 {
		return "wrote", nil
	}
	return "changed", nil
}

// pinned are the variables of a run that settings of the project must not change: each has the person's own value. The token makes the
// hook and the gateway ask for this session. A proxy that the project names would read the events and could allow every call.
func (s *Setup) pinned() map[string]string {
	own := map[string]string{}
	for _, kv := range s.Environ {
		name, value, _ := strings.Cut(kv, "=")
		own[name] = value
	}
	out := map[string]string{}
	for _, name := range s.Agent.Launch.Pinned {
		out[name] = own[name]
	}
	if s.Token != "" {
		out[hook.TokenVar] = s.Token
	}
	if s.Shell != "" {
		out[s.Agent.Launch.Prefix.Variable] = s.Shell
	}
	if s.Addr != "" {
		for _, name := range []string{"NO_PROXY", "no_proxy"} {
			out[name] = strings.TrimSuffix("127.0.0.1,"+own[name], ",")
		}
	}
	return out
}

// Settings returns a settings file of Claude Code for one run, with what Install would write. Such a file has precedence over those of
// the user and of the project, so it also switches hooks on. Its status line is the person's own or ours: one that a project brings would
// be a command with the token of the session that no hook decides.
func (s *Setup) Settings() ([]byte, error) {
	own := map[string]any{"disableAllHooks": false, "env": s.pinned(), s.Agent.StatusLine.Setting: statusLine{s}.ofRun()}
	text, err := json.Marshal(own, json.Deterministic(true), jsontext.WithIndent("  "))
	if err != nil {
		return nil, fmt.Errorf("write settings: %w", err)
	}
	var n note
	text, err = s.install("", append(text, '\n'), &n)
	if err != nil {
		return nil, fmt.Errorf("write settings: %w", err)
	}
	return text, nil
}
