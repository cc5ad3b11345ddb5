package chains

import (
	"context"
	"flag"
	"fmt"
	"hash/fnv"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/go-json-experiment/json"
)

var (
	long = flag.Bool("long", os.Getenv("CHAINS") == "long", "play every chain, with a daemon and without")
	full = flag.Bool("full", false, "play every chain, with a daemon or without")
	only = flag.String("only", "", "play the chains whose `CAUSE/NAME` matches")
	from = flag.String("from", "testdata", "the `folder` with the chains")
)

func TestMain(m *testing.M) {
	name := os.Getenv(stageVar)
	if name == "" {
		os.Exit(m.Run())
	}
	if err := stage(name); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// laboratory has what all worlds share.
type laboratory struct {
	ctx      context.Context
	programs string // the folder with our programs
	snapshot string // the tar file of the home
	// baseline has the answers to the probes before anything was done, with a daemon (true) and without.
	baseline map[bool]map[string]answer
	walled   bool // the policy has a wall, and the reader of commands is wrong
}

func newLaboratory(t *testing.T, build ...string) *laboratory {
	t.Helper()
	if err := exec.Command("unshare", "-U", "true").Run(); err != nil && os.Getenv("CI") != "true" {
		t.Skipf("user namespaces are not available: %v", err)
	}
	dir, err := os.MkdirTemp("", "chains")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	if err := os.Chmod(dir, 0o755); err != nil { // the worlds' user goes through it
		t.Fatal(err)
	}
	l := &laboratory{ctx: t.Context(), programs: filepath.Join(dir, "bin"), snapshot: filepath.Join(dir, "home.tar"),
		baseline: map[bool]map[string]answer{}}
	l.walled = len(build) > 0
	cmd := exec.Command("go", append(append([]string{"build"}, build...), "-o", l.programs+string(filepath.Separator), "mycelium/cmd/myc",
		"mycelium/cmd/myc-hook")...)
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0") // as they are shipped
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("build the programs: %v\n%s", err, out)
	}
	if err := l.prepare(); err != nil {
		t.Fatal(err)
	}
	for _, daemon := range []bool{false, true} {
		if daemon || !l.walled {
			l.measure(t, daemon)
		}
	}
	return l
}

// prepare makes the home.
func (l *laboratory) prepare() error {
	if err := os.WriteFile(l.snapshot, nil, 0o600); err != nil {
		return err
	}
	w, err := newWorld(l.ctx, l.snapshot, l.programs)
	if err != nil {
		return err
	}
	text, err := w.does(job{Prepare: true, Walled: l.walled})
	if err != nil {
		return err
	}
	var home []byte
	if err := json.Unmarshal(text, &home); err != nil {
		return err
	}
	if err := w.end(); err != nil {
		return err
	}
	return os.WriteFile(l.snapshot, home, 0o600)
}

// measure sets the baseline.
func (l *laboratory) measure(t *testing.T, daemon bool) {
	t.Helper()
	w, err := newWorld(l.ctx, l.snapshot, l.programs)
	if err != nil {
		t.Fatal(err)
	}
	r, err := w.play(job{Daemon: daemon, Walled: l.walled})
	if err != nil {
		t.Fatal(err)
	}
	if err := w.end(); err != nil {
		t.Fatal(err)
	}
	if len(r.Changed) > 0 {
		t.Fatalf("without any step, with a daemon %t: %s", daemon, strings.Join(r.Changed, "\n"))
	}
	if !strings.Contains(r.Said, "hello") || !strings.Contains(r.Said, secret) {
		t.Errorf("with a daemon %t: the secret is not there, or the server does not answer: %s", daemon, r.Said)
	}
	l.baseline[daemon] = r.Probes
	for _, p := range []string{"Bash git status", "Read " + projectDir + "/src/shop.py"} {
		if l.walled && strings.HasPrefix(p, "Bash") {
			continue // it is not asked
		}
		if r.Probes[p].Is != allowed {
			t.Errorf("with a daemon %t: %s is answered %s: then a denial says nothing", daemon, p, r.Probes[p])
		}
		delete(r.Probes, p)
		delete(r.Probes, p+", after a restart")
	}
	for name, a := range r.Probes {
		if a.Is != denied && a.Is != asked {
			t.Errorf("with a daemon %t: %s is answered %s before anything was done", daemon, name, a)
		}
	}
}

// play has the world play a chain.
func (w *world) play(j job) (report, error) {
	var r report
	text, err := w.does(j)
	if err != nil {
		return r, err
	}
	return r, json.Unmarshal(text, &r)
}

// opened says what a chain changed, or nothing.
func (l *laboratory) opened(r report, daemon bool) []string {
	out := slices.Clone(r.Changed)
	for _, name := range slices.Sorted(maps.Keys(r.Probes)) {
		if was, ok := l.baseline[daemon][name]; ok && weaker(r.Probes[name].Is, was.Is) {
			out = append(out, fmt.Sprintf("%s: %s, was %s", name, r.Probes[name], was))
		}
	}
	return out
}

// run is a chain in one of its forms, and what became of it.
type run struct {
	chain
	daemon  bool
	report  report
	unasked bool // the hook is not asked
	walled  bool // myc claude started the agent
	opened  []string
	err     error
}

func (r *run) name() string {
	return r.Cause + "/" + r.Name + map[bool]string{true: "/daemon", false: "/alone"}[r.daemon]
}

// runs are the chains to play, and their forms. Unless all are wanted, every eighth is played; its name decides which, and whether there
// is a daemon, so that it is always the same.
func runs(chains []chain, pattern *regexp.Regexp) []*run {
	var out []*run
	for _, c := range chains {
		h := fnv.New32a()
		h.Write([]byte(c.Name))
		sum := h.Sum32() >> 8
		sampled := !*long && !*full && *only == ""
		if sampled && (c.Long || sum%8 != 0) || !pattern.MatchString(c.Cause+"/"+c.Name) {
			continue
		}
		forms := []bool{false, true}
		switch {
		case c.Mode != "":
			forms = []bool{c.Mode == "daemon"}
		case !*long:
			forms = []bool{sum/3%2 == 0}
		}
		for _, daemon := range forms {
			out = append(out, &run{chain: c, daemon: daemon})
		}
	}
	return out
}

// all plays runs, several at a time. A world goes on with the next chain as long as every step was refused: then nothing has happened in
// it.
func (l *laboratory) all(runs []*run) {
	var work sync.WaitGroup
	for _, daemon := range []bool{false, true} {
		queue := make(chan *run, len(runs))
		for _, r := range runs {
			if r.daemon == daemon {
				queue <- r
			}
		}
		close(queue)
		for range 2 {
			work.Go(func() {
				var w *world
				for r := range queue {
					w = l.one(w, r)
				}
				if w != nil {
					w.in.Close()
					w.cmd.Wait()
				}
			})
		}
	}
	work.Wait()
}

// one plays a run in a world, a new one where there is none, and returns the world if it can be used again.
func (l *laboratory) one(w *world, r *run) *world {
	if w == nil {
		if w, r.err = newWorld(l.ctx, l.snapshot, l.programs); r.err != nil {
			return nil
		}
	}
	if r.report, r.err = w.play(job{Chain: r.chain, Daemon: r.daemon, Unasked: r.unasked, Walled: r.walled}); r.err != nil {
		return nil
	}
	if !r.report.Used {
		return w
	}
	r.opened = l.opened(r.report, r.daemon)
	r.err = w.end()
	return nil
}

// TestChains plays every chain. testdata/open.txt names those that still open something; it may only shrink. The chains of shell.chains are
// also played without the hook: each has to open something then, so that a refusal is what keeps it shut.
func TestChains(t *testing.T) {
	t.Parallel()
	pattern, err := regexp.Compile(*only)
	if err != nil {
		t.Fatal(err)
	}
	chains, err := readChains(*from)
	if err != nil {
		t.Fatal(err)
	}
	known, err := readOpen(filepath.Join(*from, "open.txt"))
	if err != nil {
		t.Fatal(err)
	}
	l := newLaboratory(t)
	runs := runs(chains, pattern)
	var bare []*run
	for _, r := range runs {
		if r.Cause == "shell" {
			bare = append(bare, &run{chain: r.chain, unasked: true})
		}
	}
	l.all(append(slices.Clone(runs), bare...))
	for _, r := range runs {
		t.Run(r.name(), func(t *testing.T) { r.judge(t, known) })
	}
	for _, r := range bare {
		if r.err != nil || len(r.opened) == 0 {
			t.Errorf("%s/%s opens nothing without the hook: %v, %v", r.Cause, r.Name, r.report.Steps, r.err)
		}
	}
	t.Log(figures(runs))
}

// judge fails a chain that opened something and is not known for it, and one that is known for what it does not do.
func (r *run) judge(t *testing.T, known map[string]bool) {
	t.Helper()
	if r.err != nil {
		t.Error(r.err)
	}
	for _, s := range r.report.Steps {
		t.Logf("line %d: %s: %s: %s\n%s", s.Line, s.Tool, s.Answer.Is, s.Answer.Why, s.Said)
	}
	excused := r.Sandbox || known[r.Cause+"/"+r.Name+"/alone"] || known[r.Cause+"/"+r.Name+"/daemon"]
	switch {
	case len(r.opened) > 0 && !excused:
		t.Errorf("this chain opened:\n%s", strings.Join(r.opened, "\n"))
	case len(r.opened) > 0:
		t.Logf("open, as known:\n%s", strings.Join(r.opened, "\n"))
	case known[r.name()] && r.err == nil:
		t.Error("this chain opens nothing any more: remove it from open.txt")
	}
}

// figures are the sums.
func figures(runs []*run) string {
	sums := map[string]*[5]int{}
	for _, r := range runs {
		for _, cause := range []string{r.Cause, "together"} {
			if sums[cause] == nil {
				sums[cause] = &[5]int{}
			}
			s := sums[cause]
			s[0]++
			if r.report.Used {
				s[1]++
			}
			if len(r.opened) > 0 && !r.Sandbox {
				s[2]++
			}
			if r.Sandbox {
				s[3]++
				if len(r.opened) > 0 {
					s[4]++
				}
			}
		}
	}
	var out strings.Builder
	for _, cause := range slices.Sorted(maps.Keys(sums)) {
		s := sums[cause]
		fmt.Fprintf(&out, "\n%-14s %3d chains, %3d took a step, %3d opened something; for a sandbox: %d, of which %d opened",
			cause, s[0], s[1], s[2], s[3], s[4])
	}
	return out.String()
}

// readOpen reads lines `CAUSE/NAME/FORM: what is open`.
func readOpen(path string) (map[string]bool, error) {
	b, err := os.ReadFile(path)
	out := map[string]bool{}
	for line := range strings.Lines(string(b)) {
		if name, _, _ := strings.Cut(strings.TrimSpace(line), ":"); name != "" && !strings.HasPrefix(name, "#") {
			out[name] = true
		}
	}
	return out, err
}
