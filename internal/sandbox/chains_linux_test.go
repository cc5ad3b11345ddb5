package sandbox

import (
	"bytes"
	"context"
	"errors"
	"flag"
	"fmt"
	"hash/fnv"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/go-json-experiment/json"

	"mycelium/internal/sandbox/jail"
	"mycelium/internal/sandbox/quarantine"
)

var (
	longChains = flag.Bool("long", false, "play every chain through every carrier")
	onlyChains = flag.String("chains", "", "play the chains whose name matches")
)

// chain is what hostile code does, in a few commands, to change what governs the next session. testdata/chains.txt says how it is written.
type chain struct {
	Name  string
	Words []string
	Steps []step
}

// step is one command.
type step struct {
	Kind   string // run: in the sandbox; with: also, and it lasts while the next step runs; given: the person does it, outside
	Script string
}

// carriers start the script of a step as a project's own programs would: the test of a Go package, a script of an npm package, a shell.
var carriers = []string{"bash", "go test", "npm"}

// played is what is sent to the driver: it plays chains as the user that it runs as.
type played struct {
	Chains  []chain
	Carrier []string // of each chain
	Dir     string
}

// TestCarrier is the test of `go test` that does what an attacker wrote. Outside of the sandbox it does nothing.
func TestCarrier(t *testing.T) {
	if os.Getenv("MYCELIUM_SANDBOX") == "" {
		return
	}
	out, err := exec.Command("bash", "x.sh").CombinedOutput()
	_, _ = os.Stdout.Write(out)
	if err != nil {
		t.Fatal(err)
	}
}

// TestChains plays the chains as root and as an ordinary user. Afterwards what governs, the state, other projects and git outside must be
// as before.
func TestChains(t *testing.T) {
	all := readChains(t)
	for name, uid := range users() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			job := played{}
			for _, c := range all {
				for i, carrier := range carriers {
					h := fnv.New32a()
					_, _ = io.WriteString(h, c.Name+name)
					n := h.Sum32() % 16 // npm takes half a second
					usual := (uid != 0 || n%2 == 0) && (i == 0 && n > 8 || i == 1 && n > 0 && n <= 8 || i == 2 && n == 0)
					if usual || *longChains {
						job.Chains, job.Carrier = append(job.Chains, c), append(job.Carrier, carrier)
					}
				}
			}
			for _, said := range playAs(t, uid, job) {
				t.Error(said)
			}
		})
	}
}

// readChains reads testdata/chains.txt.
func readChains(t *testing.T) []chain {
	t.Helper()
	data, err := os.ReadFile("testdata/chains.txt")
	if err != nil {
		t.Fatal(err)
	}
	only := regexp.MustCompile(*onlyChains)
	var all []chain
	for line := range strings.Lines(string(data)) {
		line = strings.TrimSuffix(line, "\n")
		kind, rest, isStep := strings.Cut(line, "> ")
		switch {
		case line == "", line[0] == '#':
		case strings.HasPrefix(line, "== "):
			words := strings.Fields(line)[1:]
			all = append(all, chain{Name: words[0], Words: words[1:]})
		case line[0] == '\t':
			last := &all[len(all)-1]
			last.Steps[len(last.Steps)-1].Script += "\n" + line[1:]
		case isStep && slices.Contains([]string{"run", "with", "given"}, kind):
			last := &all[len(all)-1]
			last.Steps = append(last.Steps, step{kind, rest})
		default:
			t.Fatalf("a line that is no step: %q", line)
		}
	}
	all = slices.DeleteFunc(all, func(c chain) bool { return !only.MatchString(c.Name) })
	if len(all) < 50 && *onlyChains == "" {
		t.Fatalf("%d chains", len(all))
	}
	return all
}

// playAs plays chains as a user and returns what they changed.
func playAs(t *testing.T, uid int, job played) (said []string) {
	t.Helper()
	dir, err := os.MkdirTemp("", "chains")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	self := copyOfSelf(t, dir)
	job.Dir = filepath.Join(dir, "w")
	if err := errors.Join(os.Chmod(dir, 0o755), os.Mkdir(job.Dir, 0o755), os.Chown(job.Dir, uid, uid)); err != nil {
		t.Fatal(err)
	}
	in, err := json.Marshal(job)
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), self, "chains")
	cmd.Env = []string{"PATH=/usr/local/go/bin:/usr/bin:/bin", "HOME=" + job.Dir}
	cmd.Stdin = bytes.NewReader(in)
	cmd.SysProcAttr = &syscall.SysProcAttr{}
	if uid != os.Getuid() {
		cmd.SysProcAttr.Credential = &syscall.Credential{Uid: uint32(uid), Gid: uint32(uid)} //nolint:gosec // an id
	}
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	if err := cmd.Run(); err != nil {
		t.Fatalf("%v\n%s%s", err, out.String(), errs.String())
	}
	if err := json.Unmarshal(out.Bytes(), &said); err != nil {
		t.Fatalf("%v: %s", err, out.String())
	}
	return said
}

// chainsMain is the driver.
func chainsMain() int {
	var job played
	data, err := io.ReadAll(os.Stdin)
	if err != nil || json.Unmarshal(data, &job) != nil {
		return 2
	}
	template := world{dir: filepath.Join(job.Dir, "template")}
	if err := os.Mkdir(template.dir, 0o755); err != nil {
		return 2
	}
	if out, err := template.outside(template.dir, makeWorld); err != nil {
		_, _ = os.Stderr.WriteString(out)
		return 1
	}
	said := []string{}
	for i, c := range job.Chains {
		w := world{dir: filepath.Join(job.Dir, fmt.Sprint(i)), carrier: job.Carrier[i]}
		for _, s := range w.play(c) {
			said = append(said, fmt.Sprintf("%s, by %s: %s", c.Name, job.Carrier[i], s))
		}
		_ = exec.Command("chmod", "-R", "u+rwx", w.dir).Run()
		_ = os.RemoveAll(w.dir)
	}
	out, err := json.Marshal(said)
	if err != nil {
		return 2
	}
	_, _ = os.Stdout.Write(out)
	return 0
}

// world is one machine of a chain: a home, a state, a project under a policy, and another project.
type world struct {
	dir, carrier string
	output       bytes.Buffer
}

// secret is what no command may show, and evil the program that no program outside may start: it leaves a mark.
const (
	chainSecret = "CHAIN-SECRET-4242"
	makeWorld   = `set -e
mkdir -p home/.ssh home/.claude state/cache state/scratch state/quarantine other/.claude
mkdir -p project/a/b/c project/.claude project/skills/s project/.git
echo "$SECRET" > home/.ssh/id_ed25519; echo '{}' > home/.claude/settings.json
printf '[user]\n\tname = p\n\temail = p@example.com\n[init]\n\tdefaultBranch = main\n[commit]\n\tgpgSign = false\n' > home/.gitconfig
echo accepted > state/policy; echo log > state/log; echo key > state/key
for d in other project; do
	git init -q --template= $d; mkdir -p $d/.git/hooks $d/.git/info $d/.git/worktrees
	git -C $d remote add origin https://user:$SECRET@example.com/$d.git
	echo '{"hooks":1}' > $d/.claude/settings.json; echo 'version: 1' > $d/mycelium.yaml
done
git -C project remote set-url origin https://example.com/project.git
cd project; echo 'rules: []' > rules.yaml; echo '{}' > .mcp.json; echo skill > skills/s/SKILL.md; echo 'version: 1' > a/b/c/mycelium.yaml
printf '#!/bin/sh\nexit 0\n' > .git/hooks/pre-commit; chmod +x .git/hooks/pre-commit
printf '#!/bin/sh\ntouch "$HOME/../mark"\n' > evil; chmod +x evil; echo text > README.md
git add README.md a; git commit -qm first
printf '{"name":"p","version":"1.0.0","scripts":{"postinstall":"bash x.sh"}}' > package.json
printf '{"name":"p","version":"1.0.0","lockfileVersion":3,"requires":true,"packages":{"":
{"name":"p","version":"1.0.0"}}}' > package-lock.json`
)

func (w *world) project() string { return filepath.Join(w.dir, "project") }

// outside runs a script as the person.
func (w *world) outside(dir, script string) (string, error) {
	cmd := exec.Command("bash", "-c", script)
	cmd.Dir = dir
	cmd.Env = []string{"PATH=/usr/bin:/bin", "HOME=" + filepath.Join(w.dir, "home"), "SECRET=" + chainSecret,
		"GIT_TERMINAL_PROMPT=0"}
	out, err := cmd.CombinedOutput()
	return string(out), err
}

// command is one command of the sandbox.
func (w *world) command(script string) (*Command, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	if err := os.WriteFile(filepath.Join(w.project(), "x.sh"), []byte(script), 0o600); err != nil {
		return nil, err
	}
	argv := map[string][]string{"bash": {"bash", "x.sh"}, "go test": {self, "-test.run=^TestCarrier$"},
		"npm": {"npm", "ci", "--offline", "--no-audit", "--no-fund", "--foreground-scripts"}}[w.carrier]
	profile, _ := Find("project")
	state := filepath.Join(w.dir, "state")
	return &Command{Argv: argv, Dir: w.project(), Project: w.project(), Profile: profile, Home: filepath.Join(w.dir, "home"),
		Read: []string{self}, Caches: state + "/cache", Scratch: state + "/scratch", Quarantine: state + "/quarantine",
		Environ: []string{"PATH=/usr/bin:/bin", "LANG=C.UTF-8"}, Out: &w.output, Err: &w.output}, nil
}

// play plays a chain and says what it changed.
func (w *world) play(c chain) (said []string) {
	if out, err := exec.Command("cp", "-a", filepath.Join(filepath.Dir(w.dir), "template"), w.dir).CombinedOutput(); err != nil {
		return []string{"make the world: " + string(out)}
	}
	var before map[string]string
	var refused error
	end := func() {}
	for _, s := range c.Steps {
		if s.Kind == "given" {
			if out, err := w.outside(w.project(), s.Script); err != nil {
				return []string{"given: " + out}
			}
			continue
		}
		if before == nil {
			before = w.governed()
		}
		if s.Kind == "with" {
			var err error
			if end, err = w.background(s.Script); err != nil {
				return []string{err.Error()}
			}
			continue
		}
		refused = w.limited(s.Script)
		end()
		end = func() {}
	}
	end()
	return w.verdict(c, before, refused)
}

// run runs one command in the sandbox.
func (w *world) run(ctx context.Context, script string, out io.Writer) error {
	c, err := w.command(script)
	if err != nil {
		return err
	}
	c.Out = out
	self, err := os.Executable()
	if err != nil {
		return err
	}
	_, err = Run(ctx, jail.Self{Argv: []string{self, jail.ChildName}}, c)
	return err
}

// stepLimit ends a command that hangs; that is a failure of the chain's, not a way to wait.
const stepLimit = 2 * time.Minute

// limited runs one command that must end.
func (w *world) limited(script string) error {
	ctx, cancel := context.WithTimeout(context.Background(), stepLimit)
	defer cancel()
	err := w.run(ctx, script, &w.output)
	return errors.Join(err, ctx.Err())
}

// background runs a command that says "ready" and lasts until the returned function ends it.
func (w *world) background(script string) (end func(), err error) {
	ctx, cancel := context.WithCancel(context.Background())
	r, out, err := os.Pipe()
	if err != nil {
		cancel()
		return nil, err
	}
	carrier := w.carrier
	w.carrier = "bash"
	done := make(chan error, 1)
	go func() {
		err := w.run(ctx, script, out)
		_ = out.Close() // so that nobody waits for what it does not say
		done <- err
	}()
	_, err = io.ReadFull(r, make([]byte, len("ready\n")))
	w.carrier = carrier
	return func() { cancel(); <-done; _ = r.Close() }, err
}

// verdict compares what governs with what did before, and does outside what the person and the next session would do.
func (w *world) verdict(c chain, before map[string]string, refused error) (said []string) {
	wanted := slices.Contains(c.Words, "refused")
	if wanted != (refused != nil) && (!slices.Contains(c.Words, "gone") || !isGone(refused)) {
		said = append(said, fmt.Sprintf("refused: %v, and it says\n%s", refused, w.output.String()))
	}
	if strings.Contains(w.output.String(), chainSecret) {
		said = append(said, "it shows the secret")
	}
	if slices.Contains(c.Words, "refused") {
		return said // nothing runs until the person mends it
	}
	_, _ = w.outside(w.project(), "chmod -R u+rwX .")
	now := w.governed()
	if slices.Contains(c.Words, "git") {
		delete(now, filepath.Join(w.project(), ".git/config"))
	}
	for path, content := range now {
		if before[path] != content {
			said = append(said, fmt.Sprintf("%s was %q and is %q", path, before[path], content))
		}
	}
	for path := range before {
		if _, ok := now[path]; !ok {
			said = append(said, path+" is gone")
		}
	}
	_, _ = w.outside(w.project(), useGit)
	if _, err := os.Lstat(filepath.Join(w.dir, "mark")); err == nil {
		said = append(said, "git outside ran a program of the command")
	}
	for _, word := range c.Words {
		name, ok := strings.CutPrefix(word, "kept=")
		if ok && !putAwayFrom(filepath.Join(w.dir, "state/quarantine"), filepath.Join(w.project(), name)) {
			said = append(said, "the quarantine does not have "+name)
		}
	}
	if left, err := os.ReadDir(filepath.Join(w.dir, "state/scratch")); err != nil || len(left) > 0 {
		said = append(said, fmt.Sprintf("private copies are left: %v %v", left, err))
	}
	return said
}

// isGone reports whether a wall was not built because a path had been taken away since it was planned.
func isGone(err error) bool {
	stage, ok := errors.AsType[*jail.StageError](err)
	return ok && stage.Layer == jail.Mount && stage.Errno == int(syscall.ENOENT)
}

// useGit is what a person does with git in every folder that git takes for a repository.
const useGit = `find . -name .git -o -type d -name refs | while IFS= read -r p; do
	for d in "${p%/*}" "$p"; do
		for c in status 'commit --allow-empty -qm x' fetch st; do timeout 10 git -C "$d" $c; done
	done
done >/dev/null 2>&1`

// governing are the names that the next session of an agent reads, and git runs, in any folder.
var governing = []string{".claude/settings.json", ".claude/settings.local.json", ".codex", ".gemini/settings.json", "crush.json",
	".crush.json", "mycelium.yaml", ".CLAUDE/settings.json", "bin/myc", "bin/myc-hook"}

// governingTop are those of the project's own folder.
var governingTop = []string{"config.json", ".mcp.json", "skills", "roles", "rules.yaml", "policies.yaml", "protocols", "workflows",
	".mycelium", ".crush", ".git/hooks", ".git/commondir", ".git/config.worktree", ".git/worktrees", ".git/config"}

// governed is what governs, as a program finds it by its name, through links too. It is found in another way than the sandbox finds it.
func (w *world) governed() map[string]string {
	out := map[string]string{}
	for _, dir := range []string{"home", "other", "state/policy", "state/log", "state/key"} {
		content(filepath.Join(w.dir, dir), out)
	}
	for _, name := range governingTop {
		content(filepath.Join(w.project(), name), out)
	}
	_ = filepath.WalkDir(w.project(), func(path string, d fs.DirEntry, err error) error {
		if err == nil && d.IsDir() {
			for _, name := range governing {
				content(filepath.Join(path, name), out)
			}
		}
		return nil
	})
	return out
}

// content adds what is found under a name, with everything below it.
func content(path string, out map[string]string) {
	st, err := os.Stat(path)
	if err != nil {
		if _, err := os.Lstat(path); err == nil {
			out[path] = "a link to nowhere"
		}
		return
	}
	switch {
	case st.IsDir():
		out[path] = "folder"
		entries, _ := os.ReadDir(path)
		for _, e := range entries {
			content(filepath.Join(path, e.Name()), out)
		}
	case st.Mode().IsRegular():
		data, _ := os.ReadFile(path)
		out[path] = string(data)
	default:
		out[path] = st.Mode().String()
	}
}

// putAwayFrom reports whether a quarantine has what was at a path, alone or in a folder.
func putAwayFrom(folder, path string) bool {
	all, err := quarantine.Waiting(folder)
	return err == nil && slices.ContainsFunc(all, func(q quarantine.Entry) bool {
		_, err := os.Lstat(q.File + strings.TrimPrefix(path, q.Path))
		return below(path, q.Path) && err == nil
	})
}
