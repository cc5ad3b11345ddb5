// Package harness knows the coding agents that may be installed on this machine: their programs and configuration files, the marks
// that they leave in the environment, their events and how those are answered, their tools, their transcripts and costs, how a hook
// stands in their configuration, and how they are driven. Each agent is one file; [Agents] lists them.
package harness

import (
	"cmp"
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

	"mycelium/internal/harness/rewrite"
	"mycelium/internal/rawjson"
)

// Agent describes one coding agent.
type Agent struct {
	Name    string // the name in our commands, and of its program
	Title   string // the name for people
	Package string // the npm package

	// Marks are environment variables that only its child processes have.
	Marks []string
	// ProjectVar is the variable with which it tells its hooks its start folder; may be empty.
	ProjectVar string
	// Terminal is the name and the value of the variable with which it tells its hooks that a person sits at its terminal, where it can
	// ask.
	Terminal [2]string

	configVar string // moves the agent's own configuration
	configDir string // configuration folder below HOME
	movedDir  string // configuration folder below the folder that configVar names
	files     func(own, project string) Files
	managed   string                               // the settings of an administrator, which stand above all others; "": none
	settings  func(own, project string) []Settings // every file of settings that it reads, besides managed

	// OwnSandbox is the setting that is true where it runs its shell in a sandbox of its own; nil: no file of settings says so.
	OwnSandbox []string

	// Limit is how long the agent waits for a hook whose entry has no time-out.
	Limit  time.Duration
	events []eventName
	// StatusLine is the setting whose command prints the agent's status line; empty: the agent has none.
	StatusLine StatusLine
	answer     func(e Event, a Answer) reply
	// EditMode is the permission mode in which it does not ask about the files that it changes; empty: it has none.
	EditMode string
	tools    []toolName
	// oneUnderscore reports whether mcp_SERVER_TOOL is the name of an MCP server's tool, besides mcp__SERVER__TOOL.
	oneUnderscore bool
	// Resumes reports whether its argument --resume with the id of a session takes that session up.
	Resumes bool
	// questions are texts that its terminal shows, with single spaces, while it asks its person something before its session begins. Until it
	// is answered, no hook of it runs.
	questions []string
	// transcribes reports whether its transcripts have the format that [Transcript] reads.
	transcribes bool
	readScreen  func(screen string) Screen // nil: what its terminal shows is not understood

	Hooks    Hooks
	Launch   Launch
	Rewrites func() *rewrite.Agent // the loss if a hook gives it another command; nil: not known, so only our own start gives it one
	// ReplacesFrom is the first version that is known to run the command that a hook gives it in the place of its own; "": none is.
	ReplacesFrom string
	// KeepsFolder reports whether its shell goes on in the folder in which the last command ended.
	KeepsFolder bool
	// Types reports whether its model may type into a command that runs on, about which no hook is asked.
	Types bool
	// ShowsReplaced reports whether it shows its person the command that a hook gave it, and not that of the model.
	ShowsReplaced bool
	script        *script // how it is run with a scripted model; nil: it cannot be
}

// agents are the agents in the order of the documentation. A new agent is a file and a line here.
var agents = [...]*Agent{&claude, &codex, &gemini, &crush}

// Agents returns the known agents.
func Agents() []Agent {
	var out []Agent
	for _, a := range agents {
		out = append(out, *a)
	}
	return out
}

// Names returns the names of the known agents.
func Names() []string {
	var out []string
	for _, a := range agents {
		out = append(out, a.Name)
	}
	return out
}

// Named returns the agent with a name.
func Named(name string) (Agent, bool) {
	for _, a := range agents {
		if a.Name == name {
			return *a, true
		}
	}
	return Agent{}, false
}

// ungoverned are the programs of agents for which there is no hook.
var ungoverned = [...]string{"opencode", "goose", "cursor-agent", "aider"}

// Programs returns the names of the programs of agents, with or without a hook.
func Programs() []string { return append(Names(), ungoverned[:]...) }

// Marks returns the environment variables that only processes started by an agent have.
func Marks() []string {
	var out []string
	for _, a := range agents {
		out = append(out, a.Marks...)
	}
	return out
}

// ErrMissing is the error of Find for an agent that is not installed.
var ErrMissing = errors.New("not installed")

// Find returns the program of an agent: the first with its name on the PATH of an environment.
func (a Agent) Find(environ []string) (string, error) {
	for _, dir := range filepath.SplitList(variable(environ, "PATH")) {
		if !filepath.IsAbs(dir) { // skip "" and ".", which depend on the working directory
			continue
		}
		path := filepath.Join(dir, a.Name)
		if st, err := os.Stat(path); err == nil && st.Mode().IsRegular() && st.Mode().Perm()&0o111 != 0 {
			return path, nil
		}
	}
	return "", fmt.Errorf("%s: no program %q on the PATH: %w", a.Title, a.Name, ErrMissing)
}

// versionWithin bounds a call for the version. A program of Node takes a second; on a very busy machine one took more than thirty.
const versionWithin = 2 * time.Minute

// Version runs a program to get its version. It uses an empty home, so that nothing of the person is read or written.
func (a Agent) Version(ctx context.Context, path string, environ []string) (string, error) {
	home, err := os.MkdirTemp("", "myc-version-")
	if err != nil {
		return "", fmt.Errorf("ask %s for its version: %w", a.Title, err)
	}
	defer func() { _ = os.RemoveAll(home) }()
	ctx, cancel := context.WithTimeout(ctx, versionWithin)
	defer cancel()
	cmd := exec.CommandContext(ctx, path, "--version")
	cmd.Dir, cmd.Env, cmd.WaitDelay = home, append(Quiet(environ, home), a.configVar+"="+home), time.Second
	out, err := cmd.Output()
	if err = cmp.Or(ctx.Err(), err); err != nil {
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

// Quiet returns an environment with another home, without credentials, marks of agents and our tokens. It keeps only the variables that
// programs need to run.
func Quiet(environ []string, home string) []string {
	out := []string{"HOME=" + home}
	for _, name := range []string{"PATH", "LANG", "LC_ALL", "TMPDIR", "TERM", "TZ", "SYSTEMROOT"} {
		if v := variable(environ, name); v != "" {
			out = append(out, name+"="+v)
		}
	}
	return out
}

// Files are the configuration files of an agent that we use, absolute. Trust is "" if the agent has no such file.
type Files struct {
	Hooks string // has its hooks
	Trust string // has the hooks that it trusts
}

// Scope says whose configuration of an agent is meant.
type Scope string

// The scopes. The zero value is that of a project folder, on this machine only.
const (
	Project Scope = ""
	User    Scope = "user"
	Managed Scope = "managed" // of the machine's administrator
)

// String returns the name of the scope in our commands.
func (s Scope) String() string {
	if s == Project {
		return "project"
	}
	return string(s)
}

// Scopes returns the scopes that an agent has.
func (a Agent) Scopes() []Scope {
	if a.managed == "" {
		return []Scope{Project, User}
	}
	return []Scope{Project, User, Managed}
}

// Files returns the paths of an agent's configuration.
func (a Agent) Files(scope Scope, dir string, environ []string) (Files, error) {
	if a.files == nil {
		return Files{}, fmt.Errorf("no agent %q", a.Name)
	}
	if scope == Managed {
		if a.managed == "" {
			return Files{}, fmt.Errorf("%s has no settings of an administrator", a.Title)
		}
		return Files{Hooks: a.managed}, nil
	}
	own, err := a.own(environ)
	if err != nil {
		return Files{}, err
	}
	if scope == User {
		dir = ""
	}
	return a.files(own, dir), nil
}

// own returns the folder of the user's own configuration.
func (a Agent) own(environ []string) (string, error) {
	home := variable(environ, "HOME")
	if !filepath.IsAbs(home) {
		return "", errors.New("HOME is not set to a folder")
	}
	if moved := variable(environ, a.configVar); filepath.IsAbs(moved) {
		return filepath.Join(moved, a.movedDir), nil
	}
	return filepath.Join(home, a.configDir), nil
}

// Settings is a file of settings that an agent reads.
type Settings struct {
	Whose string // user, project, local or managed
	Path  string
}

// Settings returns every file of settings that the agent reads in a project folder; nil for an agent whose settings cannot reach a hook.
func (a Agent) Settings(dir string, environ []string) ([]Settings, error) {
	if a.settings == nil {
		return nil, nil
	}
	own, err := a.own(environ)
	if err != nil {
		return nil, err
	}
	return append(a.settings(own, dir), Settings{"managed", a.managed}), nil
}

// Moves reports whether a variable in the agent's settings changes where its settings are, or what its programs are.
func (a Agent) Moves(name string) bool {
	return name == a.configVar || slices.Contains(a.Launch.Pinned, name)
}

// Events returns the agent's names of the events that we answer.
func (a Agent) Events() []string {
	var names []string
	for _, e := range a.events {
		names = append(names, e.name)
	}
	return names
}

// Kind returns the kind of an agent's event, or of its status line; "" for an unknown event.
func (a Agent) Kind(event string) Kind {
	if event != "" && event == a.StatusLine.Event {
		return Status
	}
	for _, e := range a.events {
		if e.name == event {
			return e.kind
		}
	}
	return ""
}

// TellsOutcome reports whether the agent reports how its calls end.
func (a Agent) TellsOutcome() bool {
	return slices.ContainsFunc(a.events, func(e eventName) bool { return e.kind == PostTool })
}

// Launch describes how to start an agent in one of our sessions. It is zero for an agent that cannot be started so.
type Launch struct {
	// Options returns arguments that make it read settings and MCP servers from these files only; nil for an agent that has a configuration of
	// its own for a project instead.
	Options  func(settings, servers string) []string
	Always   []string // the first arguments of every start
	Refused  []string // arguments with which it would run without the hook, with other servers or outside of the session
	Commands []string // commands that do not start a session in its process
	Headless []string // arguments with which nobody sits at its terminal
	Unset    []string // variables with which it would run without the hook
	// Pinned are the variables that its settings for one run fix to the person's own values, and empty where the person has none. Settings
	// of a project may set any of them for the agent's child processes, and thereby change what the hook, the gateway or a command is.
	Pinned []string
	Prefix Prefix // how a program of ours stands before the commands of its shell
}

// Hooks describes the hooks in an agent's configuration.
type Hooks struct {
	Comments bool          // the file may hold comments
	Flat     bool          // the list of an event has the handlers themselves, not groups of them
	unit     time.Duration // of a time-out
	named    bool          // a handler has a name, with which a person can switch it off
	argsFrom string        // the first version in which a handler may be a program with arguments, run without a shell; "": none
	// blockFrom is the first version in which a handler's key onFailure blocks a tool if the hook fails; older versions ignore the key.
	// "": no version has it.
	blockFrom string
	posts     []string      // events that it can post over HTTP instead
	endLimit  time.Duration // limit of a hook at the end of a session, if the agent has a special one; 0: as for other events

	// DenyPath is the path of the agent's own deny list; nil: it has none.
	DenyPath  []string
	denyRules func(protected []Protected, at Place) []string
	// Switches are the settings that switch all hooks off.
	Switches []Switch
	// Disabled is the path of the list of handlers that a person has switched off, by name or command; nil: the agent has none.
	Disabled []string
	// TrustKey returns the key and the hash under which an agent with a Files.Trust records its trust in a handler.
	TrustKey func(file string, h HookEntry) (key, hash string)
}

// Switch is a setting that switches all hooks off unless it has one value.
type Switch struct {
	Path []string
	On   string // the JSON value with which hooks run; they also run without the setting
	Hint string
	// Pin says that On in the file of a project's hooks stands above another value in the files of the project and of the user.
	Pin bool
}

// HookEntry is one hook of an event in an agent's configuration.
type HookEntry struct {
	Event   string
	Group   int // index of its group in the list of the event
	Index   int // its index in the group
	Command string
	Args    []string // of Command, which is then a program; nil: Command is a line for a shell
	Blocks  bool     // its failure blocks the tool
	Matcher string
	Timeout string // as JSON; "" if the entry has none
}

// Pinned returns the time-out of our entry for an event. It is long before a tool and at a stop, where a person may have to answer.
func (a Agent) Pinned(event string) time.Duration {
	switch k := a.Kind(event); {
	case k == PreTool || k == Permission || k == Stop || k == SubagentStop:
		return 600 * time.Second
	case k == SessionEnd && a.Hooks.endLimit > 0:
		return a.Hooks.endLimit
	case k == Prompt || k == SessionStart || k == SubagentStart:
		return 30 * time.Second
	case k == Status:
		return statusLimit
	}
	return 10 * time.Second
}

// Timeout returns the pinned time-out of an event in the unit of the agent's file.
func (a Agent) Timeout(event string) string {
	return fmt.Sprint(int64(a.Pinned(event) / a.Hooks.unit))
}

// HookName returns the name of our handler of an event, for agents whose handlers have names.
func HookName(event string) string { return "mycelium " + event }

// ArgsFrom returns the first version of the agent that can run a hook as a program with arguments, without a shell; "" if none can. An
// older version runs the program without arguments, which denies.
func (a Agent) ArgsFrom() string { return a.Hooks.argsFrom }

// BlocksFrom returns the first version of the agent that blocks a tool if its hook fails; "" if none does.
func (a Agent) BlocksFrom() string { return a.Hooks.blockFrom }

// Replaces reports whether a version of the agent is known to run the command that a hook gives it in the place of its own.
func (a Agent) Replaces(version string) bool { return atLeast(version, a.ReplacesFrom) }

// BlocksOnFailure reports whether a version of the agent blocks a tool if its hook fails. Such a version may also post its events over
// HTTP.
func (a Agent) BlocksOnFailure(version string) bool { return atLeast(version, a.Hooks.blockFrom) }

// atLeast reports whether version is not lower than another one. Versions are three numbers with dots; any other text is lower than all.
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

// Posts reports whether a version of the agent may post an event over HTTP instead of starting a program: the event is a frequent one,
// and a failed post blocks the tool.
func (a Agent) Posts(version, event string) bool {
	return a.BlocksOnFailure(version) && slices.Contains(a.Hooks.posts, event)
}

// Runs describes the action of an entry.
type Runs struct {
	Program string
	Args    []string
	URL     string      // the agent posts the event to this URL; "": it runs the program
	Headers [][2]string // headers of the post: name and value, in which $NAME is a variable of the agent
}

// shellLine returns the program and its arguments as a line for a shell.
func (r Runs) shellLine() string {
	words := []string{ShellWord(r.Program)}
	for _, arg := range r.Args {
		words = append(words, ShellWord(arg))
	}
	return strings.Join(words, " ")
}

// Entry returns the element for the list of an event: one handler, grouped as the agent requires.
func (a Agent) Entry(event string, r Runs) jsontext.Value {
	handler := `"command": ` + string(rawjson.Quote(r.Program))
	switch {
	case r.URL != "":
		handler = `"url": ` + string(rawjson.Quote(r.URL)) + posted(r.Headers)
	case a.Hooks.argsFrom == "": // the agent accepts only a line for a shell
		handler = `"command": ` + string(rawjson.Quote(r.shellLine()))
	default:
		handler += `, "args": ` + string(textList(r.Args))
	}
	handler += `, "timeout": ` + a.Timeout(event)
	if a.Hooks.blockFrom != "" {
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

// posted returns the headers of a post, and the variables in them.
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

// firstThere returns the first path that exists, or the first path.
func firstThere(paths ...string) string {
	for _, p := range paths {
		if _, err := os.Lstat(p); err == nil || !errors.Is(err, fs.ErrNotExist) {
			return p
		}
	}
	return paths[0]
}

// variable returns a variable of an environment; the last entry counts.
func variable(environ []string, name string) string {
	for i := len(environ) - 1; i >= 0; i-- {
		if v, ok := strings.CutPrefix(environ[i], name+"="); ok {
			return v
		}
	}
	return ""
}
