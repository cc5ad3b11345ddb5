package chains

import (
	"bytes"
	"errors"
	"flag"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"golang.org/x/sys/unix"
)

// With a wall, `myc claude` starts the agent, and every command runs in the sandbox. The promise of the wall: with a reader that calls every
// command harmless, no chain opens anything.

var misreads = flag.String("misreads", "true", "the `command` as which TestWall has every command read")

// walled is an agent that `myc claude` started: a small program that says with which settings, and waits.
type walled struct {
	settings string // the file of its settings
	prefix   string // the program before its shell
}

// The agent of a walled world, and what it says.
const (
	fakeDir  = "/tmp/agent"
	fakeArgs = fakeDir + "/args"
	fakeTold = fakeDir + "/told" // a pipe: the agent has written its arguments
	fakeEnd  = fakeDir + "/end"  // a pipe that nobody writes: the agent waits
	fake     = "#!/bin/bash\n[ \"$1\" = --version ] && { echo '2.1.330 (Claude Code)'; exit; }\n" +
		"printf '%s\\n' \"$@\" > " + fakeArgs + "\necho > " + fakeTold + "\nread x < " + fakeEnd + "\n"
)

// enwall starts the agent by myc claude.
func (m *machine) enwall() error {
	if err := os.MkdirAll(fakeDir, 0o755); err != nil {
		return err
	}
	err := errors.Join(os.WriteFile(fakeDir+"/claude", []byte(fake), 0o755), unix.Mkfifo(fakeTold, 0o600), unix.Mkfifo(fakeEnd, 0o600))
	if err != nil {
		return err
	}
	var said bytes.Buffer
	cmd := exec.CommandContext(m.ctx, binDir+"/myc", "claude", "--role", "developer")
	cmd.Dir, cmd.Stdout, cmd.Stderr = projectDir, &said, &said
	cmd.Env = env("PATH=" + fakeDir + ":" + binDir + ":/usr/local/bin:/usr/bin:/bin")
	if err := cmd.Start(); err != nil {
		return err
	}
	go func() {
		_ = cmd.Wait()
		if f, err := os.OpenFile(fakeTold, os.O_WRONLY|unix.O_NONBLOCK, 0); err == nil { // whoever waits waits no more
			_ = f.Close()
		}
	}()
	if _, err := os.ReadFile(fakeTold); err != nil {
		return err
	}
	args, err := os.ReadFile(fakeArgs)
	if err != nil {
		return fmt.Errorf("myc claude started no agent: %w: %s", err, said.String())
	}
	list := strings.Split(string(args), "\n")
	i := slices.Index(list, "--settings")
	if i < 0 || i+1 >= len(list) {
		return fmt.Errorf("the agent was started with %q", list)
	}
	if o, err := m.person("myc sandbox capabilities"); err != nil || o.code != 0 {
		return fmt.Errorf("the sandbox does not hold in this world: %w %s%s", err, o.stdout, o.stderr)
	}
	m.walled = &walled{settings: list[i+1]}
	m.walled.prefix = m.settings().Env["CLAUDE_CODE_SHELL_PREFIX"]
	if m.walled.prefix == "" {
		return errors.New("no program of ours stands before the shell")
	}
	return nil
}

// settings are those of the agent.
func (m *machine) settings() settings {
	if m.walled == nil {
		return agentSettings()
	}
	return agentSettings(m.walled.settings)
}

// wrap is how Claude Code 2.1.330 starts its shell for a command, where it has no snapshot of the person's.
func (w *walled) wrap(command string) []string {
	quoted := "'" + strings.ReplaceAll(command, "'", `'"'"'`) + "'"
	line := `{ \builtin shopt -u extglob || \builtin setopt NO_EXTENDED_GLOB NO_BARE_GLOB_QUAL NO_BRACE_CCL NO_MAGIC_EQUAL_SUBST NO_EQUALS; }` +
		" >/dev/null 2>&1 || true && eval " + quoted + " < /dev/null && pwd -P >| /tmp/claude-1-cwd"
	return []string{w.prefix, line}
}

// post asks a hook that is an address.
func (m *machine) post(h hookEntry, environ []string, event string) (output, error) {
	req, err := http.NewRequestWithContext(m.ctx, http.MethodPost, h.URL, strings.NewReader(event))
	if err != nil {
		return output{}, err
	}
	for k, v := range h.Headers {
		req.Header.Set(k, os.Expand(v, func(name string) string {
			for _, e := range environ {
				if value, ok := strings.CutPrefix(e, name+"="); ok {
					return value
				}
			}
			return ""
		}))
	}
	req.Header.Set("Content-Type", "application/json")
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		return output{stderr: err.Error(), code: 1}, nil
	}
	defer res.Body.Close()
	text, err := io.ReadAll(res.Body)
	if err != nil || res.StatusCode != http.StatusOK {
		return output{stderr: fmt.Sprint(err, res.Status, string(text)), code: 1}, nil
	}
	return output{stdout: string(text)}, nil
}

// outsideState are the digests of the person's files that no command may change: in the home outside of the project and of what is Mycelium's
// own, and in the project what governs.
func (m *machine) outsideState() (map[string]string, error) {
	out := map[string]string{}
	err := filepath.WalkDir(home, func(path string, d fs.DirEntry, err error) error {
		rel := strings.TrimPrefix(path, home+"/")
		inProject := path == projectDir || strings.HasPrefix(path, projectDir+"/")
		switch {
		case err != nil:
			return nil //nolint:nilerr // it was taken away, or closed
		case slices.Contains([]string{".local/state/mycelium", ".cache", ".claude", "go"}, rel): // Mycelium's own is looked at elsewhere
			return fs.SkipDir
		case inProject && !governs.MatchString(path):
			return nil
		case d.Type().IsRegular():
			out[path], err = m.digest(path)
			return err
		}
		out[path] = d.Type().String()
		return nil
	})
	return out, err
}

// governs matches the files of the project that govern agents or that git runs.
var governs = regexp.MustCompile(`/shop/(?:mycelium\.yaml|rules\.yaml|(?:skills|roles)/.*|\.claude/settings(?:\.local)?\.json|\.mcp\.json|\.git/hooks/.*|\.envrc)$`)

// differences compares two states of the person's files.
func differences(before, after map[string]string) (out []string) {
	for path, was := range before {
		if is, ok := after[path]; !ok || is != was {
			out = append(out, "the person's file changed: "+path)
		}
	}
	for path := range after {
		if _, ok := before[path]; !ok {
			out = append(out, "a new file of the person's: "+path)
		}
	}
	slices.Sort(out)
	return out
}

// TestWall plays the chains with a reader of commands that is always wrong. Behind the wall none of them opens anything.
func TestWall(t *testing.T) {
	t.Parallel()
	pattern, err := regexp.Compile(*only)
	if err != nil {
		t.Fatal(err)
	}
	chains, err := readChains(*from)
	if err != nil {
		t.Fatal(err)
	}
	known, err := readOpen(filepath.Join(*from, "open-wall.txt"))
	if err != nil {
		t.Fatal(err)
	}
	l := newLaboratory(t, "-tags=misread", "-ldflags=-X 'mycelium/internal/gate/facts.Misreads="+*misreads+"'")
	var all []*run
	for _, r := range runs(chains, pattern) {
		sampled := !*long && !*full && *only == ""
		if sampled && len(r.Name)%8 != 0 { // each has a world of its own, because each takes a step
			continue
		}
		// What is refused is the reader's, and this one refuses nothing. Nor is there code that only a sandbox holds: there is one.
		if r.Sandbox, r.Refused, r.daemon, r.walled = false, false, true, true; !slices.ContainsFunc(all, func(o *run) bool { return o.name() == r.name() }) {
			all = append(all, r)
		}
	}
	l.all(all)
	for _, r := range all {
		t.Run(r.name(), func(t *testing.T) { r.judge(t, known) })
	}
	t.Log(figures(all))
}
