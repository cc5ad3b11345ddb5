package swarm

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"mycelium/internal/atomicfile"
	"mycelium/internal/store"
	"mycelium/internal/swarm/book"
	"mycelium/internal/swarm/ground"
	"mycelium/internal/swarm/plan"
	"mycelium/internal/swarm/review"
	"mycelium/internal/swarm/worker"
	"mycelium/internal/tmux"
)

// TestChaos: whatever is killed with -9 at a random moment, the driver, the tmux server, a worker or a reviewer, the next driver brings the
// session to its end: no commit is lost, none is merged twice, each feature is completed or failed with a reason, the branch is green, what
// landed is reviewed, and no process and no worktree is left. SWARM_CHAOS is the number of runs (make soak); their seeds count from
// SWARM_SEED.
func TestChaos(t *testing.T) {
	runs, seed := 2, 1
	for name, n := range map[string]*int{"SWARM_CHAOS": &runs, "SWARM_SEED": &seed} {
		if s := os.Getenv(name); s != "" {
			var err error
			if *n, err = strconv.Atoi(s); err != nil {
				t.Fatal(err)
			}
		}
	}
	for i := range runs {
		t.Run(strconv.Itoa(seed+i), func(t *testing.T) {
			t.Parallel()
			newChaos(t, uint64(seed+i)).run()
		})
	}
}

// kinds are what workers of the chaos do; see stub.work. Each stands as often as it is to be drawn.
var kinds = []string{"good", "good", "good", "conflict", "conflict", "once", "never", "messy", "idle", "told", "red", "deaf",
	"asks", "loop", "flood"}

// chaos is a session in a repository of its own.
type chaos struct {
	testing.TB
	*bed

	rand    *rand.Rand
	attacks []attack
	killed  []string
	head    string // of the person's checkout
	status  string
}

// bed is what the test, its drivers and its workers have in common.
type bed struct {
	dir    string
	book   *book.Book
	ground *ground.Repo
}

const chaosSession = "s1"

func (b *bed) project() string { return filepath.Join(b.dir, "p") }
func (b *bed) terminals() tmux.Server {
	return tmux.Server{Socket: filepath.Join(b.dir, "tmux"), Config: os.DevNull}
}

// openBed opens what lies in a folder.
func openBed(ctx context.Context, dir string) (*bed, func(), error) {
	db, err := store.Open(ctx, "sqlite://"+filepath.Join(dir, "db"))
	if err != nil {
		return nil, nil, err
	}
	b := &bed{dir: dir, book: book.New(db)}
	b.ground, err = ground.Open(ctx, ground.Options{Project: b.project(), State: filepath.Join(dir, "state"), Session: chaosSession})
	return b, func() { _ = db.Close() }, err
}

func newChaos(t testing.TB, seed uint64) *chaos {
	dir, err := os.MkdirTemp("", "sw") // short: it has a socket
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	c := &chaos{TB: t, bed: &bed{dir: dir}, rand: rand.New(rand.NewPCG(seed, seed))}
	for _, sub := range []string{"p", "home", "notes"} {
		if err := os.Mkdir(filepath.Join(dir, sub), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	c.git("init", "-q", "-b", "main")
	c.file("shared.txt", "0\n")
	c.git("add", "-A")
	c.git("commit", "-qm", "init")
	c.file("shared.txt", "0\nof the person\n")
	c.file("untracked.txt", "of the person\n")
	c.head, c.status = c.git("rev-parse", "HEAD"), c.git("status", "--porcelain")
	b, closeBed, err := openBed(t.Context(), dir)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(closeBed)
	c.bed = b
	c.begin()
	return c
}

// begin begins a session with random features.
func (c *chaos) begin() {
	s := &book.Session{ID: chaosSession, State: book.Going, Branch: c.ground.Branch(), Base: c.head, Target: "main",
		Settings: book.Settings{Workers: 3, Retries: 4, Runner: "command", Command: []string{"-"}, Reviews: review.Defaults(),
			Verify: [][]string{{"sh", "-c", "test ! -e red.txt && test -e shared.txt"}}}}
	for i := range 5 + c.rand.IntN(3) {
		id, kind := "f"+strconv.Itoa(i), kinds[c.rand.IntN(len(kinds))]
		f := plan.Feature{ID: id, Description: "Feature " + id, Details: fmt.Sprintf("stub: %s %d", kind, c.rand.IntN(300)),
			Validation: &plan.Validation{Enabled: true, TestPassRequired: true, EnforceBlocking: true,
				VerifyCommand: []string{"test", "-s", id + ".txt"}}}
		if i > 0 && c.rand.IntN(3) == 0 {
			f.DependsOn = []string{"f" + strconv.Itoa(c.rand.IntN(i))}
		}
		s.Features = append(s.Features, &book.Feature{Feature: f, State: book.Pending})
	}
	if err := c.book.Begin(c.Context(), s); err != nil {
		c.Fatal(err)
	}
	if err := c.ground.Begin(c.Context(), ground.Commit(c.head)); err != nil {
		c.Fatal(err)
	}
}

func (c *chaos) file(name, text string) {
	c.Helper()
	if err := os.WriteFile(filepath.Join(c.project(), name), []byte(text), 0o600); err != nil {
		c.Fatal(err)
	}
}

func (c *chaos) git(args ...string) string {
	c.Helper()
	out, err := gitIn(c.project(), args...)
	if err != nil {
		c.Fatal(err)
	}
	return out
}

// gitIn runs git, which ends with this process.
func gitIn(dir string, args ...string) (string, error) {
	cmd := exec.Command("git", append([]string{"-c", "user.name=W", "-c", "user.email=w@localhost", "-c", "gc.auto=0"}, args...)...)
	cmd.Dir, cmd.SysProcAttr = dir, &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	out, err := cmd.CombinedOutput()
	if err != nil {
		err = fmt.Errorf("git %s: %w: %s", strings.Join(args, " "), err, out)
	}
	return strings.TrimSpace(string(out)), err
}

// process is a process of the chaos: this test, run again.
func process(args ...string) []string {
	return append([]string{os.Args[0], "-test.run=^TestChaosProcess$", "-test.timeout=5m", "--"}, args...)
}

// TestChaosProcess is a driver or a worker where the chaos starts this test so, and nothing otherwise.
func TestChaosProcess(t *testing.T) {
	at := slices.Index(os.Args, "--")
	if at < 0 {
		return
	}
	var err error
	switch args := os.Args[at+1:]; args[0] {
	case "driver":
		err = chaosDriver(t.Context(), args[1])
	case "worker":
		err = chaosWorker(worker.Folder(args[1]), args[2])
	}
	if err != nil {
		t.Fatal(err)
	}
}

// chaosDriver is what myc swarm auto does.
func chaosDriver(ctx context.Context, dir string) error {
	b, closeBed, err := openBed(ctx, dir)
	if err != nil {
		return err
	}
	defer closeBed()
	lock, err := atomicfile.LockWait(filepath.Join(dir, "driver.lock"), 5*time.Second) // a fork of the last one may have it still
	if err != nil {
		return err
	}
	defer func() { _ = lock.Unlock() }()
	if last, err := b.book.Driver(ctx, chaosSession); err != nil || last != "" {
		if err := cmp.Or(err, b.book.Release(ctx, chaosSession, last)); err != nil {
			return err
		}
	}
	return New(Options{Book: b.book, Ground: b.ground, Folder: filepath.Join(dir, "state"), Holder: strconv.Itoa(os.Getpid()),
		Logger: slog.New(slog.NewTextHandler(os.Stderr, nil)), Governs: func(string) bool { return false },
		Start: func(ctx context.Context, folder worker.Folder, window string) error {
			_, err := b.terminals().Open(ctx, tmux.Window{Session: window, Name: window, Dir: dir,
				Command: process("worker", string(folder), filepath.Join(dir, "notes"))})
			return err
		},
		Verify: func(ctx context.Context, tree string, argv []string) (Checked, error) {
			cmd := exec.CommandContext(ctx, argv[0], argv[1:]...)
			cmd.Dir = tree
			out, err := cmd.CombinedOutput()
			if exit := (*exec.ExitError)(nil); errors.As(err, &exit) {
				return Checked{Output: string(out) + exit.Error()}, nil
			}
			return Checked{OK: err == nil, Output: string(out)}, err
		}}, chaosSession).Run(ctx)
}

// chaosWorker is what myc swarm worker does with the runner command. It notes each commit.
func chaosWorker(folder worker.Folder, notes string) error {
	signal.Ignore(syscall.SIGHUP)
	w, err := folder.Begin()
	if err != nil {
		return err
	}
	o, prompt, err := w.Order()
	if err != nil {
		return err
	}
	if err := w.Write(worker.Event{Kind: worker.Began, Text: "stub"}); err != nil {
		return err
	}
	end := worker.Ended{Stop: "end_turn"}
	if err := (&stub{w, o, prompt, notes}).work(); err != nil {
		end.Stop, end.Error = "error", err.Error()
	}
	return w.End(end)
}

// stub is a worker that follows a script.
type stub struct {
	*worker.Work
	order  worker.Order
	prompt string
	notes  string
}

func (s *stub) work() error {
	if s.order.Writes != "" { // a reviewer, which is killed like the others
		time.Sleep(200 * time.Millisecond)
		return os.WriteFile(s.order.Writes, []byte(`{"summary": "Nothing.", "severity": "clean"}`), 0o600)
	}
	_, script, _ := strings.Cut(s.prompt, "stub: ")
	var kind string
	var ms int
	if _, err := fmt.Sscan(script, &kind, &ms); err != nil {
		return err
	}
	if kind == "deaf" {
		signal.Ignore(syscall.SIGTERM)
	}
	_, _, asked := strings.Cut(s.prompt, "# What is missing")
	if _, branch, ok := strings.Cut(s.prompt, "(git merge "); ok {
		branch, _, _ = strings.Cut(branch, ")")
		if err := s.merge(branch); err != nil {
			return err
		}
	}
	if kind != "busy" {
		time.Sleep(time.Duration(ms) * time.Millisecond) // its work
	}
	switch id := s.order.Feature; kind {
	case "never":
		return errors.New("it never works")
	case "once":
		if s.order.Attempt == 1 {
			return errors.New("it works the second time")
		}
	case "idle": // ends without a change until it is asked
		if !asked {
			return nil
		}
	case "messy": // commits nothing until it is asked
		if !asked {
			return os.WriteFile(filepath.Join(s.order.Tree, id+".txt"), []byte("draft"), 0o600)
		}
	case "busy": // five calls a second, each with a new result
		for i := range ms / 200 {
			if err := s.call(i); err != nil {
				return err
			}
			time.Sleep(200 * time.Millisecond)
		}
	case "hang":
		fmt.Println("hangs")
		select {}
	case "asks": // a person answers
		if err := s.Write(worker.Event{Kind: worker.Waits, Text: "may it push?"}); err != nil {
			return err
		}
		if err := s.listen(func() error { return nil }); err != nil {
			return err
		}
	case "told", "deaf":
		if err := s.listen(func() error { return nil }); err != nil {
			return err
		}
	case "loop": // does the same again and again until it is told that it is stuck
		if err := s.listen(s.repeat); err != nil {
			return err
		}
	case "flood":
		for range 20_000 {
			if err := s.Write(worker.Event{Kind: worker.Says, Text: strings.Repeat("flood ", 1000)}); err != nil {
				return err
			}
		}
	case "red":
		if asked {
			_ = os.Remove(filepath.Join(s.order.Tree, "red.txt"))
		} else if err := os.WriteFile(filepath.Join(s.order.Tree, "red.txt"), []byte(id), 0o600); err != nil {
			return err
		}
	case "conflict":
		if err := s.share(""); err != nil {
			return err
		}
	}
	return s.commit()
}

// listen does something until the worker is told something.
func (s *stub) listen(do func() error) error {
	for ; ; time.Sleep(10 * time.Millisecond) {
		waiting, err := s.Inbox()
		if err == nil && len(waiting) > 0 {
			return s.Received(waiting[0].ID)
		}
		if err != nil {
			return err
		}
		if err := do(); err != nil {
			return err
		}
	}
}

// repeat is one call with the result that it had before.
func (s *stub) repeat() error {
	id := strconv.FormatInt(time.Now().UnixNano(), 36)
	return errors.Join(s.Write(worker.Event{Kind: worker.Call, Call: id, Tool: "Bash", Args: "make", Sum: "a"}),
		s.Write(worker.Event{Kind: worker.Done, Call: id, Tool: "Bash", Text: "no rule", Sum: "b", Failed: true}))
}

// call is a call with a result of its own.
func (s *stub) call(i int) error {
	id, result := strconv.Itoa(i), strings.Repeat(strconv.Itoa(i)+" ", 100)
	return errors.Join(s.Write(worker.Event{Kind: worker.Call, Call: id, Tool: "Bash", Args: "make", Sum: "a"}),
		s.Write(worker.Event{Kind: worker.Done, Call: id, Tool: "Bash", Text: result, Sum: id}))
}

// share adds the line of this feature to the file that several change.
func (s *stub) share(theirs string) error {
	path := filepath.Join(s.order.Tree, "shared.txt")
	b, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	lines := strings.Fields(cmp.Or(theirs, string(b)) + "\n" + s.order.Feature)
	slices.Sort(lines)
	return os.WriteFile(path, []byte(strings.Join(slices.Compact(lines), "\n")+"\n"), 0o600)
}

// merge brings in the branch of the session.
func (s *stub) merge(branch string) error {
	if _, err := gitIn(s.order.Tree, "merge", "-q", "--no-edit", branch); err == nil {
		return nil
	}
	theirs, err := gitIn(s.order.Tree, "show", branch+":shared.txt")
	if err == nil {
		err = s.share(theirs)
	}
	if err == nil {
		err = s.commit()
	}
	return err
}

// commit commits everything.
func (s *stub) commit() error {
	own := filepath.Join(s.order.Tree, s.order.Feature+".txt")
	if err := os.WriteFile(own, fmt.Appendf(nil, "of %s\n", s.order.Feature), 0o600); err != nil {
		return err
	}
	if _, err := gitIn(s.order.Tree, "add", "-A"); err != nil {
		return err
	}
	if _, err := gitIn(s.order.Tree, "commit", "-q", "--allow-empty", "-m", "feat: "+s.order.Feature); err != nil {
		return err
	}
	head, err := gitIn(s.order.Tree, "rev-parse", "HEAD")
	if err == nil {
		err = os.WriteFile(filepath.Join(s.notes, head), nil, 0o600)
	}
	return err
}

// run drives the session to its end, with some killing.
func (c *chaos) run() {
	c.attacks = c.plan(len(c.session().Features))
	drivers := 0
	for ; drivers < 40; drivers++ {
		cmd := exec.Command(os.Args[0], process("driver", c.dir)[1:]...)
		said := &bytes.Buffer{}
		cmd.Stdout, cmd.Stderr, cmd.Env = said, said, append(os.Environ(), "HOME="+filepath.Join(c.dir, "home"), "TMPDIR="+c.dir)
		if err := cmd.Start(); err != nil {
			c.Fatal(err)
		}
		ended := make(chan error, 1)
		go func() { ended <- cmd.Wait() }()
		killed := c.meddle(cmd.Process, ended)
		if !cmd.ProcessState.Success() && !killed {
			c.Errorf("a driver failed: %v\n%s", cmd.ProcessState, said)
		}
		if s := c.session(); !s.Open() {
			break
		} else if !killed {
			c.again(s)
		}
	}
	c.Logf("killed: %s; %d drivers", strings.Join(c.killed, ", "), drivers+1)
	if c.check(); c.Failed() {
		events, _ := c.book.Events(context.Background(), chaosSession, 0, 0)
		for _, e := range events {
			c.Logf("%s %s#%d %s", e.At.Format("05.000"), e.Feature, e.Attempt, e.Text)
		}
	}
}

// attack is what is killed, or paused, once so many events have happened.
type attack struct {
	after int64
	what  string
}

// plan draws what is done to the session: its features have about six events each.
func (c *chaos) plan(features int) (out []attack) {
	for range 1 + c.rand.IntN(4) {
		what := []string{"driver", "driver", "driver", "tmux", "tmux", "worker", "worker", "pause"}[c.rand.IntN(8)]
		out = append(out, attack{c.rand.Int64N(int64(6*features + 8)), what}) // the reviews have about eight
	}
	slices.SortFunc(out, func(a, b attack) int { return cmp.Compare(a.after, b.after) })
	return out
}

// meddle attacks now and then until the driver has ended. It reports whether it killed the driver.
func (c *chaos) meddle(driver *os.Process, ended <-chan error) (killed bool) {
	look := time.NewTicker(10 * time.Millisecond)
	defer look.Stop()
	for {
		select {
		case <-ended:
			return killed
		case <-look.C:
			c.tell()
			last, err := c.book.Events(c.Context(), chaosSession, 0, 1)
			if err != nil {
				c.Fatal(err)
			}
			if len(c.attacks) == 0 || last[0].Seq < c.attacks[0].after || c.rand.IntN(20) > 0 { // a moment 200 ms later, on average
				continue
			}
			what, done := c.attacks[0].what, false
			switch what {
			case "driver":
				done = driver.Kill() == nil
				killed = killed || done
			case "pause":
				done = true
				c.to(book.Paused)
			default:
				done = c.kill(what)
			}
			if done {
				c.killed, c.attacks = append(c.killed, what), c.attacks[1:]
			}
		}
	}
}

// kill kills the tmux server or a worker, and reports whether there was one.
func (c *chaos) kill(what string) bool {
	var pids []int
	for pid, line := range c.processes() {
		if of := strings.HasPrefix(line, "tmux"); of == (what == "tmux") && (of || strings.Contains(line, " worker ")) {
			pids = append(pids, pid)
		}
	}
	slices.Sort(pids)
	return len(pids) > 0 && syscall.Kill(pids[c.rand.IntN(len(pids))], syscall.SIGKILL) == nil
}

// processes are the processes of this session but its driver, with their command lines.
func (c *chaos) processes() map[int]string {
	all := map[int]string{}
	files, _ := filepath.Glob("/proc/[0-9]*/cmdline")
	for _, f := range files {
		b, _ := os.ReadFile(f)
		line := strings.ReplaceAll(string(b), "\x00", " ")
		if pid, err := strconv.Atoi(filepath.Base(filepath.Dir(f))); err == nil &&
			strings.Contains(line, c.dir) && !strings.Contains(line, " driver ") {
			all[pid] = line
		}
	}
	return all
}

func (c *chaos) session() *book.Session {
	s, err := c.book.Read(c.Context(), chaosSession)
	if err != nil {
		c.Fatal(err)
	}
	return s
}

// tell tells each worker that waits for it to go on.
func (c *chaos) tell() {
	for _, f := range c.session().Features {
		if a := f.Live(); a != nil && slices.ContainsFunc([]string{"told", "deaf", "asks"}, func(kind string) bool {
			return strings.Contains(f.Details, "stub: "+kind)
		}) {
			if waiting, err := worker.Folder(a.Folder).Inbox(); err == nil && len(waiting) == 0 {
				_ = worker.Folder(a.Folder).Tell("go on") // its folder may not be there yet
			}
		}
	}
}

// to pauses the session, as myc swarm pause does, or resumes it.
func (c *chaos) to(state book.State) {
	if _, err := c.book.Change(c.Context(), chaosSession, "", func(s *book.Session) ([]book.Event, error) {
		if s.State == state || !s.Open() {
			return nil, nil
		}
		s.State = state
		return []book.Event{{Kind: "session", Text: "a person has it " + string(state)}}, nil
	}); err != nil {
		c.Fatal(err)
	}
}

// again resumes what is paused, and has each feature tried again that waits for a person, as myc swarm resume and retry do.
func (c *chaos) again(s *book.Session) {
	c.to(book.Going)
	if _, err := c.book.Change(c.Context(), s.ID, "", func(s *book.Session) (events []book.Event, err error) {
		for _, f := range s.Features {
			if f.State == book.Waiting {
				f.State, f.Reason, f.Tried, f.Retry = book.Pending, "", 0, time.Time{}
				events = append(events, book.Event{Kind: "feature", Feature: f.ID, Text: "a person has it tried again"})
			}
		}
		return events, nil
	}); err != nil {
		c.Fatal(err)
	}
}

// check checks what must be true at the end.
func (c *chaos) check() {
	s := c.session()
	if s.Open() || s.Landing != nil {
		c.Errorf("the session is %s, landing %v", s.State, s.Landing)
	}
	branch := s.Branch
	for _, f := range s.Features {
		landed := strings.Fields(c.git("log", "--format=%H", "--grep=^Swarm-Feature: "+f.ID+"$", branch))
		_, err := gitIn(c.project(), "cat-file", "-e", branch+":"+f.ID+".txt")
		switch {
		case f.State == book.Completed && (len(landed) != 1 || err != nil || f.Commit != landed[0]):
			c.Errorf("%s is completed by %q, and these are on the branch: %v, %v", f.ID, f.Commit, landed, err)
		case f.State == book.Failed && (f.Reason == "" || len(landed) > 0 || err == nil):
			c.Errorf("%s failed, because of %q; on the branch: %v", f.ID, f.Reason, landed)
		case f.State == book.Failed && !strings.Contains(f.Details, "never") && len(c.killed) < f.Tried-1:
			c.Errorf("%s failed: %s", f.ID, f.Reason)
		case f.State == book.Pending && !c.behindFailed(s, f), f.State != book.Completed && f.State != book.Failed && f.State != book.Pending:
			c.Errorf("%s is %s", f.ID, f.State)
		}
		if n := strings.Count(c.git("show", branch+":shared.txt")+"\n", f.ID+"\n"); strings.Contains(f.Details, "conflict") &&
			f.State == book.Completed && n != 1 {
			c.Errorf("the line of %s is there %d times", f.ID, n)
		}
	}
	for _, r := range last(s) {
		if r.State != book.Completed && len(c.killed) <= s.Settings.Retries || !r.Over() {
			c.Errorf("the review of the %s is %s, because %q", r.Type, r.State, r.Reason)
		}
	}
	if tip := c.git("rev-parse", branch); tip != s.Base && len(last(s)) != len(review.Names()) {
		c.Errorf("there are %d reviews", len(last(s)))
	}
	c.checkKept()
	c.checkLeft(branch)
}

// behindFailed reports whether a feature cannot begin, because one did not land that it depends on.
func (c *chaos) behindFailed(s *book.Session, f *book.Feature) bool { return !s.Startable(f) }

// checkKept: each commit that a worker made is under refs/mycelium.
func (c *chaos) checkKept() {
	kept := c.git("rev-list", "--glob=refs/mycelium/*")
	notes, err := os.ReadDir(filepath.Join(c.dir, "notes"))
	if err != nil {
		c.Fatal(err)
	}
	for _, n := range notes {
		if !strings.Contains(kept, n.Name()) {
			c.Errorf("commit %s is lost", n.Name())
		}
	}
}

// checkLeft: the branch is green, nothing is left over, and the person's checkout is as it was.
func (c *chaos) checkLeft(branch string) {
	if names := c.git("ls-tree", "--name-only", branch); slices.Contains(strings.Fields(names), "red.txt") {
		c.Error("the branch is red")
	}
	trees, err := c.ground.List()
	if err != nil || len(trees) > 0 {
		b, _ := json.Marshal(trees)
		c.Errorf("worktrees are left: %s %v", b, err)
	}
	if head, status := c.git("rev-parse", "HEAD"), c.git("status", "--porcelain"); head != c.head || status != c.status {
		c.Errorf("the checkout of the person is at %s with %q", head, status)
	}
	if branches := c.git("for-each-ref", "--format=%(refname:short)", "refs/heads"); branches != "main\n"+branch {
		c.Errorf("branches: %s", branches)
	}
	late := time.NewTimer(10 * time.Second)
	defer late.Stop()
	look := time.NewTicker(20 * time.Millisecond)
	defer look.Stop()
	for left := c.processes(); len(left) > 0; left = c.processes() {
		select {
		case <-late.C:
			c.Errorf("processes are left: %v", left)
			for pid := range left {
				_ = syscall.Kill(pid, syscall.SIGKILL)
			}
		case <-look.C:
		}
	}
	if err := c.ground.End(c.Context()); err != nil {
		c.Error(err)
	}
	if all := c.git("worktree", "list"); strings.Contains(all, "\n") {
		c.Errorf("after the end there are worktrees: %s", all)
	}
}
