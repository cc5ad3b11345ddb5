package main

import (
	"bytes"
	"context"
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/go-json-experiment/json"

	"mycelium/cmd/myc/internal/demo"
	"mycelium/internal/harness"
	"mycelium/internal/node/api"
	"mycelium/internal/state"
)

// The tests in e2e_*_test.go run the whole program as its users do: `myc` processes, real servers behind them, real clients in front.
// Each has a home, a runtime folder and a project of its own, and has to leave no process behind.

// npmPart returns the path of something that scripts/setup-test installs. Where it is missing the test is skipped, and fails under CI=true.
func npmPart(t *testing.T, path string) string {
	t.Helper()
	full, err := filepath.Abs(filepath.Join("..", "..", ".cache", "npm", "node_modules", path))
	if err == nil {
		_, err = os.Stat(full)
	}
	needed(t, err, path)
	return full
}

// node is the program that runs the parts of npm.
func nodeProgram(t *testing.T) string {
	t.Helper()
	path, err := exec.LookPath("node")
	needed(t, err, "node")
	return path
}

// needed skips a test whose part is missing; under CI=true nothing may be.
func needed(t *testing.T, err error, part string) {
	t.Helper()
	switch {
	case err == nil:
	case os.Getenv("CI") == "true":
		t.Fatalf("%s is missing: %v; run scripts/setup-test", part, err)
	default:
		t.Skipf("%s is missing: %v; run scripts/setup-test", part, err)
	}
}

const (
	everything = "@modelcontextprotocol/server-everything/dist/index.js"
	filesystem = "@modelcontextprotocol/server-filesystem/dist/index.js"
)

// project is a project folder with a home of its own, and the program that serves it.
type project struct {
	t    *testing.T
	ctx  context.Context
	home string
	dir  string
	myc  string
	env  []string
}

// newProject writes the files (by path below the project, with DIR for the project folder) and trusts the folder. At the end
// of the test the daemon is stopped, and every process that has this home must be gone by itself.
func newProject(t *testing.T, files map[string]string) *project {
	t.Helper()
	return projectOf(t, program(t), files)
}

// projectOf is newProject with a program.
func projectOf(t *testing.T, myc string, files map[string]string) *project {
	t.Helper()
	// A short path: a socket below it has to fit into 107 bytes.
	home, err := os.MkdirTemp("", "e2e")
	if err != nil {
		t.Fatal(err)
	}
	if home, err = filepath.EvalSymlinks(home); err != nil {
		t.Fatal(err)
	}
	// Without a deadline: parallel tests wait for their turn after this. What hangs is ended by the time-out of the whole run, whose
	// report names it.
	ctx, cancel := context.WithCancel(context.Background())
	p := &project{t: t, ctx: ctx, home: home, dir: filepath.Join(home, "project"), myc: myc,
		env: append(demo.ScratchEnv(os.Environ(), home), "NO_COLOR=1")}
	t.Cleanup(func() {
		defer cancel()
		p.end()
		if err := os.RemoveAll(home); err != nil {
			t.Error(err)
		}
	})
	for _, dir := range []string{p.dir, filepath.Join(home, "run")} {
		if err := os.Mkdir(dir, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	for name, text := range files {
		p.write(name, text)
	}
	p.must("trust", "--yes")
	return p
}

// stateIn has the paths of the state of a project whose user has a home.
func stateIn(home, dir string) state.Paths {
	return state.Root(filepath.Join(home, ".local", "state", "mycelium")).Of(dir)
}

func (p *project) state() state.Paths { return stateIn(p.home, p.dir) }

// pinned adds to the arguments of a command that agents start the state folder, as installers do.
func pinned(root state.Root, args []string) []string {
	i := slices.IndexFunc(args, func(arg string) bool { return arg == "mcp" || arg == "hook" })
	switch {
	case i < 0 || i > 1: // only flags stand before the command
	case args[i] == "mcp" && (i+1 == len(args) || strings.HasPrefix(args[i+1], "-")):
		return append([]string{"--state", string(root)}, args...)
	case args[i] == "hook" && i+1 < len(args) && slices.Contains(harness.Names(), args[i+1]):
		return append(slices.Clone(args), "--state", string(root))
	}
	return args
}

// write writes a file of the project.
func (p *project) write(name, text string) {
	p.t.Helper()
	path := filepath.Join(p.dir, name)
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		p.t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(strings.ReplaceAll(text, "DIR", p.dir)), 0o600); err != nil {
		p.t.Fatal(err)
	}
}

// read reads a file of the project; "" if it is not there.
func (p *project) read(name string) string {
	p.t.Helper()
	b, err := os.ReadFile(filepath.Join(p.dir, name))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		p.t.Fatal(err)
	}
	return string(b)
}

// command is `myc -C project args…`, with the project's environment.
func (p *project) command(args ...string) *exec.Cmd {
	cmd := exec.CommandContext(p.ctx, p.myc, append([]string{"-C", p.dir}, pinned(p.state().Root, args)...)...)
	cmd.Env, cmd.Dir = p.env, p.dir
	return cmd
}

// run runs a command of myc to its end.
func (p *project) run(args ...string) (stdout, stderr string, err error) {
	var o, e strings.Builder
	cmd := p.command(args...)
	cmd.Stdout, cmd.Stderr = &o, &e
	err = cmd.Run()
	return o.String(), e.String(), err
}

// must is run, and the command has to succeed.
func (p *project) must(args ...string) string {
	p.t.Helper()
	stdout, stderr, err := p.run(args...)
	if err != nil {
		p.t.Fatalf("myc %s: %v\n%s%s", strings.Join(args, " "), err, stdout, stderr)
	}
	return stdout
}

// decode is must, and reads the JSON that the command prints.
func (p *project) decode(out any, args ...string) {
	p.t.Helper()
	text := p.must(append(args, "--json")...)
	if err := json.Unmarshal([]byte(text), out); err != nil {
		p.t.Fatalf("myc %s printed no JSON: %v\n%s", strings.Join(args, " "), err, text)
	}
}

// serve starts the daemon with HTTP on a free port and returns the endpoint.
func (p *project) serve() string {
	p.t.Helper()
	p.must("serve", "--background", "--addr", "127.0.0.1:0")
	return "http://" + p.status().Daemon.Addr + "/mcp"
}

func (p *project) status() api.StatusReply {
	p.t.Helper()
	var s api.StatusReply
	p.decode(&s, "status")
	return s
}

// mint makes a session and returns its token and id.
func (p *project) mint(args ...string) api.Session {
	p.t.Helper()
	var s api.Session
	p.decode(&s, append([]string{"session", "new"}, args...)...)
	return s
}

// processes are the living processes that have this project's home in their environment, by pid, with their command lines.
func (p *project) processes() map[int]string {
	p.t.Helper()
	dirs, err := os.ReadDir("/proc")
	if err != nil {
		p.t.Skip("there is no /proc here: leaks of processes cannot be seen")
	}
	found := map[int]string{}
	for _, d := range dirs {
		pid, err := strconv.Atoi(d.Name())
		if err != nil || pid == os.Getpid() {
			continue
		}
		environ, err := os.ReadFile(filepath.Join("/proc", d.Name(), "environ"))
		if err != nil || !slices.Contains(strings.Split(string(environ), "\x00"), "HOME="+p.home) {
			continue
		}
		line, _ := os.ReadFile(filepath.Join("/proc", d.Name(), "cmdline"))
		found[pid] = string(bytes.ReplaceAll(bytes.TrimRight(line, "\x00"), []byte{0}, []byte(" ")))
	}
	return found
}

// gone waits until no process of this project lives.
func (p *project) gone() map[int]string {
	p.t.Helper()
	var left map[int]string
	poll(p.ctx, patience, func() bool { left = p.processes(); return len(left) == 0 })
	return left
}

// end stops the daemon and looks for what is left.
func (p *project) end() {
	if p.t.Failed() {
		p.showLog()
	}
	if _, stderr, err := p.run("stop", "-f"); err != nil && !strings.Contains(stderr, "is not a Mycelium project") {
		p.t.Errorf("myc stop: %v\n%s", err, stderr)
	}
	for pid, line := range p.gone() {
		p.t.Errorf("process %d is left: %s", pid, line)
		if err := syscall.Kill(pid, syscall.SIGKILL); err != nil {
			p.t.Log(err)
		}
	}
	for _, bad := range []string{"DATA RACE", "panic:", "fatal error:"} {
		if strings.Contains(p.logs(), bad) {
			p.t.Errorf("the daemon's log holds %q", bad)
			p.showLog()
		}
	}
}

// serverLog is what a server wrote to stderr; "" if there is nothing yet.
func (p *project) serverLog(name string) string {
	p.t.Helper()
	b, err := os.ReadFile(filepath.Join(p.state().ServerLogs(), "server-"+name+".log"))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		p.t.Fatal(err)
	}
	return string(b)
}

// logs is everything in the daemon's log folder.
func (p *project) logs() string {
	var all strings.Builder
	paths, _ := filepath.Glob(filepath.Join(p.state().ServerLogs(), "*"))
	for _, path := range paths {
		b, err := os.ReadFile(path)
		if err != nil {
			p.t.Error(err)
		}
		all.Write(b)
	}
	return all.String()
}

func (p *project) showLog() {
	text := p.logs()
	p.t.Logf("log of the daemon:\n%s", text[max(0, len(text)-8000):])
}

// poll waits until a condition holds: for things that tell nobody when they change. Many conditions start a program, so it waits three
// times as long as the last look took, and 20 ms at least: what is waited for needs the processors too.
func poll(ctx context.Context, limit time.Duration, holds func() bool) bool {
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	for {
		began := time.Now()
		if holds() {
			return true
		}
		select {
		case <-ctx.Done():
			return holds()
		case <-time.After(max(20*time.Millisecond, 3*time.Since(began))):
		}
	}
}

// noPages has daemons start no server of the pages: all would want its one port, and it outlives them.
const noPages = "ENABLE_DASHBOARD=false"

// patience is how long a test waits for what must happen, also for an answer, before it is lost. It is long, because the suite itself
// takes all processors of a small machine.
const patience = 2 * time.Minute

// eventually is poll, and the test fails if the condition never holds.
func (p *project) eventually(what string, holds func() bool) {
	p.t.Helper()
	if !poll(p.ctx, patience, holds) {
		p.t.Fatalf("never: %s", what)
	}
}

// world is a project as most tests here use it: three roles, narrow skills, the built-in file server.
func world(more map[string]string) map[string]string {
	files := map[string]string{
		"mycelium.yaml": "session: {defaultRole: guest, roles: [guest, developer]}\n",
		"skills/looking/SKILL.yaml": "name: looking\ndescription: Looks at files.\nallowedRoles: [guest, developer]\n" +
			"allowedTools: [files__read_file, files__list_directory]\n",
		"skills/writing/SKILL.md": "---\nname: writing\ndescription: Writes files.\nallowedRoles: [developer]\n" +
			"allowedTools: [files__write_file]\n---\n\nWrite small files.\n",
		"skills/admin/SKILL.yaml": "name: admin\ndescription: Deletes.\nallowedRoles: [admin]\nallowedTools: [files__delete_file]\n",
		"notes.md":                "The shop sells mushrooms. きのこ。\n",
	}
	for name, text := range more {
		files[name] = text
	}
	return files
}

// What roles of world are shown, the control tools left out.
var (
	guestToolNames     = []string{"files__list_directory", "files__read_file"}
	developerToolNames = []string{"files__list_directory", "files__read_file", "files__write_file"}
)

// pinnedProgram puts a `myc` into a folder that adds to `myc mcp` the state folder of a home, as a person does whose home is not the one
// of the account.
func pinnedProgram(t *testing.T, folder, myc, home string) {
	t.Helper()
	script := "#!/bin/sh\ncase \" $* \" in *\" mcp \"*) exec '" + myc + "' --state '" + string(stateIn(home, "").Root) + "' \"$@\";; esac\n" +
		"exec '" + myc + "' \"$@\"\n"
	if err := os.MkdirAll(folder, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(folder, "myc"), []byte(script), 0o700); err != nil { //nolint:gosec // a program
		t.Fatal(err)
	}
}
