package gate

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/fstest"
	"time"

	"go.uber.org/goleak"

	"mycelium/internal/audit"
	"mycelium/internal/gate/control"
	"mycelium/internal/gate/limit"
	"mycelium/internal/gate/session"
	"mycelium/internal/gate/view"
	"mycelium/internal/policy"
	"mycelium/internal/skill"
	"mycelium/internal/store"
	"mycelium/internal/telemetry"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// listener is a client that only listens.
type listener func(method string, params []byte)

func (l listener) Capabilities() []byte                { return nil }
func (l listener) Notify(method string, params []byte) { l(method, params) }
func (l listener) Ask(context.Context, string, []byte) (result, rpcErr []byte, err error) {
	return nil, nil, errors.New("nobody is there")
}

// servers are backends in this process.
type servers struct {
	mu      sync.Mutex
	calls   []string
	started []string
	answer  func(ctx context.Context, scope policy.Scope, server, method string, params []byte) (result, rpcErr []byte, err error)
	start   func(ctx context.Context, names []string) error
}

func (b *servers) Do(ctx context.Context, scope policy.Scope, _, server, method string, params []byte, peer Peer) (result, rpcErr []byte,
	err error) {
	b.mu.Lock()
	b.calls = append(b.calls, server+" "+method+" "+string(params))
	answer := b.answer
	b.mu.Unlock()
	if peer != nil {
		peer.Notify("notifications/progress", []byte(`{"progress":1}`))
	}
	if answer != nil {
		return answer(ctx, scope, server, method, params)
	}
	return []byte(`{"content":[{"type":"text","text":"done"}]}`), nil, nil
}

// Subscribe is part of the backends.
func (b *servers) Subscribe(context.Context, string, string, func([]byte)) (stop func(), err error) {
	return func() {}, nil
}

func (b *servers) Start(ctx context.Context, names []string) error {
	b.mu.Lock()
	b.started = append(b.started, names...)
	start := b.start
	b.mu.Unlock()
	if start != nil {
		return start(ctx, names)
	}
	return nil
}

func (b *servers) seen() []string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return slices.Clone(b.calls)
}

// house is a gate with everything real behind it but the backends.
type house struct {
	*Gate
	t    *testing.T
	dir  string
	back *servers
	logs audit.Options
	log  *audit.Log
	db   *store.DB

	says  *slog.Logger     // of the gate; nil: none
	time  func() time.Time // its clock; nil: the real one
	meter *telemetry.Meter // nil: none
}

// plan is what a test's world is made of.
type plan struct {
	tools   []string // server__tool; a "!" before it: readOnlyHint
	skills  []skill.Skill
	roles   []policy.Role
	rules   []policy.Rule
	defs    []policy.Definition
	tmpl    []policy.Definition
	start   []string
	limits  map[string]policy.Limit
	promote string
	search  string // toolSearch
	broken  string
}

// three is the world of the guest, the developer and the admin.
func three() plan {
	return plan{
		tools: []string{
			"!files__read_file", "!files__list_directory", "files__write_file", "files__delete_file",
			"database__query", "database__delete_database", "execution__run_command",
		},
		skills: []skill.Skill{
			{
				Grant: policy.Grant{Name: "reader", AllowedRoles: []string{"guest", "developer", "admin"},
					AllowedTools: []string{"files__read_file", "files__list_directory"}},
				DisplayName: "Reader", Description: "Reads files.", Triggers: []string{"read", "show", "読んで"},
				Instructions: "Read before you write.",
				Dir: fstest.MapFS{
					"SKILL.md": {Data: []byte("---\nallowedTools: [secret__tool]\n---\nRead before you write.")}, "guide.md": {Data: []byte("# Guide")},
					"data/logo.bin": {Data: []byte{0xff, 0, 1}}, ".hidden": {Data: []byte("x")}, "SKILL.yaml": {Data: []byte("name: reader")},
					"link.md": {Data: []byte("../../etc/passwd"), Mode: fs.ModeSymlink},
				},
				Commands: []skill.Command{
					{Name: "show", HandlerType: "tool", ToolName: "files__read_file"},
					{Name: "dir", HandlerType: "tool", ToolName: "files__list_directory"},
				},
			},
			{
				Grant:       policy.Grant{Name: "editor", AllowedRoles: []string{"developer", "admin"}, AllowedTools: []string{"files__write_file"}},
				Description: "Edits files.", Triggers: []string{"edit", "fix"}, Instructions: "Write small changes.",
			},
			{
				Grant:       policy.Grant{Name: "keeper", AllowedRoles: []string{"admin"}, AllowedTools: []string{"database__*", "files__delete_file"}},
				Description: "Keeps the database.", Triggers: []string{"database"}, Instructions: "Be careful.",
			},
		},
		roles: []policy.Role{
			{ID: "developer", Name: "Developer", Prompt: "You work on this repository."},
			{ID: "guest", Description: "Looks around."},
		},
	}
}

func define(name string) policy.Definition {
	name, readOnly := strings.CutPrefix(name, "!")
	server, tool, _ := strings.Cut(name, "__")
	return policy.Definition{
		Item:        policy.Item{Server: server, Name: tool},
		Raw:         fmt.Appendf(nil, `{"name":%q,"description":"Does %s.","inputSchema":{"type":"object"},"x-extra":1.0e2}`, tool, tool),
		Annotations: map[string]bool{"readOnlyHint": readOnly},
	}
}

// world compiles a plan.
func (p plan) world(tb testing.TB, dir string) view.World {
	tb.Helper()
	defs := slices.Concat(control.Definitions(), p.defs)
	for _, name := range p.tools {
		defs = append(defs, define(name))
	}
	lib := skill.Validate(p.skills, skill.Catalog{Definitions: defs})
	for _, k := range lib.All() {
		if k.State != skill.Valid {
			tb.Logf("skill %s is %s: %v", k.Name, k.State, k.Problems)
		}
	}
	src := policy.Source{
		Catalog: defs, Grants: lib.Grants(), Roles: p.roles, Rules: p.rules, Default: p.start, Limits: p.limits, Dir: dir,
		Home:   filepath.Join(dir, "home"),
		Broken: policy.Broken{All: p.broken},
	}
	pol, problems := policy.New(src)
	for _, pr := range problems {
		tb.Logf("policy: %+v", pr)
	}
	return view.World{Policy: pol, Skills: lib, Definitions: defs, Templates: p.tmpl, Promotion: p.promote, ToolSearch: p.search,
		Broken: p.broken}
}

// build makes a gate on a plan, with a log and a database of its own.
func build(t *testing.T, p plan) *house { return buildWith(t, p, nil, nil) }

// buildWith is build with a logger and a clock.
func buildWith(t *testing.T, p plan, logger *slog.Logger, now func() time.Time) *house {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	h := &house{t: t, dir: dir, back: &servers{}, says: logger, time: now}
	h.logs = audit.Options{Dir: filepath.Join(dir, "audit"), Lock: filepath.Join(dir, "audit.lock"), KeyDir: filepath.Join(dir, "key")}
	h.open(p)
	return h
}

// open makes the gate; a second time on the same folder is a restart.
func (h *house) open(p plan) {
	h.t.Helper()
	var err error
	if h.log, err = audit.Open(h.logs); err != nil {
		h.t.Fatal(err)
	}
	log := h.log
	h.t.Cleanup(func() { _ = log.Close() })
	if h.db, err = store.Open(h.t.Context(), "sqlite://"+filepath.Join(h.dir, "myc.db")); err != nil {
		h.t.Fatal(err)
	}
	db := h.db
	h.t.Cleanup(func() { _ = db.Close() })
	h.Gate, err = New(Options{
		Backends: h.back, Log: h.log, DB: h.db, World: p.world(h.t, h.dir), Dir: h.dir, Home: filepath.Join(h.dir, "home"),
		Written: filepath.Join(h.dir, "written"), Limits: limit.Options{Folder: filepath.Join(h.dir, "limits")},
		Reload: func(context.Context) error { return nil }, Logger: h.says, Now: h.clock, Meter: h.meter,
	})
	if err != nil {
		h.t.Fatal(err)
	}
	h.t.Cleanup(h.Close)
}

// clock is the time of the gate.
func (h *house) clock() time.Time {
	if h.time != nil {
		return h.time()
	}
	return time.Now()
}

// restart closes everything and opens it again.
func (h *house) restart(p plan) {
	h.t.Helper()
	h.Close()
	if err := errors.Join(h.log.Close(), h.db.Close()); err != nil {
		h.t.Fatal(err)
	}
	h.open(p)
}

// enter opens a session.
func (h *house) enter(role string, may ...string) *session.Session {
	h.t.Helper()
	s, err := h.Sessions.Open(h.t.Context(), session.Spec{Role: role, Roles: may})
	if err != nil {
		h.t.Fatal(err)
	}
	return s
}

// request is a call of a tool by its text form.
func request(name, args string) Request {
	it, err := policy.ParseTool(name)
	if err != nil {
		it = policy.Item{}
	}
	r := Request{Item: it, Asked: name, Method: "tools/call", Surface: "test"}
	if args != "" {
		r.Args = []byte(args)
	}
	r.Params = fmt.Appendf(nil, `{"name":%q,"arguments":%s}`, it.Name, cmp.Or(args, "{}"))
	return r
}

// ask calls a control tool and decodes its structured content; text is set when the tool said that it failed.
func (h *house) ask(s *session.Session, name, args string) (answer map[string]any, text string) {
	h.t.Helper()
	reply, err := h.Call(h.t.Context(), s, request(name, args))
	if err != nil {
		h.t.Fatalf("%s %s: %v", name, args, err)
	}
	var res struct {
		Content    []struct{ Type, Text string }
		Structured map[string]any `json:"structuredContent"`
		IsError    bool
	}
	if err := json.Unmarshal(reply.Result, &res); err != nil {
		h.t.Fatalf("%s answered %s: %v", name, reply.Result, err)
	}
	if len(res.Content) != 1 || res.Content[0].Type != "text" {
		h.t.Fatalf("%s answered %s", name, reply.Result)
	}
	if res.IsError {
		return nil, res.Content[0].Text
	}
	var fromText map[string]any
	if err := json.Unmarshal([]byte(res.Content[0].Text), &fromText); err != nil {
		h.t.Fatal(err)
	}
	a, b := fmt.Sprint(fromText), fmt.Sprint(res.Structured)
	if a != b {
		h.t.Errorf("%s: text and structured content differ:\n%s\n%s", name, a, b)
	}
	return res.Structured, ""
}

// sees lists the tools of a session that are not control tools.
func (h *house) sees(s *session.Session) []string {
	out := []string{}
	for _, l := range s.List(policy.Tool) {
		if !view.IsOwn(l.Item.Server) {
			out = append(out, l.Item.String())
		}
	}
	return out
}

// lines reads every record of the log.
func (h *house) lines() []map[string]any {
	h.t.Helper()
	files, err := filepath.Glob(filepath.Join(h.logs.Dir, "*"))
	if err != nil {
		h.t.Fatal(err)
	}
	slices.Sort(files)
	var out []map[string]any
	for _, name := range files {
		data, err := os.ReadFile(name)
		if err != nil {
			h.t.Fatal(err)
		}
		for line := range strings.Lines(string(data)) {
			var m map[string]any
			if err := json.Unmarshal([]byte(line), &m); err != nil {
				h.t.Fatalf("line %q: %v", line, err)
			}
			out = append(out, m)
		}
	}
	return out
}

// records are the lines of one kind.
func (h *house) records(kind audit.Kind) []map[string]any {
	h.t.Helper()
	return slices.DeleteFunc(h.lines(), func(m map[string]any) bool { return m["kind"] != string(kind) })
}

// last is the newest record of a kind.
func (h *house) last(kind audit.Kind) map[string]any {
	h.t.Helper()
	all := h.records(kind)
	if len(all) == 0 {
		h.t.Fatalf("no %s record", kind)
	}
	return all[len(all)-1]
}

// closed reports whether a channel is closed.
func closed(ch <-chan struct{}) bool {
	select {
	case <-ch:
		return true
	default:
		return false
	}
}

// denied is the refusal in an error.
func denied(tb testing.TB, err error) *DeniedError {
	tb.Helper()
	var d *DeniedError
	if !errors.As(err, &d) {
		tb.Fatalf("not a refusal: %v", err)
	}
	return d
}
