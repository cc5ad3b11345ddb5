package project

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"

	"mycelium/internal/backend"
	"mycelium/internal/config"
	"mycelium/internal/config/observe"
	"mycelium/internal/files"
	"mycelium/internal/hook"
	"mycelium/internal/hook/install"
	"mycelium/internal/memory"
	"mycelium/internal/node/fence"
	"mycelium/internal/node/sandboxed"
	"mycelium/internal/op/failure"
	"mycelium/internal/policy"
	"mycelium/internal/policy/worker"
	"mycelium/internal/rpc"
	"mycelium/internal/sandbox/served"
	"mycelium/internal/secret"
	"mycelium/internal/state"
	"mycelium/internal/swarm/tools"
	"mycelium/internal/text"
	"mycelium/internal/transcript"
	"mycelium/internal/worktree"
)

// Loader reads a project: the folder and the configuration file that the command line names, with the environment of this run.
type Loader struct {
	Dir      string // -C; after Find the folder of the project
	Found    bool   // Find found Dir above the current folder
	StateDir string // --state
	ID       string // --project-id
	Agent    bool   // this is a command that agents start: a hook or `myc mcp`
	Outside  bool   // Dir belongs to no project: only the user's own files count
	Config   string // --config
	Environ  []string
	Verbose  bool
	Err      io.Writer   // of the log
	Version  string      // of this program
	Readable files.Guard // for the built-in files server; nil: nobody calls it here
	Snapshot bool        // take what the files say from a snapshot, as a hook does: problems have no lines then
	moving   bool        // the state is being brought here
	OnDisk   bool        // read the project's files as they are on disk, accepted or not: to check them, not to enforce them
	logs     observe.Log // what the files say of logs
}

// ProjectDir returns the project folder, absolute and with links resolved. It identifies the project. A linked working tree of git is its
// main one.
func (l *Loader) ProjectDir() (string, error) {
	dir, err := l.Folder()
	if err != nil {
		return "", err
	}
	return worktree.Main(dir, l.workers(dir)), nil
}

// workers returns the folder of the state with the git folders of the trees of workers, for a folder that may lie in such a tree.
func (l *Loader) workers(dir string) string {
	root, err := l.root(dir, l.ofAgent())
	if err != nil {
		return "" // whoever uses the state reports it
	}
	return root.WorkersAt(dir)
}

// Note says which project it is if the folder that the command line names is another working tree of it, and else nothing.
func (l *Loader) Note() string {
	dir, err := l.Folder()
	if err != nil {
		return ""
	}
	main := worktree.Main(dir, l.workers(dir))
	if main == dir {
		return ""
	}
	return main + " (this folder is a worktree of it: its own files have no effect)"
}

// Folder returns the folder that the command line names, absolute and with links resolved. It is the project folder, or a folder of a
// working tree of the project.
func (l *Loader) Folder() (string, error) {
	dir, err := filepath.Abs(l.Dir)
	if err != nil {
		return "", fmt.Errorf("project folder %s: %w", l.Dir, err)
	}
	resolved, err := filepath.EvalSymlinks(dir)
	if err != nil {
		return "", failure.Hint(fmt.Errorf("project folder %s: %w", l.Dir, err), "name an existing folder with -C")
	}
	if st, err := os.Stat(resolved); err != nil || !st.IsDir() {
		return "", failure.Hint(fmt.Errorf("project folder %s: not a folder", l.Dir), "name an existing folder with -C")
	}
	return resolved, nil
}

// Load reads the files of the project and of the user.
func (l *Loader) Load() (*config.Project, error) {
	if l.Config != "" || !l.Agent && l.Getenv("MYCELIUM_CONFIG_PATH") != "" {
		if why := fence.AgentHere(l.Environ); why != "" { // an agent could have written the file itself
			return nil, failure.New(failure.Denied,
				fmt.Errorf("another configuration file: only a person may name one, and %s", why),
				"start the daemon with it in a terminal of your own: myc --config FILE serve --background")
		}
	}
	s, agent, err := l.place()
	if err != nil {
		return nil, err
	}
	if l.Outside {
		return l.loadOutside(s)
	}
	if err := l.resume(s); err != nil {
		return nil, err
	}
	o := l.options(s)
	if l.OnDisk { // who checks files means those of the folder that was named
		if o.Dir, err = l.Folder(); err != nil {
			return nil, err
		}
	}
	if agent {
		note, err := s.ReadNote()
		if err != nil {
			return nil, unknown(s, err)
		}
		o.Home, o.UserDir, o.Environ = note.Home, note.Config, []string{"HOME=" + note.Home}
	}
	p, err := config.Load(o)
	if err == nil {
		l.logs = p.File.Log
	}
	return p, err
}

// options say which files of a project to read.
func (l *Loader) options(s state.Paths) config.Options {
	return config.Options{Dir: s.Project, File: l.Config, State: s, Programs: l.programs(s), Environ: l.Environ, Logger: l.Logger(),
		OnDisk: l.OnDisk, Snapshot: l.Snapshot}
}

// programs returns the programs that enforce the policy of a project: this one, those that hooks run, and the folder where they are
// installed.
func (l *Loader) programs(s state.Paths) []string {
	out := install.Programs(s.Project, l.Environ)
	if self, err := os.Executable(); err == nil {
		out = append(out, self, filepath.Join(filepath.Dir(self), hook.Small))
		if resolved, err := filepath.EvalSymlinks(self); err == nil {
			out = append(out, resolved)
		}
	}
	out = append(out, string(s.Root), s.Programs())
	if note, err := hook.ReadInstalled(filepath.Join(s.Programs(), hook.Small)); err == nil {
		out = append(out, note.Myc)
	}
	return out
}

// OpenView loads the project and compiles its policy against what is known of its servers.
func (l *Loader) OpenView() (*View, error) {
	p, err := l.Load()
	if err != nil {
		return nil, err
	}
	v := &View{Project: p, Root: FilesRoot(p), inForce: &atomic.Pointer[View]{}}
	if l.Outside {
		v.Root = p.Dir
	}
	if v.Files, err = files.New(v.Root, l.Readable); err != nil {
		return nil, failure.New(failure.Config, fmt.Errorf("built-in server files: %w", err), "correct its args in mycelium.yaml")
	}
	if v.Pool, err = l.newPool(v); err != nil {
		_ = v.Files.Close()
		return nil, err
	}
	v.Close = func() {
		ended, cancel := context.WithCancel(context.Background())
		cancel()
		_ = v.Pool.Run(ended)
		_ = v.Files.Close()
	}
	v.Compile()
	v.Enforce()
	return v, nil
}

// OpenViewWith is OpenView with the policy of another folder; "" is the project's own.
func (l *Loader) OpenViewWith(dir string) (*View, error) {
	v, err := l.OpenView()
	if err != nil || dir == "" {
		return v, err
	}
	abs, err := filepath.Abs(dir)
	if err == nil {
		var st os.FileInfo
		if st, err = os.Stat(abs); err == nil && !st.IsDir() {
			err = fmt.Errorf("%s is not a folder", abs)
		}
	}
	if err != nil {
		v.Close()
		return nil, failure.Hint(fmt.Errorf("policy folder: %w", err), "name a folder that holds rules.yaml, skills/ or roles/")
	}
	p, err := config.Load(config.Options{Dir: v.Project.Dir, Policy: abs, State: v.Project.State, Programs: l.programs(v.Project.State),
		Home: v.Project.Home, UserDir: v.Project.UserDir, Environ: l.Environ, Logger: l.Logger()})
	if err != nil {
		v.Close()
		return nil, err
	}
	v = v.With(p)
	v.Compile()
	return v, nil
}

// newPool makes the pool of a project's servers, with the built-in ones. It starts no server.
func (l *Loader) newPool(v *View) (*backend.Pool, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, fmt.Errorf("find own program: %w", err)
	}
	p, paths := v.Project, v.Project.State
	if v.Sandbox, err = sandboxed.Server(p.Dir, paths, p.Home, l.Environ, v.law); err != nil {
		return nil, err
	}
	if v.Memory, err = memory.NewServer(Memories(p)); err != nil {
		return nil, err
	}
	if v.Talks, err = transcript.NewServer(); err != nil {
		return nil, err
	}
	if v.Swarm, err = tools.NewServer(); err != nil {
		return nil, err
	}
	return backend.New(p.Servers, backend.Options{
		Dir: p.Dir, Catalogs: paths.Catalogs(), Logs: paths.ServerLogs(), Pins: paths.Pins(),
		Tokens: paths.ServerTokens(),
		Builtins: map[string]backend.Builtin{"files": v.Files, served.Name: v.Sandbox, transcript.Name: v.Talks,
			policy.MemoryServer: v.Memory, worker.Server: v.Swarm},
		MayStart: p.MayStart, Confine: sandboxed.Confine(v.Sandbox.Find, p.Dir, paths, p.Home),
		Secrets: secret.New(p.SecretOptions()), Environ: l.Environ, Keeper: []string{self, "keeper"}, Version: l.Version,
		Keepers: paths.Keepers(), Memory: rpc.NewMemory(max(rpc.DefaultMemory, largestMessages*p.File.Server.MaxBody)),
		Logger: l.Logger(),
	})
}

// largestMessages is how many messages of the largest size there is memory for: one while it is read, copied and answered.
const largestMessages = 4

// Logger returns a logger to Err, as text or as JSON. It logs warnings, or what the log section says; with -v everything.
func (l *Loader) Logger() *slog.Logger {
	name, _ := l.logLevel()
	if name == levelOff {
		return slog.New(slog.DiscardHandler)
	}
	level := slog.LevelWarn
	_ = level.UnmarshalText([]byte(name)) // checked when the files are read; empty: warnings
	o := &slog.HandlerOptions{Level: level, ReplaceAttr: func(_ []string, a slog.Attr) slog.Attr {
		if err, ok := a.Value.Any().(error); ok {
			a.Value = slog.StringValue(text.Describe(err))
		}
		return a
	}}
	if l.LogsJSON() {
		return slog.New(slog.NewJSONHandler(l.Err, o))
	}
	return slog.New(slog.NewTextHandler(l.Err, o))
}

// LogsJSON reports whether each line of the log is a JSON object.
func (l *Loader) LogsJSON() bool {
	format, _ := l.logFormat()
	return strings.EqualFold(format, "json")
}

// Getenv returns a variable of Environ; the last entry counts.
func (l *Loader) Getenv(key string) string { return valueIn(l.Environ, key) }
