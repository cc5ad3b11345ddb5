package agents

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"time"

	"github.com/spf13/pflag"

	"mycelium/cmd/myc/internal/base"
	"mycelium/internal/atomicfile"
	"mycelium/internal/harness"
	"mycelium/internal/hook"
	"mycelium/internal/hook/install"
	"mycelium/internal/node/agentshell"
	"mycelium/internal/node/agentshell/shim"
	"mycelium/internal/node/sandboxed"
	"mycelium/internal/op/failure"
	"mycelium/internal/sandbox/cause"
	"mycelium/internal/sandbox/jail"
	"mycelium/internal/sandbox/light"
	"mycelium/internal/state"
	"mycelium/internal/swarm/ground"
)

// Wall is the value of --wall: yes, no, or empty for yes where one can be built.
type Wall string

const (
	wallYes Wall = "yes"
	wallNo  Wall = "no"
)

func (w *Wall) String() string { return string(*w) }

// Type is the form of the value in a help text.
func (w *Wall) Type() string { return "yes|no" }

// Set takes the value of the flag.
func (w *Wall) Set(s string) error {
	if v := Wall(s); v != wallYes && v != wallNo {
		return fmt.Errorf("--wall: %q is not one of yes, no", s)
	}
	*w = Wall(s)
	return nil
}

// WallFlag adds the flag --wall to a command that starts agents.
func WallFlag(f *pflag.FlagSet, w *Wall, agents string) {
	f.Var(w, "wall", "start "+agents+" behind the light wall, in which it cannot change the files that govern it (default: yes where this machine "+
		"can build one)")
}

// begin starts the program behind the light wall, or without it where that is asked for or no wall can be built. cmd has no context: a
// context would end a copy of it. The program ends with the thread of the caller.
func (l *Launch) begin(cmd *exec.Cmd) error {
	start, err := filepath.Abs(cmd.Dir) // "": where this process is
	if err == nil {
		start, err = filepath.EvalSymlinks(start)
	}
	if err != nil {
		return fmt.Errorf("find the folder in which the agent works: %w", err)
	}
	l.start = start
	note := light.Note{None: "--wall no"}
	if l.wall != wallNo {
		err = l.app.startInside(l, cmd)
		var stage *jail.StageError
		switch {
		case err == nil:
			return nil
		case !errors.As(err, &stage):
			return err
		case l.wall == wallYes:
			return failure.Hint(fmt.Errorf("%s: the light wall cannot be built here: %s: %s", l.agent.Name, stage.Doing, stage.Cause), mendWall(stage))
		}
		note.None = stage.Doing + ": " + stage.Cause
		l.unwalled.Do(func() {
			l.warn(fmt.Sprintf("no light wall stands around this agent (%s), only the fence: a command outside of the sandbox could change the "+
				"files that govern it", note.None), mendWall(stage))
		})
	}
	if was, _ := light.Read(l.files); len(was.Files) > 0 { // of the start before in this session
		note.Files = was.Files
	} else if note.Files, err = l.governing(); err != nil {
		return err
	}
	if err := note.Keep(l.files); err != nil {
		return err
	}
	dieWith(cmd)
	if err := cmd.Start(); err != nil {
		return fmt.Errorf("start %s: %w", cmd.Path, err)
	}
	return nil
}

func mendWall(stage *jail.StageError) string {
	if mend := cause.Mend(stage); mend != "" {
		return mend
	}
	return "myc sandbox capabilities says what this machine can build; --wall no starts it without"
}

// startInside starts an agent behind the light wall.
func (a *app) startInside(l *Launch, cmd *exec.Cmd) error {
	points, err := a.wallPoints(l)
	if err != nil {
		return err
	}
	self, err := sandboxed.Self()
	if err != nil {
		return err
	}
	note := light.Note{Points: points}
	if err := note.Keep(l.files); err != nil { // until it names the child, the hook denies
		return err
	}
	behind := *cmd
	around := jail.Around{Points: points, Argv: append([]string{cmd.Path}, cmd.Args[1:]...), Env: cmd.Environ(), Dir: l.start}
	if err := jail.BeginAround(self, around, &behind); err != nil {
		return err
	}
	*cmd = behind
	note.Child = cmd.Process.Pid
	if err := note.Keep(l.files); err != nil {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
		return err
	}
	return nil
}

// wallPoints are the mount points of the wall around an agent.
func (a *app) wallPoints(l *Launch) ([]jail.Point, error) {
	s, err := a.setup(l.agent, harness.Project)
	if err != nil {
		return nil, err
	}
	p, err := a.Load()
	if err != nil {
		return nil, err
	}
	log, err := p.AuditLog()
	if err != nil {
		return nil, err
	}
	g := light.Guard{Home: a.Getenv("HOME"), Folders: []string{s.State.Project},
		Fixed: []string{string(s.State.Root), log.Dir}}
	g.Fixed = append(g.Fixed, programsOf(s)...)
	for _, tree := range []string{s.Dir, l.tree} { // a linked worktree, or the tree of a worker
		if tree != "" && !slices.Contains(g.Folders, tree) {
			g.Folders = append(g.Folders, tree)
		}
	}
	if !slices.Contains(g.Folders, l.start) {
		g.Start = l.start
	}
	if l.tree != "" { // workers take objects from there, and none writes them
		g.Fixed = append(g.Fixed, ground.Pools(s.State.WorkerTrees()))
	}
	if config := a.Getenv("XDG_CONFIG_HOME"); filepath.IsAbs(config) {
		g.Fixed = append(g.Fixed, filepath.Join(config, "mycelium"))
	}
	if a.Config != "" {
		abs, err := filepath.Abs(a.Config)
		if err != nil {
			return nil, fmt.Errorf("configuration file %s: %w", a.Config, err)
		}
		g.Fixed = append(g.Fixed, abs)
	}
	user, err := l.agent.Files(harness.User, "", a.Environ)
	if err != nil {
		return nil, err
	}
	if l.home != "" {
		g.Open, g.Fixed = append(g.Open, l.home), append(g.Fixed, l.fixed...)
	} else {
		g.Fixed = append(g.Fixed, user.Hooks)
		if err := makeSettings(user.Hooks); err != nil {
			return nil, err
		}
	}
	for _, folder := range l.settled(g.Folders...) {
		f, err := l.agent.Files(harness.Project, folder, a.Environ)
		if err != nil {
			return nil, err
		}
		if f.Hooks == user.Hooks { // the project is the home: the agent writes its sessions beside
			continue
		}
		own := filepath.Dir(f.Hooks)
		if err := os.MkdirAll(own, 0o755); err != nil { //nolint:gosec // a folder of the project, as people make it
			return nil, fmt.Errorf("make the folder of the agent's settings, so that it makes none: %w", err)
		}
		g.Closed = append(g.Closed, own)
	}
	return g.Points()
}

// governing are the files that govern the agent of a run, as they are now: the hook compares them where no wall stands.
func (l *Launch) governing() (out []light.File, err error) {
	a := l.app
	s, err := a.setup(l.agent, harness.Project)
	if err != nil {
		return nil, err
	}
	p, err := a.Load()
	if err != nil {
		return nil, err
	}
	look := func(path string, members ...string) {
		f, failed := light.Look(path, members...)
		out, err = append(out, f), errors.Join(err, failed)
	}
	for _, path := range slices.Concat(programsOf(s), []string{filepath.Join(l.files, settingsName), filepath.Join(l.files, mcpName),
		agentshell.NoteOf(l.files), shim.Path(l.files), p.Acceptance.Store().Manifest(), p.User.Store().Manifest()}, l.fixed) {
		look(path)
	}
	members := []string{"hooks", "env"}
	for _, sw := range l.agent.Hooks.Switches {
		members = append(members, sw.Path[0])
	}
	seen := map[string]bool{}
	for _, folder := range l.settled(s.State.Project, s.Dir, l.tree) {
		files, failed := l.agent.Settings(folder, a.Environ)
		if err = errors.Join(err, failed); err != nil {
			return nil, err
		}
		for _, f := range files {
			if !seen[f.Path] {
				look(f.Path, members...)
			}
			seen[f.Path] = true
		}
	}
	return out, err
}

// settled are folders of a project from which the agent may take settings, and the folder in which it starts: Claude Code reads the project's
// settings there and in no folder above or below it.
func (l *Launch) settled(folders ...string) (out []string) {
	for _, folder := range append(folders, l.start) {
		if folder != "" && !slices.Contains(out, folder) {
			out = append(out, folder)
		}
	}
	return out
}

// programsOf are the programs of ours that decide about an agent, and the note that leads from one to the other.
func programsOf(s *install.Setup) []string {
	return []string{s.Myc, filepath.Join(filepath.Dir(s.Myc), filepath.Base(s.Small)), s.Small, hook.NotePath(s.Small)}
}

// makeSettings makes empty settings where a person has none: nothing can be mounted on a file that is not there.
func makeSettings(path string) error {
	if _, err := os.Lstat(path); !errors.Is(err, fs.ErrNotExist) {
		return nil //nolint:nilerr // the wall says what is wrong
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return fmt.Errorf("make the folder of the agent's settings: %w", err)
	}
	return atomicfile.Write(path, []byte("{}\n"), 0o600)
}

// serveShell answers for the shell of the agent of a run, which cannot write the state behind the light wall.
func (a *app) serveShell(ctx context.Context, l *Launch) (end func(), err error) {
	ctx = context.WithoutCancel(ctx)
	s := &agentshell.Server{Folder: l.files, Shell: func() agentshell.Shell { return shellIn(ctx, l.Environ) }}
	return s.Listen()
}

// redialAfter is how long to wait after a daemon could not be started.
const redialAfter = time.Second

// keepDaemon keeps a daemon running until the function that it returns is called. Behind the light wall nobody could start one, and a
// hook without a daemon denies.
func (a *app) keepDaemon(ctx context.Context, c *base.Client) (end func()) {
	ctx, cancel := context.WithCancel(context.WithoutCancel(ctx))
	quiet := *a.App // the terminal is the agent's
	quiet.Err = io.Discard
	k := &app{&quiet}
	done := make(chan struct{})
	go func() {
		defer close(done)
		for {
			if c != nil && c.Wait(ctx) != nil {
				return
			}
			var err error
			if c, err = k.attach(ctx); err == nil {
				continue
			}
			select {
			case <-ctx.Done():
				return
			case <-time.After(redialAfter):
			}
		}
	}()
	return func() {
		cancel()
		<-done
	}
}

// doctorLightWall tells whether a light wall can be built here, and which files hold an agent up that has none.
func doctorLightWall(root state.Root, add base.Report) {
	self, err := sandboxed.Self()
	if err == nil {
		err = light.Probe(self)
	}
	var stage *jail.StageError
	switch {
	case err == nil:
		add("ok", "light wall", "holds: agents that myc starts, and their commands, cannot change the files that govern them", "")
	case errors.As(err, &stage):
		add("warning", "light wall", fmt.Sprintf("none: %s: %s; commands outside of the sandbox could change the files that govern an agent of "+
			"myc, and only the fence keeps them from that", stage.Doing, stage.Cause), mendWall(stage))
	default:
		add("warning", "light wall", "none: "+err.Error(), "myc sandbox capabilities says what this machine can build")
	}
	changed, err := light.Changed(root.Runs())
	if err != nil {
		add("warning", "light wall", "the files of agents that have none cannot be compared: "+err.Error(), "start these agents again")
	}
	for _, path := range changed {
		add("warning", "light wall", path+" is not as it was when an agent without a wall was started, so that agent calls nothing",
			"look at it; myc trust takes it as it is now")
	}
}
