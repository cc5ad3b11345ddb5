package differ

import (
	"bufio"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"

	"mycelium/internal/config"
	"mycelium/internal/gate/facts"
	"mycelium/internal/policy"
	"mycelium/internal/skill"
	"mycelium/internal/yamlfile"
	"mycelium/test/scratch"
)

var (
	long     = flag.Bool("long", false, "try many commands")
	commands = flag.Int("commands", 0, "how many commands to try; 0 is what the form has")
	seed     = flag.Uint64("seed", 0, "of the random commands; 0 is 1, and with -long another one each time")
	from     = flag.Int("from", 0, "the number of the first command")
	one      = flag.String("command", "", "try this command in bash and dash, with ⏎ for a new line, and print what it does")
)

// How many commands the forms have.
const (
	short   = 800
	lengthy = 30_000
)

const (
	home       = scratch.Home
	projectDir = home + "/shop"
	stageVar   = "DIFFER_STAGE"
)

func TestMain(m *testing.M) {
	var err error
	switch os.Getenv(stageVar) {
	case "":
		os.Exit(m.Run())
	case "first":
		if err = scratch.Make("", ""); err == nil {
			err = scratch.Work("differ", []string{stageVar + "=work"}, []uintptr{0, 1, 2})
		}
	default:
		err = work(os.Stdin, os.Stdout)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// job is what a world does.
type job struct {
	Rules    []byte // the shipped rules
	Seed     uint64
	From, To int
	Step     int
	One      string
}

// answer is what came of one command, or of all in the end.
type answer struct {
	Count *count
	Find  *find
	Said  string
}

// count says how many commands there were.
type count struct {
	Commands int
	Clear    int // the facts say that everything is understood
	Allowed  int // the policy allows them
	Runs     int // in bash or dash
	Events   int // things that processes did
	Endless  int
	Fleeting int // commands that did something else the second time

	Unclear map[string]int // why the others are not clear
}

func (c *count) add(o count) {
	c.Commands += o.Commands
	c.Clear += o.Clear
	c.Allowed += o.Allowed
	c.Runs += o.Runs
	c.Events += o.Events
	c.Endless += o.Endless
	c.Fleeting += o.Fleeting
	for why, n := range o.Unclear {
		c.Unclear[why] += n
	}
}

// find is a command that did what its facts do not name.
type find struct {
	Number  int
	Whole   string
	Command string // the smallest that was found
	Shell   string
	Allowed bool
	Events  []string
	Facts   policy.Facts
}

func (f find) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "command %d, in %s, allowed: %t\n\t%s\nshrunk from\n\t%s\nnot in the facts:\n", f.Number, f.Shell, f.Allowed, line(f.Command),
		line(f.Whole))
	for _, e := range f.Events {
		fmt.Fprintf(&b, "\t%s\n", e)
	}
	b.WriteString("the facts:\n")
	b.WriteString(shown(f.Facts))
	return b.String()
}

// shown returns facts for people.
func shown(f policy.Facts) string {
	var b strings.Builder
	for _, p := range f.Parts {
		fmt.Fprintf(&b, "\t%q %v", p.Argv, p.Effects)
		for _, path := range p.Paths {
			fmt.Fprintf(&b, " %s:%s", path.Access, path.Clean)
			if path.Resolved != path.Clean {
				fmt.Fprintf(&b, "(%s)", path.Resolved)
			}
			if path.Only != "" {
				fmt.Fprintf(&b, "[%s]", path.Only)
			}
		}
		if len(p.Hosts) > 0 {
			fmt.Fprintf(&b, " hosts %v", p.Hosts)
		}
		if len(p.Unclear) > 0 {
			fmt.Fprintf(&b, " unclear: %v", p.Unclear)
		}
		b.WriteString("\n")
	}
	return b.String()
}

// line writes a command as the corpus does.
func line(command string) string { return strings.ReplaceAll(command, "\n", "⏎") }

// TestShellsDoWhatFactsName makes commands at random, runs those that are clear in bash and dash, and demands that each program, path and
// host that they use stands in the facts.
func TestShellsDoWhatFactsName(t *testing.T) {
	t.Parallel()
	if err := exec.Command("unshare", "-U", "true").Run(); err != nil && os.Getenv("CI") != "true" {
		t.Skipf("user namespaces are not available: %v", err)
	}
	rules, err := os.ReadFile("../../internal/config/scaffold/initial/rules.yaml")
	if err != nil {
		t.Fatal(err)
	}
	n, worlds, first := short, 2, *seed
	switch {
	case *one != "":
		n, worlds = 1, 1
	case *commands > 0:
		n = *commands
	case *long:
		n, worlds = lengthy, runtime.GOMAXPROCS(0)
	}
	if first == 0 {
		if first = 1; *long {
			first = rand.Uint64()
		}
	}
	t.Logf("seed %d", first)
	var (
		mu    sync.Mutex
		total = count{Unclear: map[string]int{}}
		seen  = map[string]bool{}
		all   sync.WaitGroup
	)
	hear := func(a answer) {
		mu.Lock()
		defer mu.Unlock()
		switch {
		case a.Said != "":
			t.Log(a.Said)
		case a.Find != nil && !seen[a.Find.Command]:
			seen[a.Find.Command] = true
			t.Error(a.Find)
		case a.Count != nil:
			total.add(*a.Count)
		}
	}
	for w := range worlds {
		all.Go(func() {
			j := job{Rules: rules, Seed: first, From: *from + w, To: *from + n, Step: worlds, One: *one}
			if err := inWorld(t, j, hear); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	t.Logf("%d commands, %d clear, %d of them allowed; %d runs with %d events, %d without an end, %d that race; %d finds", total.Commands,
		total.Clear, total.Allowed, total.Runs, total.Events, total.Endless, total.Fleeting, len(seen))
	for _, why := range slices.Sorted(maps.Keys(total.Unclear)) {
		t.Logf("%5d not clear: %s", total.Unclear[why], why)
	}
	if *one == "" && 2*total.Clear < total.Commands {
		t.Errorf("less than half of the commands are clear: the others test nothing")
	}
}

// inWorld has a world do a job, and hears its answers.
func inWorld(t *testing.T, j job, hear func(answer)) error {
	cmd := exec.CommandContext(t.Context(), "/proc/self/exe")
	cmd.Env = []string{stageVar + "=first"}
	cmd.Stderr = os.Stderr
	cmd.SysProcAttr = scratch.Attr()
	text, err := json.Marshal(j)
	if err != nil {
		return err
	}
	cmd.Stdin = strings.NewReader(string(text))
	out, err := cmd.StdoutPipe()
	if err != nil {
		return err
	}
	if err := cmd.Start(); err != nil {
		return err
	}
	for d := json.NewDecoder(bufio.NewReader(out)); ; {
		var a answer
		err := d.Decode(&a)
		if errors.Is(err, io.EOF) {
			return cmd.Wait()
		}
		if err != nil {
			return errors.Join(err, cmd.Wait())
		}
		hear(a)
	}
}

// laboratory is a world from inside.
type laboratory struct {
	tracer *tracer
	policy *policy.Policy
	scope  policy.Scope
	count  count
}

// work does a job.
func work(in io.Reader, out io.Writer) error {
	var j job
	if err := json.NewDecoder(in).Decode(&j); err != nil {
		return err
	}
	g, err := readGrammar(grammarText)
	if err != nil {
		return err
	}
	l := &laboratory{count: count{Unclear: map[string]int{}}}
	if l.tracer, err = newTracer(); err != nil {
		return err
	}
	if err := l.shipped(j.Rules); err != nil {
		return err
	}
	e := json.NewEncoder(out)
	if j.One != "" {
		return l.show(strings.ReplaceAll(j.One, "⏎", "\n"), e)
	}
	for i := j.From; i < j.To; i += j.Step {
		bash := i%3 > 0 // each third command is for both shells
		tree := g.make(rand.New(rand.NewPCG(j.Seed, uint64(i))), g.first, bash, maxHeight)
		shells := []string{"bash"}
		if !bash {
			shells = append(shells, "dash")
		}
		whole := tree.String()
		l.count.Commands++
		for _, shell := range shells {
			got, err := l.try(whole, shell)
			if err != nil {
				return fmt.Errorf("command %d, %q: %w", i, whole, err)
			}
			if len(got.Events) == 0 {
				continue
			}
			kept := l.count
			l.count.Unclear = map[string]int{}
			small := g.shrink(tree, bash, func(command string) bool {
				f, err := l.try(command, shell)
				return err == nil && len(f.Events) > 0
			}).String()
			if got, err = l.try(small, shell); err != nil {
				return err
			}
			l.count = kept
			if len(got.Events) == 0 { // two of its processes race
				l.count.Fleeting++
				break
			}
			got.Number, got.Whole = i, whole
			if err := e.Encode(answer{Find: &got}); err != nil {
				return err
			}
			break
		}
	}
	return e.Encode(answer{Count: &l.count})
}

// shipped makes the policy of `myc init`.
func (l *laboratory) shipped(rules []byte) error {
	var doc struct {
		Version int           `yaml:"version"`
		Rules   []policy.Rule `yaml:"rules"`
	}
	if problems := yamlfile.Decode("rules.yaml", rules, &doc); len(problems) > 0 {
		return fmt.Errorf("%v", problems)
	}
	skills, problems := skill.Load(skill.Shipped(), "shipped", "shipped")
	var grants []policy.Grant
	for _, s := range skills {
		if s.Name == "coding-agent" {
			grants = append(grants, s.Grant)
		}
	}
	p, more := policy.New(policy.Source{Grants: grants, Rules: doc.Rules, Shipped: config.ShippedRules(), Wall: policy.NoWall, Dir: projectDir, Home: home})
	if problems = append(problems, more...); len(problems) > 0 {
		return fmt.Errorf("%v", problems)
	}
	l.policy, l.scope = p, policy.Scope{Principal: policy.Principal{ID: "u", Role: "developer"}, Skills: []string{"coding-agent"}}
	return nil
}

var bashTool = policy.Item{Server: policy.AgentServer, Name: "Bash"}

// judged returns the facts of a command, as the hook makes them, and whether the policy allows it.
func (l *laboratory) judged(command string) (policy.Facts, bool, error) {
	args := policy.Args{"command": command}
	f, err := facts.Of(bashTool, nil, args, facts.At(l.policy, projectDir, home, nil))
	if err != nil {
		return f, false, err
	}
	d := l.policy.Decide(policy.Call{Scope: l.scope, Item: bashTool, Args: args, Facts: f})
	return f, d.Effect == policy.Allow, nil
}

// as returns the command of an agent's shell with which a shell runs a command: dash is a child of it.
func as(shell, command string) string {
	if shell == "dash" {
		return "sh -c '" + strings.ReplaceAll(command, "'", `'\''`) + "'"
	}
	return command
}

// try runs a command in a shell, if it is clear. The find has no events where all is named.
func (l *laboratory) try(command, shell string) (find, error) {
	out := find{Command: command, Shell: shell}
	if err := furnish(); err != nil {
		return out, err
	}
	f, allowed, err := l.judged(as(shell, command))
	if err != nil || !understood(f) { // a call that names too much is refused
		l.unclear(f)
		return out, nil //nolint:nilerr // that is no failure of the test
	}
	if shell == "bash" {
		l.count.Clear++
		if allowed {
			l.count.Allowed++
		}
	}
	events, err := l.tracer.run(shell, command, projectDir, environment)
	if errors.Is(err, errEndless) {
		l.count.Endless++
	} else if err != nil {
		return out, err
	}
	l.count.Runs++
	l.count.Events += len(events)
	for _, e := range unnamed(f, events) {
		out.Events = append(out.Events, e.String())
	}
	out.Facts, out.Allowed = f, allowed
	return out, nil
}

// unclear counts why a command is not clear.
func (l *laboratory) unclear(f policy.Facts) {
	for _, p := range f.Parts {
		if len(p.Unclear) > 0 {
			l.count.Unclear[p.Unclear[0]]++
			return
		}
	}
}

// show tells all about one command.
func (l *laboratory) show(command string, e *json.Encoder) error {
	for _, shell := range []string{"bash", "dash"} {
		if err := furnish(); err != nil {
			return err
		}
		f, allowed, err := l.judged(as(shell, command))
		if err != nil {
			return err
		}
		events, err := l.tracer.run(shell, command, projectDir, environment)
		if err != nil && !errors.Is(err, errEndless) {
			return err
		}
		said := fmt.Sprintf("%s: clear %t, allowed %t\n%s", shell, understood(f), allowed, shown(f))
		bad := unnamed(f, events)
		for _, ev := range events {
			mark := "  "
			if slices.ContainsFunc(bad, func(b event) bool { return b.String() == ev.String() }) {
				mark = "! "
			}
			said += mark + ev.String() + "\n"
		}
		if err := e.Encode(answer{Said: said}); err != nil {
			return err
		}
	}
	return nil
}

// environment is that of the shells.
var environment = []string{"HOME=" + home, "PATH=/usr/bin:/bin", "USER=dev", "LC_ALL=C", "TERM=dumb", "PWD=" + projectDir, "SHELL=/bin/bash"}

// furnish makes the files of the world anew. A name with a slash at its end is a folder, one with -> a link.
func furnish() error {
	for _, dir := range []string{"/home", "/tmp"} {
		list, err := os.ReadDir(dir) // a command may have removed the home itself
		if err != nil {
			return err
		}
		for _, e := range list {
			if err := removeAll(filepath.Join(dir, e.Name())); err != nil {
				return err
			}
		}
	}
	for _, f := range furniture {
		path := filepath.Join(home, f.name)
		if strings.HasPrefix(f.name, "/") {
			path = f.name
		}
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			return err
		}
		var err error
		switch {
		case strings.HasPrefix(f.text, "-> "):
			err = os.Symlink(f.text[3:], path)
		case strings.HasSuffix(f.name, "/"):
			err = os.MkdirAll(path, 0o755)
		case strings.HasPrefix(f.text, "#!"):
			err = os.WriteFile(path, []byte(f.text), 0o755)
		default:
			err = os.WriteFile(path, []byte(f.text), 0o644)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// removeAll removes a file or a folder, in which a command may have closed folders.
func removeAll(path string) error {
	if os.RemoveAll(path) == nil {
		return nil
	}
	err := filepath.WalkDir(path, func(at string, d fs.DirEntry, err error) error {
		if err == nil && d.IsDir() {
			err = os.Chmod(at, 0o700) // before it is listed
		}
		return err
	})
	return errors.Join(err, os.RemoveAll(path))
}

// furniture are the files of the home.
var furniture = []struct{ name, text string }{
	{"shop/notes.txt", "k notes\n"},
	{"shop/a.txt", "k a\n"},
	{"shop/b.txt", "k b\n"},
	{"shop/two words.txt", "k two\n"},
	{"shop/.env", "TOKEN=k\n"},
	{"shop/.hidden", "k hidden\n"},
	{"shop/list.txt", "a.txt b.txt\nsub/c.txt\n.env\n"},
	{"shop/args.txt", ".env\n"},
	{"shop/lib.sh", "x=.env\n"},
	{"shop/zap", "#!/bin/sh\n:\n"},
	{"shop/sub/c.txt", "k c\n"},
	{"shop/sub/.deep", "k deep\n"},
	{"shop/sub/cat", "#!/bin/sh\n:\n"},
	{"shop/sub/inner/d.txt", "k d\n"},
	{"shop/dst/", ""},
	{"shop/link", "-> sub"},
	{"shop/ln.txt", "-> notes.txt"},
	{"shop/out", "-> ../.ssh"},
	{".ssh/id_ed25519", "k key\n"},
	{"other/notes.txt", "k other\n"},
	{"other/.env", "TOKEN=k\n"},
	{"/tmp/t/notes.txt", "k tmp\n"},
}

func isFolder(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.IsDir()
}
