// Package harness knows the coding agents that may be installed on this machine: their programs and configuration files, the marks
// that they leave in the environment, their events and how those are answered, their tools, their transcripts and costs, how a hook
// stands in their configuration, and how they are driven. Each agent is one file; [Agents] lists them.
package harness

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"mycelium/internal/rawjson"
)

// Agent is what there is to know about one coding agent.
type Agent struct {
	Name    string // as our commands call it, and the name of its program
	Title   string // as people call it
	Package string // of npm

	// Marks are environment variables that only what the agent started carries.
	Marks []string
	// ProjectVar is the variable in which it tells its hooks the folder that it was started in; "": it does not tell.
	ProjectVar string
	// Terminal is the variable, and its value, by which it tells its hooks that a person sits at its terminal and that it can ask there.
	Terminal [2]string

	configVar string // moves the agent's own configuration
	configDir string // of its own configuration below HOME
	movedDir  string // of its own configuration below the folder that configVar names
	files     func(own, project string) Files

	// Limit is how long the agent waits for a hook whose entry names no time-out.
	Limit  time.Duration
	events []eventName
	answer func(e Event, a Answer) reply
	tools  []toolName
	// oneUnderscore says that the name of an MCP server's tool is mcp_SERVER_TOOL besides mcp__SERVER__TOOL.
	oneUnderscore bool
	// transcribes says that its transcripts have the form that [Transcript] reads.
	transcribes bool

	Hooks  Hooks
	Launch Launch
	script *script // how it is driven with a scripted model; nil: it cannot be
}

// agents are the agents in the order of the documentation. A new one is a file of its own and a line here.
var agents = [...]*Agent{&claude, &codex, &gemini, &crush}

// Agents returns the agents that we know.
func Agents() []Agent {
	var out []Agent
	for _, a := range agents {
		out = append(out, *a)
	}
	return out
}

// Names returns the names of the agents that we know.
func Names() []string {
	var out []string
	for _, a := range agents {
		out = append(out, a.Name)
	}
	return out
}

// Named returns the agent of a name.
func Named(name string) (Agent, bool) {
	for _, a := range agents {
		if a.Name == name {
			return *a, true
		}
	}
	return Agent{}, false
}

// ungoverned are the programs of agents that have no hook of ours.
var ungoverned = [...]string{"opencode", "goose", "cursor-agent", "aider"}

// Programs returns the names under which agents run, those that have no hook of ours included.
func Programs() []string { return append(Names(), ungoverned[:]...) }

// Marks returns the environment variables that only what an agent started carries.
func Marks() []string {
	var out []string
	for _, a := range agents {
		out = append(out, a.Marks...)
	}
	return out
}

// ErrMissing is the error of Find for an agent that is not installed.
var ErrMissing = errors.New("not installed")

// Find returns the program of an agent: the first of its name on the PATH of an environment.
func (a Agent) Find(environ []string) (string, error) {
	for _, dir := range filepath.SplitList(variable(environ, "PATH")) {
		if !filepath.IsAbs(dir) { // "" and "." are whatever folder somebody stands in
			continue
		}
		path := filepath.Join(dir, a.Name)
		if st, err := os.Stat(path); err == nil && st.Mode().IsRegular() && st.Mode().Perm()&0o111 != 0 {
			return path, nil
		}
	}
	return "", fmt.Errorf("%s: no program %q on the PATH: %w", a.Title, a.Name, ErrMissing)
}

// versionWithin bounds the question for a version: a program of Node takes a second or two on a busy machine.
const versionWithin = 30 * time.Second

// Version asks a program for its version. It runs in an empty home, so that nothing of the person is read or written.
func (a Agent) Version(ctx context.Context, path string, environ []string) (string, error) {
	home, err := os.MkdirTemp("", "myc-version-")
	if err != nil {
		return "", fmt.Errorf("ask %s for its version: %w", a.Title, err)
	}
	defer func() { _ = os.RemoveAll(home) }()
	ctx, cancel := context.WithTimeout(ctx, versionWithin)
	defer cancel()
	cmd := exec.CommandContext(ctx, path, "--version")
	cmd.Dir, cmd.Env = home, append(Quiet(environ, home), a.configVar+"="+home)
	cmd.WaitDelay = time.Second
	out, err := cmd.Output()
	if err != nil {
		return "", fmt.Errorf("ask %s for its version: %w", a.Title, err)
	}
	for word := range strings.FieldsSeq(string(out)) { // "2.1.197 (Claude Code)", "codex-cli 0.169.0"
		if word = strings.TrimPrefix(word, "v"); word[:1] >= "0" && word[:1] <= "9" && strings.Contains(word, ".") {
			return word, nil
		}
	}
	line, _, _ := strings.Cut(string(out), "\n")
	return strings.TrimSpace(line), nil
}

// Quiet returns an environment with a home of its own, without a credential, an agent's mark or a token of ours. It is an allow-list
// of what programs need to run at all.
func Quiet(environ []string, home string) []string {
	out := []string{"HOME=" + home}
	for _, name := range []string{"PATH", "LANG", "LC_ALL", "TMPDIR", "TERM", "TZ", "SYSTEMROOT"} {
		if v := variable(environ, name); v != "" {
			out = append(out, name+"="+v)
		}
	}
	return out
}

// Files are the configuration files of an agent that concern us, absolute. Trust is "" if the agent has no such file.
type Files struct {
	Hooks string // where its hooks stand
	Trust string // where it keeps which hooks it trusts
}

// Files returns where an agent reads its configuration: the user's own, or the one of a project folder that is for this machine only.
func (a Agent) Files(user bool, dir string, environ []string) (Files, error) {
	if a.files == nil {
		return Files{}, fmt.Errorf("no agent %q", a.Name)
	}
	home := variable(environ, "HOME")
	if !filepath.IsAbs(home) {
		return Files{}, errors.New("HOME is not set to a folder")
	}
	own := filepath.Join(home, a.configDir)
	if moved := variable(environ, a.configVar); filepath.IsAbs(moved) {
		own = filepath.Join(moved, a.movedDir)
	}
	if user {
		dir = ""
	}
	return a.files(own, dir), nil
}

// Events returns the names of the events that the agent has and that we answer, as its configuration spells them.
func (a Agent) Events() []string {
	var names []string
	for _, e := range a.events {
		names = append(names, e.name)
	}
	return names
}

// Kind returns what an event of the agent is in our words; "" for one that we do not know.
func (a Agent) Kind(event string) Kind {
	for _, e := range a.events {
		if e.name == event {
			return e.kind
		}
	}
	return ""
}

// TellsOutcome reports whether the agent says how its calls end.
func (a Agent) TellsOutcome() bool {
	return slices.ContainsFunc(a.events, func(e eventName) bool { return e.kind == PostTool })
}

// Launch is how an agent is started in a session of ours. The zero value is of an agent that is not.
type Launch struct {
	// Options returns the arguments with which it takes settings and MCP servers from these files only.
	Options  func(settings, servers string) []string
	Refused  []string // arguments with which it would run without the hook, with other servers or outside of the session
	Commands []string // its commands that do not start a session in its process
	Unset    []string // variables with which it would run without the hook
}

// Hooks is how hooks stand in an agent's configuration.
type Hooks struct {
	Comments bool          // the file may hold comments
	Flat     bool          // the list of an event holds the handlers themselves, not groups of them
	unit     time.Duration // of a time-out
	named    bool          // a handler has a name, by which a person can switch it off
	argsFrom string        // version from which a handler may be a program with arguments, which no shell reads; "": none
	// onFailure says that a handler says what happens if it fails: from blockFrom on the tool is blocked, and older versions ignore it.
	onFailure bool
	blockFrom string
	posts     []string      // events that it may post over HTTP instead
	endLimit  time.Duration // of a hook at the end of a session, where the agent cuts a longer one; 0: as for other events

	// DenyPath is where the agent's own deny entries stand; nil: it has no such entries.
	DenyPath  []string
	denyRules func(protected []Protected, at Place) []string
	// Switches are settings that switch every hook off.
	Switches []Switch
	// Disabled is the list of the handlers that a person switched off, by name or command; nil: the agent has no such list.
	Disabled []string
	// TrustKey returns the key under which an agent with a Files.Trust keeps that it trusts a handler, and the hash that it keeps.
	TrustKey func(file string, h Handler) (key, hash string)
}

// Switch is a setting that switches every hook off unless it has one value.
type Switch struct {
	Path []string
	On   string // the value, as JSON, with which hooks run; they run without the setting too
	Hint string
}

// Handler is one handler of an event in an agent's configuration.
type Handler struct {
	Event   string
	Group   int // place of its group in the list of the event
	Index   int // its place in the group
	Command string
	Args    []string // of Command, which is then a program and no line for a shell; nil: it is a line
	Blocks  bool     // it says that its failure blocks the tool
	Matcher string
	Timeout string // as JSON; "" if the entry has none
}

// Pinned is the time-out that our entry for an event has: a person may have to answer before a tool and at a stop; nobody is waited
// for elsewhere.
func (a Agent) Pinned(event string) time.Duration {
	switch k := a.Kind(event); {
	case k == PreTool || k == Permission || k == Stop || k == SubagentStop:
		return 600 * time.Second
	case k == SessionEnd && a.Hooks.endLimit > 0:
		return a.Hooks.endLimit
	case k == Prompt || k == SessionStart || k == SubagentStart:
		return 30 * time.Second
	}
	return 10 * time.Second
}

// Timeout is the pinned time-out of an event as the agent's file has it.
func (a Agent) Timeout(event string) string {
	return fmt.Sprint(int64(a.Pinned(event) / a.Hooks.unit))
}

// HookName is the name that our handler of an event has in an agent's configuration, where handlers have names.
func HookName(event string) string { return "mycelium " + event }

// TakesArgs reports whether a version of the agent runs a program with arguments as a hook, without a shell.
func (a Agent) TakesArgs(version string) bool { return atLeast(version, a.Hooks.argsFrom) }

// BlocksOnFailure reports whether a version of the agent blocks a tool if its hook fails. It then may be served over HTTP as well.
func (a Agent) BlocksOnFailure(version string) bool { return atLeast(version, a.Hooks.blockFrom) }

// SaysOnFailure reports whether our entries in the agent's configuration say what happens if the hook fails.
func (a Agent) SaysOnFailure() bool { return a.Hooks.onFailure }

// atLeast reports whether a version, three numbers with dots, is not below another. What is no version is below all.
func atLeast(version, least string) bool {
	x, y := strings.Split(version, "."), strings.Split(least, ".")
	if len(x) != 3 || len(y) != 3 {
		return false
	}
	for i := range x {
		m, merr := strconv.ParseUint(x[i], 10, 32)
		n, nerr := strconv.ParseUint(y[i], 10, 32)
		if merr != nil || nerr != nil {
			return false
		}
		if m != n {
			return m > n
		}
	}
	return true
}

// Posts reports whether an event of a version of the agent may be posted over HTTP instead of starting a program: it blocks the tool if
// that fails, and the event is one of those that come often.
func (a Agent) Posts(version, event string) bool {
	return a.BlocksOnFailure(version) && slices.Contains(a.Hooks.posts, event)
}

// Runs is what an entry has an agent do at an event.
type Runs struct {
	Program string
	Args    []string
	Shell   bool        // the agent takes a line for a shell only
	URL     string      // it posts the event there instead; "": it runs the program
	Headers [][2]string // of the post: name and value, in which $NAME is a variable of the agent
}

// Entry is the element that stands in the list of an event: one handler, grouped as the agent wants it.
func (a Agent) Entry(event string, r Runs) jsontext.Value {
	handler := `"command": ` + string(rawjson.Quote(r.Program))
	switch {
	case r.URL != "":
		handler = `"url": ` + string(rawjson.Quote(r.URL)) + posted(r.Headers)
	case r.Shell:
		words := []string{ShellWord(r.Program)}
		for _, arg := range r.Args {
			words = append(words, ShellWord(arg))
		}
		handler = `"command": ` + string(rawjson.Quote(strings.Join(words, " ")))
	default:
		handler += `, "args": ` + string(textList(r.Args))
	}
	handler += `, "timeout": ` + a.Timeout(event)
	if a.Hooks.onFailure {
		handler += `, "onFailure": "block"`
	}
	handler += `}`
	if a.Hooks.Flat {
		return jsontext.Value(`{` + handler)
	}
	if a.Hooks.named {
		handler = `"name": ` + string(rawjson.Quote(HookName(event))) + `, ` + handler
	}
	kind := `"command"`
	if r.URL != "" {
		kind = `"http"`
	}
	matcher := ""
	if k := a.Kind(event); k == PreTool || k == PostTool || k == Permission {
		matcher = `"matcher": "*", `
	}
	return jsontext.Value(`{` + matcher + `"hooks": [{"type": ` + kind + `, ` + handler + `]}`)
}

// Protected is a path that no agent may touch, in the forms of the policy's table: /x absolute, ~/x in the home, **/x of that name
// anywhere, ./x in the project. A path stands for everything below it too.
type Protected struct {
	Path       string
	ChangeOnly bool // it may be read
}

// Place is where an installation counts: in one project folder, or in every folder of a user.
type Place struct {
	User bool
	Dir  string // the project folder, absolute
	Home string
}

// DenyRules returns the agent's own deny entries for protected paths. They also hold for what never reaches a hook, like a file that a
// person mentions with @.
func (a Agent) DenyRules(protected []Protected, at Place) []string {
	if a.Hooks.denyRules == nil {
		return nil
	}
	return a.Hooks.denyRules(protected, at)
}

// posted are the headers of a post, and the variables that they may hold.
func posted(headers [][2]string) string {
	var fields []rawjson.Field
	var variables []string
	for _, h := range headers {
		fields = append(fields, rawjson.Field{Name: h[0], Value: rawjson.Quote(h[1])})
		if _, name, ok := strings.Cut(h[1], "$"); ok {
			variables = append(variables, name)
		}
	}
	return `, "headers": ` + string(rawjson.Object(fields...)) + `, "allowedEnvVars": ` + string(textList(variables))
}

// firstThere is the first path that exists, else the first.
func firstThere(paths ...string) string {
	for _, p := range paths {
		if _, err := os.Lstat(p); err == nil || !errors.Is(err, fs.ErrNotExist) {
			return p
		}
	}
	return paths[0]
}

// variable reads a variable of an environment; the last one counts.
func variable(environ []string, name string) string {
	for i := len(environ) - 1; i >= 0; i-- {
		if v, ok := strings.CutPrefix(environ[i], name+"="); ok {
			return v
		}
	}
	return ""
}
