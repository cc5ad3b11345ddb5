// Package served is the built-in server mycelium-sandbox: tools that run a command in the sandbox.
//
// The policy decides before a call what the command may do, as it does for an agent's own shell. Here the walls are added: no caller gets
// the network, a path outside of the project, or a profile without walls.
package served

import (
	"context"
	_ "embed"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/go-json-experiment/json"

	"mycelium/internal/builtin"
	"mycelium/internal/policy"
	"mycelium/internal/sandbox"
	"mycelium/internal/sandbox/jail"
)

// Name is the name of the server.
const Name = policy.SandboxServer

// MaxTimeout bounds the time of a call.
const MaxTimeout = 10 * time.Minute

// bashTimeout is the time of the tool bash without an argument (requirements, A41).
const bashTimeout = 2 * time.Minute

//go:embed tools.json
var definitions string

// Server runs commands for the agents of one project. It is safe for concurrent use.
type Server struct {
	self         jail.Self
	interpreters map[string][]string
	base         Base
	law          func() (Law, bool)
	tools        *builtin.Table[*Server]
}

// Base returns what every command has, each time anew: project, home, caches. folder is the linked worktree in which the caller works, and
// the project of its commands; empty: the project's own folder.
type Base func(folder string) (sandbox.Command, error)

// Law is the part of the files in force that is about the sandbox.
type Law struct {
	Profiles []sandbox.Profile                         // that there are
	Closed   func(policy.Scope) (policy.Closed, error) // the names that the policy closes to a scope
}

// New makes the server. self says how the sandbox's child is started; interpreters are the programs that run a script, by its ending; law
// returns the one in force. Until it is known, nothing runs.
func New(self jail.Self, interpreters map[string][]string, base Base, law func() (l Law, known bool)) (*Server, error) {
	tools, err := builtin.Parse(Name, definitions, map[string]builtin.Func[*Server]{
		"bash":                 builtin.With(bash),
		"sandbox_capabilities": builtin.With(capabilities),
		"sandbox_exec":         builtin.With(execute),
		"sandbox_exec_script":  builtin.With(script),
		"sandbox_profiles":     builtin.With(profiles),
	})
	if err != nil {
		return nil, err
	}
	return &Server{self: self, interpreters: interpreters, base: base, tools: tools, law: law}, nil
}

// profiles are those that there are: the shipped ones, until the files are known.
func (s *Server) profiles() []sandbox.Profile {
	if law, known := s.law(); known {
		return law.Profiles
	}
	return sandbox.Profiles()
}

// Find returns the profile of a name, as the files of now have it.
func (s *Server) Find(name string) (sandbox.Profile, bool) {
	all := s.profiles()
	if i := slices.IndexFunc(all, func(p sandbox.Profile) bool { return p.Name == name }); i >= 0 {
		return all[i], true
	}
	return sandbox.Profile{}, false
}

// Definitions returns the tools. The caller must not change them.
func (s *Server) Definitions() []policy.Definition { return s.tools.Definitions() }

// Do answers an MCP request as [builtin.Table.Do] does.
func (s *Server) Do(ctx context.Context, scope policy.Scope, method string, params []byte, _ func(method string, params []byte)) (result,
	rpcErr []byte, err error) {
	return s.tools.Do(ctx, s, scope, method, params)
}

// request has the arguments of the tools that run something.
type request struct {
	Command          string   `json:"command"`
	ScriptPath       string   `json:"scriptPath"`
	Args             []string `json:"args"`
	Profile          string   `json:"profile"`
	WorkingDirectory string   `json:"workingDirectory"`
	Stdin            string   `json:"stdin"`
	Timeout          int64    `json:"timeout"`
	ReadPaths        []string `json:"readPaths"`
	WritePaths       []string `json:"writePaths"`
	AllowNetwork     bool     `json:"allowNetwork"`
}

func bash(ctx context.Context, s *Server, at policy.Scope, r request) (builtin.Answer, error) {
	if r.Timeout == 0 {
		r.Timeout = bashTimeout.Milliseconds()
	}
	return s.run(ctx, at, r, []string{"bash", "-c", r.Command})
}

func execute(ctx context.Context, s *Server, at policy.Scope, r request) (builtin.Answer, error) {
	if r.AllowNetwork {
		return builtin.Answer{}, errors.New("there is no network in this sandbox; only a person may open it: myc sandbox exec --allow-network")
	}
	return s.run(ctx, at, r, append([]string{r.Command}, r.Args...))
}

func script(ctx context.Context, s *Server, at policy.Scope, r request) (builtin.Answer, error) {
	argv, ok := s.interpreters[filepath.Ext(r.ScriptPath)]
	if !ok {
		return builtin.Answer{}, fmt.Errorf("%q: no interpreter is known for this ending; there are .py, .sh, .js and .ts", r.ScriptPath)
	}
	c, err := s.base(at.Folder)
	if err != nil {
		return builtin.Answer{}, err
	}
	path, err := within(c.Project, r.ScriptPath)
	if err != nil {
		return builtin.Answer{}, err
	}
	return s.run(ctx, at, r, slices.Concat(argv, []string{path}, r.Args))
}

// outcome is the structured answer of a command.
type outcome struct {
	Success        bool     `json:"success"`
	ExitCode       int      `json:"exitCode"`
	Stdout         string   `json:"stdout"`
	Stderr         string   `json:"stderr"`
	TimedOut       bool     `json:"timedOut"`
	MemoryExceeded bool     `json:"memoryExceeded"` // its largest process came to nine tenths of the limit, and it failed
	Violations     []string `json:"violations"`     // what it made and was not kept, and what it may have wanted
	Seconds        float64  `json:"seconds"`
	Profile        string   `json:"profile"`
}

func (s *Server) run(ctx context.Context, at policy.Scope, r request, argv []string) (builtin.Answer, error) {
	c, err := s.command(at.Folder, r, argv)
	if err != nil {
		return builtin.Answer{}, err
	}
	law, known := s.law()
	if !known {
		return builtin.Answer{}, errors.New("it is not known what the policy closes; nothing ran")
	}
	if c.Closed, err = law.Closed(at); err != nil {
		return builtin.Answer{}, err
	}
	var out, errs Output
	c.In, c.Out, c.Err = strings.NewReader(r.Stdin), &out, &errs
	result, err := sandbox.Run(ctx, s.self, c)
	var start *jail.StartError
	if errors.As(err, &start) {
		return builtin.Answer{}, errors.New(start.Reason)
	}
	if err != nil {
		return builtin.Answer{}, err
	}
	o := outcome{
		Success: result.ExitCode == 0 && !result.TimedOut, ExitCode: result.ExitCode, Stdout: out.String(), Stderr: errs.String(),
		TimedOut: result.TimedOut, MemoryExceeded: result.MemoryExceeded, Violations: Violations(result.Left), Seconds: result.Seconds,
		Profile: c.Profile.Name,
	}
	data, err := json.Marshal(o)
	if err != nil {
		return builtin.Answer{}, err
	}
	return builtin.Answer{Content: []builtin.Block{builtin.TextBlock(string(data))}, Structured: o, IsError: !o.Success}, nil
}

// Violations says in words what a command made and was not kept, and what it may have wanted.
func Violations(left sandbox.Left) []string {
	out := []string{}
	for _, path := range left.Quarantined {
		out = append(out, path+" would govern agents: it was put away")
	}
	if left.Git != "" {
		out = append(out, left.NoGit())
	}
	for _, r := range left.Refused {
		out = append(out, r.What()+": refused: "+r.Why)
	}
	for _, key := range left.Settings {
		out = append(out, key+" of git's configuration may name a program: it was not kept")
	}
	for _, lack := range left.Lacks {
		if s := lack.SayToAgent(); s != "" {
			out = append(out, s)
		}
	}
	return out
}

// command makes the command of the sandbox.
func (s *Server) command(folder string, r request, argv []string) (*sandbox.Command, error) {
	c, err := s.base(folder)
	if err != nil {
		return nil, err
	}
	name := r.Profile
	if name == "" {
		name = "standard"
	}
	p, ok := s.Find(name)
	if !ok || p.Network || len(p.Masks) > 0 {
		return nil, fmt.Errorf("there is no profile %q here: sandbox_profiles lists them, and those with a network or with masks are for people",
			name)
	}
	if r.Timeout > 0 {
		p.Seconds = min(time.Duration(r.Timeout)*time.Millisecond, MaxTimeout).Seconds()
	}
	if p.Seconds == 0 {
		p.Seconds = MaxTimeout.Seconds()
	}
	c.Argv, c.Profile, c.Dir = argv, p, c.Project
	if r.WorkingDirectory != "" {
		if c.Dir, err = within(c.Project, r.WorkingDirectory); err != nil {
			return nil, err
		}
	}
	for _, path := range r.ReadPaths {
		if _, err := within(c.Project, path); err != nil {
			return nil, err
		}
	}
	for _, name := range r.WritePaths {
		path, err := within(c.Project, name)
		if err != nil {
			return nil, err
		}
		c.Write = append(c.Write, path)
	}
	return &c, nil
}

// within returns the path of a file that lies in the project, without links.
func within(project, name string) (string, error) {
	path := name
	if !filepath.IsAbs(path) {
		path = filepath.Join(project, path)
	}
	resolved, err := filepath.EvalSymlinks(path)
	if err != nil {
		return "", fmt.Errorf("%q is not there", name)
	}
	if resolved != project && !strings.HasPrefix(resolved, project+"/") {
		return "", fmt.Errorf("%q lies outside of the project", name)
	}
	return resolved, nil
}

func capabilities(ctx context.Context, s *Server, _ policy.Scope, _ struct{}) (builtin.Answer, error) {
	return structured(sandbox.Probe(ctx, s.self, s.profiles()[0].Backend))
}

func profiles(_ context.Context, s *Server, _ policy.Scope, r request) (builtin.Answer, error) {
	if r.Profile == "" {
		return structured(map[string]any{"profiles": s.profiles()})
	}
	p, ok := s.Find(r.Profile)
	if !ok {
		return builtin.Answer{}, fmt.Errorf("there is no profile %q", r.Profile)
	}
	return structured(p)
}

// structured makes an answer of a value, as JSON text and as a structure.
func structured(v any) (builtin.Answer, error) {
	data, err := json.Marshal(v)
	if err != nil {
		return builtin.Answer{}, err
	}
	return builtin.Answer{Content: []builtin.Block{builtin.TextBlock(string(data))}, Structured: v}, nil
}
