package main

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/go-json-experiment/json"
	"github.com/rogpeppe/go-internal/testscript"

	"mycelium/internal/atomicfile"
	"mycelium/internal/hook"
	"mycelium/internal/node/agentshell/shim"
	"mycelium/internal/node/api"
	"mycelium/internal/swarm/worker"
)

// TestMain lets the test binary play the command: `myc` is this very program.
func TestMain(m *testing.M) {
	testscript.Main(withSmall{m}, map[string]func(){"myc": func() { os.Exit(mycOfTests()) },
		shim.Name: shellOfTests, "deffile": deffile})
}

// withSmall puts the small program beside `myc`, built as it is shipped.
type withSmall struct{ *testing.M }

func (m withSmall) Run() int {
	myc, err := exec.LookPath("myc")
	if err == nil {
		err = small(filepath.Join(filepath.Dir(myc), hook.Small))
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return m.M.Run()
}

// smallVar names the small program that this test binary has built, for its copies without a network.
const smallVar = "MYC_E2E_SMALL"

// small builds the small program, or takes the one of the test binary that started this one.
func small(path string) error {
	if built := os.Getenv(smallVar); built != "" {
		return os.Link(built, path)
	}
	if err := goBuild(path, "mycelium/cmd/myc-hook"); err != nil {
		return err
	}
	return os.Setenv(smallVar, path)
}

// goBuild builds a program without the race detector and without cgo, as `make build` does: most of it is compiled already.
func goBuild(path, pkg string) error {
	cmd := exec.Command("go", "build", "-o", path, pkg)
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("build %s: %w\n%s", pkg, err, out)
	}
	return nil
}

// TestScript runs testdata/script: the suite and the manual of the command line. Each script has a home of its own; what it
// leaves running is ended by pid and is a failure. The scripts run [program].
func TestScript(t *testing.T) {
	t.Parallel()
	path := filepath.Dir(program(t)) + string(filepath.ListSeparator)
	data, err := filepath.Abs("testdata")
	if err != nil {
		t.Fatal(err)
	}
	testscript.Run(t, testscript.Params{
		Dir:                 "testdata/script",
		RequireExplicitExec: true,
		RequireUniqueNames:  true,
		Setup: func(env *testscript.Env) error {
			for key, dir := range map[string]string{"HOME": "home", "XDG_RUNTIME_DIR": "run", "TMPDIR": "tmp"} {
				path := filepath.Join(env.WorkDir, dir)
				if err := os.MkdirAll(path, 0o700); err != nil {
					return err
				}
				env.Setenv(key, path)
			}
			for _, key := range []string{"XDG_CONFIG_HOME", "XDG_STATE_HOME", hook.TokenVar, "CLAUDECODE"} {
				env.Setenv(key, "")
			}
			env.Setenv("PATH", path+env.Getenv("PATH"))
			env.Setenv("NO_COLOR", "1")
			env.Setenv("ENABLE_DASHBOARD", "false") // as noPages: no server of pages outlives a script
			env.Setenv("GORACE", os.Getenv("GORACE"))
			env.Setenv("DATA", data)
			env.Setenv("ROOT", string(stateIn(env.Getenv("HOME"), "").Root)) // what an installer pins
			env.Defer(func() { endDaemons(t, env.WorkDir); endWorkers(t, env.WorkDir) })
			return nil
		},
		Cmds: map[string]func(ts *testscript.TestScript, neg bool, args []string){
			"exits":   exits,
			"mcptalk": mcptalk,
			"keys":    keys,
			"state":   setState,
		},
	})
}

// endDaemons ends what a script left running, and fails the test for it. Every state of a script is below its folder, and a daemon says
// its pid in the daemon.json of its state. The lock beside it is held as long as the daemon lives: a pid that is free may be a stranger's.
func endDaemons(t *testing.T, work string) {
	t.Helper()
	paths := stateIn(work, work)
	name, lock := filepath.Base(paths.DaemonInfo()), filepath.Base(paths.DaemonLock())
	_ = filepath.WalkDir(work, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || d.Name() != name {
			return nil //nolint:nilerr // a script may take away its own rights to a folder
		}
		if l, err := atomicfile.TryLock(filepath.Join(filepath.Dir(path), lock)); err == nil {
			_ = l.Unlock()
			return nil
		}
		var i api.DaemonFile
		b, err := os.ReadFile(path)
		if err == nil && json.Unmarshal(b, &i) == nil && i.PID > 1 && syscall.Kill(i.PID, syscall.SIGKILL) == nil {
			t.Errorf("%s left a daemon running (pid %d): end it with myc stop", path, i.PID)
		}
		return nil
	})
}

// endWorkers ends the workers of a swarm that a script left at work, and fails the test for it. Their terminals end with them.
func endWorkers(t *testing.T, work string) {
	t.Helper()
	_ = filepath.WalkDir(work, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.Name() != "worker.pid" {
			return nil //nolint:nilerr // a script may take away its own rights to a folder
		}
		folder := worker.Folder(filepath.Dir(path))
		if pid := folder.PID(); pid > 0 {
			t.Errorf("%s left a worker running (pid %d): end it with myc swarm pause; %v", path, pid, folder.Signal(syscall.SIGKILL))
		}
		return nil
	})
}

// exits runs a command and wants an exact exit code: `exits 4 myc config validate`. Its output is for stdout and stderr as usual.
func exits(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: exits CODE PROGRAM [ARG …]")
	}
	err := ts.Exec(args[1], args[2:]...)
	code := 0
	var exit *exec.ExitError
	if errors.As(err, &exit) {
		code = exit.ExitCode()
	} else if err != nil {
		ts.Fatalf("%v", err)
	}
	if strconv.Itoa(code) != args[0] {
		ts.Fatalf("%s exited %d, want %s", strings.Join(args[1:], " "), code, args[0])
	}
}

// keys runs a command that prints JSON and wants exactly these members: `keys daemon.running,role myc status --json`. Members of
// members follow a dot; of a list, the first element counts. A schema (parameters) is one member.
func keys(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: keys KEY,KEY.KEY PROGRAM [ARG …]")
	}
	ts.Check(ts.Exec(args[1], args[2:]...))
	var v any
	ts.Check(json.Unmarshal([]byte(ts.ReadFile("stdout")), &v))
	got := strings.Join(slices.Sorted(maps.Keys(members("", v, map[string]bool{}))), ",")
	want := strings.Split(args[0], ",")
	slices.Sort(want)
	if got != strings.Join(want, ",") {
		ts.Fatalf("%s has the members\n%s, want\n%s", strings.Join(args[1:], " "), got, strings.Join(want, ","))
	}
}

func members(prefix string, v any, into map[string]bool) map[string]bool {
	switch v := v.(type) {
	case []any:
		if len(v) > 0 {
			members(prefix, v[0], into)
		} else {
			into[strings.TrimSuffix(prefix, ".")] = true
		}
	case map[string]any:
		for k, m := range v {
			if k == "parameters" {
				into[prefix+k] = true
				continue
			}
			members(prefix+k+".", m, into)
		}
	default:
		into[strings.TrimSuffix(prefix, ".")] = true
	}
	return into
}

// setState sets $STATE and $KEYS to where the state and the keys of the project in this folder are.
func setState(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) > 0 {
		ts.Fatalf("usage: state")
	}
	dir, err := filepath.EvalSymlinks(ts.MkAbs("."))
	ts.Check(err)
	paths := stateIn(ts.Getenv("HOME"), dir)
	ts.Setenv("STATE", paths.Folder())
	ts.Setenv("KEYS", paths.Keys())
}

// mcptalk speaks MCP over stdio to a command and writes the answers, one line each, to a file:
// `mcptalk out.jsonl requests.jsonl myc mcp --role guest`. It sends a request when the one before is answered.
func mcptalk(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 3 {
		ts.Fatalf("usage: mcptalk OUT REQUESTS PROGRAM [ARG …]")
	}
	answers, err := talk(ts, strings.Split(strings.TrimSpace(ts.ReadFile(args[1])), "\n"), args[2:])
	ts.Check(err)
	ts.Check(os.WriteFile(ts.MkAbs(args[0]), []byte(strings.Join(answers, "\n")+"\n"), 0o600))
}

func talk(ts *testscript.TestScript, requests, argv []string) ([]string, error) {
	exe, err := exec.LookPath(argv[0])
	if err != nil {
		return nil, err
	}
	cmd := exec.Command(exe, argv[1:]...)
	cmd.Dir = ts.MkAbs(".")
	cmd.Env = scriptEnv(ts)
	stdin, err := cmd.StdinPipe()
	if err != nil {
		return nil, err
	}
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	var stderr strings.Builder
	cmd.Stderr = &stderr
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	answers, talkErr := converse(stdin, stdout, requests)
	_ = stdin.Close()
	if err := cmd.Wait(); err != nil || talkErr != nil {
		return nil, fmt.Errorf("%s: %w: %s", strings.Join(argv, " "), errors.Join(talkErr, err), stderr.String())
	}
	return answers, nil
}

// scriptEnv is the environment of a script as a command sees it.
func scriptEnv(ts *testscript.TestScript) []string {
	var env []string
	for _, key := range []string{"PATH", "HOME", "XDG_RUNTIME_DIR", "TMPDIR", "WORK", "NO_COLOR", "GORACE", hook.TokenVar, "CLAUDECODE",
		"MYCELIUM_CURRENT_ROLE"} {
		if v := ts.Getenv(key); v != "" {
			env = append(env, key+"="+v)
		}
	}
	return slices.Clip(env)
}
