package main

import (
	"context"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"mycelium/internal/backend"
	"mycelium/internal/config"
	"mycelium/internal/files"
	"mycelium/internal/gate"
	"mycelium/internal/policy"
	"mycelium/internal/secret"
	"mycelium/internal/skill"
)

// view is a project as its files and the learned catalogs describe it, with nothing started: what the commands that only look
// work on.
type view struct {
	project  *config.Project
	catalog  skill.Catalog
	policy   *policy.Policy
	skills   *skill.Library
	problems []policy.Problem // of the files and of what they declare together
	pool     *backend.Pool
	files    *files.Server // the built-in one
	root     string        // its folder
	close    func()

	bareCollision string // a name for which the bare server keeps its prefix; empty: none
}

// projectDir is the project folder, absolute and with links resolved: the identity of a project.
func (a *app) projectDir() (string, error) {
	dir, err := filepath.Abs(a.dir)
	if err != nil {
		return "", fmt.Errorf("project folder %s: %w", a.dir, err)
	}
	resolved, err := filepath.EvalSymlinks(dir)
	if err != nil {
		return "", hinted(fmt.Errorf("project folder %s: %w", a.dir, err), "name an existing folder with -C")
	}
	if st, err := os.Stat(resolved); err != nil || !st.IsDir() {
		return "", hinted(fmt.Errorf("project folder %s: not a folder", a.dir), "name an existing folder with -C")
	}
	return resolved, nil
}

// load reads the files of the project and of the user.
func (a *app) load() (*config.Project, error) {
	dir, err := a.projectDir()
	if err != nil {
		return nil, err
	}
	if a.config != "" || a.getenv("MYCELIUM_CONFIG_PATH") != "" {
		if why := a.agentHere(); why != "" { // it could have written the file itself
			return nil, deniedError(fmt.Errorf("another configuration file: only a person may name one, and %s", why), "start the daemon with it in a terminal of your own: myc --config FILE serve --background")
		}
	}
	p, err := config.Load(config.Options{Dir: dir, File: a.config, Environ: a.environ, Logger: a.logger()})
	if err == nil {
		a.logs = p.File.Log
	}
	return p, err
}

// look loads the project and compiles its policy against what is known of its servers.
func (a *app) look() (*view, error) {
	p, err := a.load()
	if err != nil {
		return nil, err
	}
	v := &view{project: p, root: filesRoot(p)}
	if v.files, err = files.New(v.root); err != nil {
		return nil, configError(fmt.Errorf("built-in server files: %w", err), "correct its args in mycelium.yaml")
	}
	if v.pool, err = a.newPool(p, v.files); err != nil {
		_ = v.files.Close()
		return nil, err
	}
	v.close = func() {
		ended, cancel := context.WithCancel(context.Background())
		cancel()
		_ = v.pool.Run(ended) // a pool that is told to end at once only closes
		_ = v.files.Close()
	}
	v.compile()
	return v, nil
}

// with is the view of other files on the same servers.
func (v *view) with(p *config.Project) *view {
	return &view{project: p, pool: v.pool, files: v.files, root: v.root, close: v.close}
}

// compile validates and compiles with the catalog of now.
func (v *view) compile() {
	v.catalog = catalogOf(v.pool)
	var more []policy.Problem
	project := *v.project
	served, faults := servedSkills(v.pool.Catalog().Skills)
	project.Skills = append(slices.Clone(project.Skills), served...)
	v.policy, v.skills, more = project.Compile(v.catalog)
	v.problems = slices.Concat(v.project.Problems, more, faults)
	w := v.world()
	if w.Bare != v.project.Bare {
		v.problems = append(v.problems, policy.Problem{File: v.project.ServersFrom, Warning: true, Message: "mcpServers." + v.project.Bare + ": its names stand with their prefix, because without it " +
			v.bareCollision + " would be read as another server's", Hint: "remove bare, or rename the server whose name it begins with"})
	}
}

// world is the view as the gate takes it.
func (v *view) world() gate.World {
	cat := v.pool.Catalog()
	w := gate.World{Policy: v.policy, Skills: v.skills, Definitions: v.catalog.Definitions, Templates: cat.Templates, Held: v.catalog.Held, Broken: v.project.Broken.All,
		Promotion: v.project.File.Session.Promotion, AskClient: v.project.File.Approval.AsksClient(),
		Roots: map[string]string{"files": v.root}, Servers: map[string]gate.Server{}}
	for _, s := range v.project.Servers {
		w.Servers[s.Name] = gate.Server{}
	}
	for name, about := range cat.Servers {
		w.Servers[name] = gate.Server{Capabilities: about.Capabilities, Instructions: about.Instructions}
	}
	if bare := v.project.Bare; bare != "" {
		if taken := gate.Collisions(w, bare); len(taken) > 0 {
			v.bareCollision = taken[0]
		} else {
			w.Bare = bare
		}
	}
	return w
}

// catalogOf is what the servers offer, and the control tools that the gate itself answers.
func catalogOf(pool *backend.Pool) skill.Catalog {
	c := pool.Catalog()
	return skill.Catalog{Definitions: append(gate.ControlDefinitions(), c.Definitions...), Pending: c.Pending, Held: heldItems(c.Held)}
}

// newPool makes the pool of a project's servers with the built-in ones in it. Nothing is started.
func (a *app) newPool(p *config.Project, fs *files.Server) (*backend.Pool, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, fmt.Errorf("find own program: %w", err)
	}
	state, err := config.StateDir()
	if err != nil {
		return nil, err
	}
	return backend.New(p.Servers, backend.Options{
		Dir: p.Dir, Catalogs: filepath.Join(p.Dir, ".mycelium", "catalog"), Logs: filepath.Join(p.Dir, ".mycelium", "log"), Pins: filepath.Join(state, "pins", projectKey(p.Dir)),
		Tokens: filepath.Join(state, "tokens"), Builtins: map[string]backend.Builtin{"files": fs},
		Secrets: secret.New(p.SecretOptions()), Environ: a.environ, Keeper: []string{self, "keeper"}, Version: version(), Logger: a.logger(),
	})
}

// filesRoot is the folder of the built-in files server: its entry may name another than the project's.
func filesRoot(p *config.Project) string {
	root := p.Dir
	for _, s := range p.Servers {
		if s.Builtin == "files" && len(s.Args) > 0 {
			root = s.Args[0]
		}
	}
	if !filepath.IsAbs(root) {
		root = filepath.Join(p.Dir, root)
	}
	if resolved, err := filepath.EvalSymlinks(root); err == nil {
		return resolved
	}
	return root
}

// logger writes to stderr: warnings, or what the log section says, and with -v everything; as text, or as JSON.
func (a *app) logger() *slog.Logger {
	level := slog.LevelWarn
	_ = level.UnmarshalText([]byte(a.logs.Level)) // checked when the files are read; empty: warnings
	if a.verbose || strings.EqualFold(a.getenv("MYCELIUM_LOG"), "debug") {
		level = slog.LevelDebug
	}
	if a.getenv("LOG_SILENT") != "" {
		return slog.New(slog.DiscardHandler)
	}
	o := &slog.HandlerOptions{Level: level}
	if a.logsJSON() {
		return slog.New(slog.NewJSONHandler(a.err, o))
	}
	return slog.New(slog.NewTextHandler(a.err, o))
}

// logsJSON reports whether each line of the log is a JSON object.
func (a *app) logsJSON() bool {
	format := a.getenv("MYCELIUM_LOG_FORMAT")
	return strings.EqualFold(format, "json") || format == "" && a.logs.Format == "json"
}

// getenv reads the environment that this run was given.
func (a *app) getenv(key string) string {
	for i := len(a.environ) - 1; i >= 0; i-- {
		if v, ok := strings.CutPrefix(a.environ[i], key+"="); ok {
			return v
		}
	}
	return ""
}

// refuseBroken ends a command that cannot be right while files are broken: every problem on stderr, and exit code 4 unless it is
// about skills only.
func (a *app) refuseBroken(problems []policy.Problem) error {
	n := 0
	for _, p := range problems {
		if p.Warning {
			continue
		}
		fmt.Fprintln(a.err, problemText(p))
		if !isSkillFile(p.File) { // a broken skill removes itself only (decision 7)
			n++
		}
	}
	if n == 0 {
		return nil
	}
	return configError(fmt.Errorf("%d problem(s) in the project's files", n), "myc doctor shows all of them with what to do")
}

// problemText is one problem as a line: file:line: message (hint).
func problemText(p policy.Problem) string {
	var b strings.Builder
	if p.File != "" {
		b.WriteString(p.File)
		if p.Line > 0 {
			fmt.Fprintf(&b, ":%d", p.Line)
		}
		b.WriteString(": ")
	}
	if p.Warning {
		b.WriteString("warning: ")
	}
	b.WriteString(visible(p.Message))
	if p.Hint != "" {
		b.WriteString(" (" + visible(p.Hint) + ")")
	}
	return b.String()
}

// readFile reads a file that a person named.
func readFile(path string) ([]byte, error) {
	b, err := os.ReadFile(path)
	if err != nil {
		return nil, hinted(err, "name an existing file")
	}
	return b, nil
}
