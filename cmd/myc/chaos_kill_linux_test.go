package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/fsnotify/fsnotify"

	"mycelium/internal/audit"
	"mycelium/internal/keeper"
	"mycelium/internal/rawjson"
)

// killings is a project whose parts are killed one after the other while clients call its servers, each through a relay of its own.
type killings struct {
	*project
	hostile  string
	executed string // file in which the servers note each call that they execute
	stop     chan struct{}
	asked    atomic.Int64
	clients  []*mortal

	mu     sync.Mutex
	right  map[string]bool // texts of the calls that were answered right
	failed int             // calls that were answered with an error, or whose relay was killed
}

// mortal is a client whose relay may be killed. It begins another one then.
type mortal struct {
	*killings
	name     string
	answers  atomic.Int64 // right ones so far
	relay    atomic.Int64 // pid; 0: it is about to begin
	murdered atomic.Bool  // the present relay was killed by the test
}

// killCount is how many kills there are: 30, or what KILLS says (make soak).
func killCount(t *testing.T) int {
	t.Helper()
	s := os.Getenv("KILLS")
	if s == "" {
		return 30
	}
	n, err := strconv.Atoi(s)
	if err != nil {
		t.Fatal(err)
	}
	return n
}

func newKillings(t *testing.T) *killings {
	t.Helper()
	k := &killings{hostile: hostileServer(t), stop: make(chan struct{}), right: map[string]bool{}}
	k.executed = filepath.Join(t.TempDir(), "executed")
	// Behind shells, as npx and its like are; the second one leaves processes behind, in sessions of their own and without parents.
	entry := func(mode string) string {
		return fmt.Sprintf("  %s: {command: sh, args: [-c, \"%s %s; true\"], timeout: 60s, stopTimeout: 300ms, env: {CALLS: %q}}\n",
			mode, k.hostile, mode, k.executed)
	}
	k.project = projectOf(t, builtProgram(t), map[string]string{ // without the race detector, which would take most of the time
		"mycelium.yaml": "session: {defaultRole: guest, roles: [guest]}\nmcpServers:\n" + entry("healthy") + entry("leaks"),
		"skills/echo/SKILL.yaml": "name: echo\ndescription: Echoes.\nallowedRoles: [guest]\n" +
			"allowedTools: [healthy__echo, leaks__echo]\n",
	})
	k.must("tools", "sync")
	for i := range 4 {
		k.clients = append(k.clients, &mortal{killings: k, name: fmt.Sprintf("c%d", i)})
	}
	return k
}

// run calls until the end. Whenever its relay was killed it begins another one.
func (m *mortal) run() error {
	for {
		select {
		case <-m.stop:
			return nil
		default:
		}
		m.murdered.Store(false)
		w := startWire(m.t, m.command("mcp", "--role", "guest"))
		err := m.talk(w)
		m.relay.Store(0)
		if end := w.close(); err == nil && end != nil && !m.murdered.Load() {
			err = end
		}
		for _, line := range w.seen {
			if rawjson.Member([]byte(line), "method") == nil {
				return fmt.Errorf("an answer that nobody waits for: %.300s", line)
			}
		}
		if err != nil {
			return err
		}
	}
}

// count notes how a call was answered.
func (m *mortal) count(text string, right bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if !right {
		m.failed++
		return
	}
	m.right[text] = true
	m.answers.Add(1)
}

// talk calls through one relay until it was killed, or until the end.
func (m *mortal) talk(w *wire) error {
	const hello = `{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},` +
		`"clientInfo":{"name":"mortal","version":"1"}}}`
	if line, err := w.try(hello, "0"); err != nil || line == nil {
		return err // the daemon that it attached to was killed before it said anything
	}
	_, _ = io.WriteString(w.stdin, `{"jsonrpc":"2.0","method":"notifications/initialized"}`+"\n")
	m.relay.Store(int64(w.cmd.Process.Pid))
	for {
		select {
		case <-m.stop:
			return nil
		default:
		}
		n := m.asked.Add(1)
		server, text := "healthy", fmt.Sprintf("%s-%d", m.name, n)
		if n%8 == 0 {
			server = "leaks"
		}
		line, err := w.try(fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{"name":"%s__echo","arguments":{"text":%q}}}`,
			n, server, text), fmt.Sprint(n))
		if err != nil {
			return err
		}
		said, _ := firstText(line)
		m.count(text, said == text)
		switch {
		case line == nil && m.murdered.Load():
			return nil
		case line == nil:
			return fmt.Errorf("the relay ended by itself: %s", w.stderr.String())
		case said != text && rawjson.Member(line, "error") == nil && string(rawjson.Path(line, "result", "isError")) != "true":
			return fmt.Errorf("%s is answered %.300s", text, line)
		}
	}
}

// try sends a request and returns its answer; nil: the relay has ended. A request that has no answer in time is lost.
func (w *wire) try(line, id string) ([]byte, error) {
	_, _ = io.WriteString(w.stdin, line+"\n") // the end of the relay shows below
	late := time.NewTimer(patience)
	defer late.Stop()
	for {
		select {
		case got, ok := <-w.lines:
			if !ok {
				return nil, nil
			}
			if rawjson.Member([]byte(got), "method") == nil && string(rawjson.Member([]byte(got), "id")) == id {
				return []byte(got), nil
			}
			w.seen = append(w.seen, got)
		case <-late.C:
			return nil, fmt.Errorf("lost: no answer within %v to %.200s", patience, line)
		}
	}
}

// works waits until every client has had a right answer from now on.
func (k *killings) works() {
	k.t.Helper()
	var before []int64
	for _, m := range k.clients {
		before = append(before, m.answers.Load())
	}
	if !poll(k.ctx, patience, func() bool {
		return !slices.ContainsFunc(k.clients, func(m *mortal) bool { return m.answers.Load() == before[slices.Index(k.clients, m)] })
	}) {
		k.t.Fatal("a client has no right answer any more")
	}
}

// daemon is the process that owns the project.
func (k *killings) daemon() (pid int) {
	k.t.Helper()
	k.eventually("there is a daemon", func() bool {
		var note struct{ PID int }
		b, err := os.ReadFile(k.state().DaemonLock())
		pid = 0
		if err == nil && json.Unmarshal(b, &note) == nil && syscall.Kill(note.PID, 0) == nil {
			pid = note.PID
		}
		return pid != 0
	})
	return pid
}

// fill writes records until the next few calls begin another segment.
func (k *killings) fill() {
	k.t.Helper()
	dir := filepath.Join(k.state().Folder(), "audit")
	l, err := audit.Open(audit.Options{Dir: dir, Lock: k.state().AuditLock(), KeyDir: k.state().Keys()})
	if err != nil {
		k.t.Fatal(err)
	}
	defer func() { _ = l.Close() }()
	size := func() (size int64) {
		names, _ := filepath.Glob(filepath.Join(dir, "*.jsonl"))
		for _, name := range names[max(0, len(names)-1):] {
			if st, err := os.Stat(name); err == nil {
				size = st.Size()
			}
		}
		return size
	}
	args := []byte(`{"fill":"` + strings.Repeat("x", 14<<10) + `"}`)
	for size() < 64<<20-48<<10 {
		if err := l.Append(k.ctx, audit.Record{ID: audit.NewID(), Kind: audit.Session, Args: args}); err != nil {
			k.t.Fatal(err)
		}
	}
}

// untilRotation waits until the daemon begins another segment.
func (k *killings) untilRotation() {
	k.t.Helper()
	w, err := fsnotify.NewWatcher()
	if err != nil {
		k.t.Fatal(err)
	}
	defer func() { _ = w.Close() }()
	if err := w.Add(filepath.Join(k.state().Folder(), "audit")); err != nil {
		k.t.Fatal(err)
	}
	k.fill()
	late := time.After(patience)
	for {
		select {
		case e := <-w.Events:
			if e.Has(fsnotify.Create) {
				return
			}
		case <-late:
			k.t.Fatal("no other segment was begun")
		}
	}
}

// kill9 kills processes in their order. One that has just ended by itself is none.
func (k *killings) kill9(pids ...int) {
	for _, pid := range pids {
		if pid > 1 {
			_ = syscall.Kill(pid, syscall.SIGKILL)
		}
	}
}

// among is a process whose command line ends with words; 0: there is none at the moment.
func among(pids map[int]string, words string) int {
	for pid, line := range pids {
		if strings.HasSuffix(line, words) && !strings.HasPrefix(line, "sh ") {
			return pid
		}
	}
	return 0
}

// keeperOf is the keeper of a daemon. Those of earlier daemons may still be about to end.
func (k *killings) keeperOf(daemon int) (pid int) {
	k.t.Helper()
	k.eventually("the daemon has a keeper", func() bool {
		all := k.processes()
		below := keeper.Descendants(daemon)
		maps.DeleteFunc(all, func(pid int, _ string) bool { return !slices.Contains(below, pid) })
		pid = among(all, " keeper")
		return pid != 0
	})
	return pid
}

// killPart kills one part. It returns the processes that have to end after that, and their descriptors.
func (k *killings) killPart(part string) (pids map[int]string, fds map[int]int) {
	k.t.Helper()
	switch part {
	case "relay":
		m := k.clients[rand.IntN(len(k.clients))]
		k.eventually("its relay runs", func() bool { return m.relay.Load() != 0 })
		pid := int(m.relay.Load())
		m.murdered.Store(true)
		k.kill9(pid)
		return nil, nil // its end is waited for
	case "rotation":
		k.untilRotation()
	case "reload":
		k.write("skills/echo/SKILL.yaml", k.read("skills/echo/SKILL.yaml")+"# again\n")
		k.must("trust", "--yes")
		<-time.After(time.Duration(rand.IntN(400)) * time.Millisecond) // any moment of the time that noticing and reading take
	}
	daemon, before := k.daemon(), k.processes()
	maps.DeleteFunc(before, func(_ int, line string) bool { return !strings.Contains(line, k.hostile) })
	if part == "server" {
		pid := among(before, k.hostile+" healthy")
		before = map[int]string{pid: before[pid]}
		fds = k.deaths(before)
		k.kill9(pid)
		return before, fds
	}
	fds = k.deaths(before)
	switch part {
	case "keeper":
		k.kill9(k.keeperOf(daemon))
	case "both":
		keeperID := k.keeperOf(daemon)
		_ = syscall.Kill(daemon, syscall.SIGSTOP) // so that neither ends what the other leaves behind
		k.kill9(keeperID, daemon)
	default:
		k.kill9(daemon)
	}
	return before, fds
}

// verdict compares what was answered, executed and recorded.
func (k *killings) verdict(kills map[string]int) {
	k.t.Helper()
	b, err := os.ReadFile(k.executed)
	if err != nil {
		k.t.Fatal(err)
	}
	executed := map[string]int{}
	for text := range strings.FieldsSeq(string(b)) {
		executed[text]++
	}
	decided, ended := map[string]bool{}, map[string]bool{}
	ids := map[string]string{}
	for line, err := range audit.Read(k.ctx, audit.Options{Dir: filepath.Join(k.state().Folder(), "audit")}, audit.Position{}, false) {
		if err != nil {
			k.t.Fatal(err)
		}
		if line.Kind == audit.Decided {
			text, _ := rawjson.Text(rawjson.Path(line.Raw, "args", "text"))
			decided[text], ids[line.ID] = true, text
		}
		if line.Kind == audit.Outcome {
			ended[ids[line.ID]] = true
		}
	}
	lost, doubled, unrecorded := 0, 0, 0
	for text := range k.right {
		if executed[text] == 0 || !ended[text] {
			lost++
		}
	}
	for text, n := range executed {
		if n > 1 {
			doubled++
		}
		if !decided[text] {
			unrecorded++
		}
	}
	k.t.Logf("%v kills; %d calls: %d answered right, %d not; %d executed; %d lost, %d doubled, %d unrecorded",
		kills, k.asked.Load(), len(k.right), k.failed, len(executed), lost, doubled, unrecorded)
	if lost+doubled+unrecorded > 0 || len(k.right) == 0 || k.failed == 0 {
		k.t.Error("a call is lost, executed twice or not recorded; or there was no chaos")
	}
}

// TestKills: whichever part is killed, also while the log rotates or files are read again, each call has one answer or error, is executed
// at most once, and is in the log if it was executed; and what the part kept ends.
func TestKills(t *testing.T) {
	t.Parallel()
	k := newKillings(t)
	n := killCount(t)
	parts := []string{"daemon", "keeper", "relay", "server", "both", "reload"}
	ctx, end := context.WithCancel(k.ctx)
	defer end()
	var all sync.WaitGroup
	for _, m := range k.clients {
		all.Go(func() {
			if err := m.run(); err != nil && ctx.Err() == nil {
				t.Errorf("client %s: %v", m.name, err)
			}
		})
	}
	kills := map[string]int{}
	for i := range n {
		k.works()
		part := parts[i%len(parts)]
		if i%(max(n/8, 25)) == 20 { // a segment has 64 MiB
			part = "rotation"
		}
		kills[part]++
		gone, fds := k.killPart(part)
		k.works()
		k.mustDie(gone, fds)
		if t.Failed() {
			t.Logf("after kill %d, of %s", i, part)
			break
		}
	}
	close(k.stop)
	all.Wait()
	k.verdict(kills)
	k.must("audit", "verify")
}
