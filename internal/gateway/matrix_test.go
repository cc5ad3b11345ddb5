package gateway

import (
	"bytes"
	"context"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"mycelium/internal/audit"
	"mycelium/internal/backend"
	"mycelium/internal/gate"
	"mycelium/internal/gate/control"
	"mycelium/internal/gate/view"
	"mycelium/internal/policy"
	"mycelium/internal/rawjson"
	"mycelium/internal/rpc"
	"mycelium/internal/skill"
	"mycelium/internal/store"
)

// matrixDoc is the page with the table.
const matrixDoc = "../../docs/proofs/protocol-matrix.md"

// TestProtocolMatrix puts a client of every revision, over stdio and HTTP, before a server of every revision, and tries list, call,
// list_changed, cancellation, progress and a question of the server to the client. What works is the table in
// docs/proofs/protocol-matrix.md.
func TestProtocolMatrix(t *testing.T) {
	if testing.Short() {
		t.Skip("100 conversations")
	}
	b, s := matrixWorld(t)
	table := &matrixTable{cells: map[string]string{}}
	transports := []string{"stdio", "HTTP"}
	all := versions()
	slices.Reverse(all)
	clients := map[string]*speaker{}
	for _, client := range all {
		clients[client+" stdio"], clients[client+" HTTP"] = overLines(t, b, s, client), overHTTP(t, b, s, client)
	}
	// The parts one after the other, the clients side by side. Cancellation comes last: for a minute after a call was given up, what a
	// server of the old era asks over stdio reaches nobody, because it might still be about that call.
	for _, part := range []func(*speaker, string, string, string) string{(*speaker).cell, (*speaker).grown, (*speaker).cancel} {
		var work sync.WaitGroup
		for ci, client := range all {
			for ti, transport := range transports {
				work.Go(func() {
					p := clients[client+" "+transport]
					for i := range all {
						bi := (i + 2*ci + ti) % len(all)
						// The server's side alternates, so that each revision is tried over both. One client at a time: what a server of
						// the old era asks over stdio names no call, so that it reaches a client only where one call is under way.
						name := matrixName(all[bi], (ci+bi+ti)%2)
						lock, _ := table.busy.LoadOrStore(name, &sync.Mutex{})
						lock.(*sync.Mutex).Lock()
						table.add(client, transport, all[bi], part(p, name, client+" "+transport, all[bi]))
						lock.(*sync.Mutex).Unlock()
					}
				})
			}
		}
		work.Wait()
		if p := clients[v20251125+" stdio"]; !table.grew {
			for _, v := range all { // every server gains a tool, once: a server that changes often is not asked each time
				p.call(matrixName(v, 0)+"__grow", `{"cell":"new"}`, "")
				p.call(matrixName(v, 1)+"__grow", `{"cell":"new"}`, "")
			}
			table.grew = true
		}
	}
	got := table.text(all, transports)
	if *update {
		if err := os.WriteFile(matrixDoc, got, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(matrixDoc)
	if err != nil || !bytes.Equal(got, want) {
		t.Errorf("docs/proofs/protocol-matrix.md differs (%v); go test ./internal/gateway -run TestProtocolMatrix -update writes "+
			"it:\n%s", err, got)
	}
}

// cell tries every feature between a client and one server, and returns a letter for each that works.
func (p *speaker) cell(server, me, revision string) string {
	tool, id := server+"__", matrixID(me)
	works := p.try("L", p.lists(tool+"echo"), me, server)
	works += p.try("C", bytes.Contains(p.call(tool+"echo", `{}`, ""), []byte(matrixAnswer)), me, server)
	token := `"` + server + id + `"`
	progress := p.listens(token)
	p.call(tool+"progress", `{}`, `"progressToken":`+token)
	works += p.try("P", <-progress+<-progress == "12", me, server)
	letter, question := "E", elicit
	if p.revision < v20250618 || revision < v20250618 {
		letter, question = "S", `{"method":"sampling/createMessage","params":{"messages":[],"maxTokens":1}}`
	}
	answer := p.call(tool+"ask", `{"request":`+question+`}`, "")
	return works + p.try(letter, bytes.Contains(answer, rawjson.Quote("theirs"+p.said)), me, server)
}

func (p *speaker) lists(tool string) bool {
	return bytes.Contains(p.request("tools/list", `{}`, ""), []byte(`"name":"`+tool+`"`))
}

// grown waits for the notice that the server has a new tool.
func (p *speaker) grown(server, me, _ string) string {
	for told := false; ; told = true {
		if p.lists(server+"__new") && (told || p.told()) {
			return p.try("N", true, me, server)
		}
		<-p.changed
	}
}

// cancel cancels a call after its first notice of progress.
func (p *speaker) cancel(server, me, _ string) string {
	tool, id := server+"__", matrixID(me)
	token := `"x` + server + id + `"`
	progress := p.listens(token)
	ctx, hangUp := context.WithCancel(p.t.Context())
	defer hangUp()
	request, _ := p.start(ctx, "tools/call", `{"name":"`+tool+`slow","arguments":{"cell":"`+id+`"}}`, `"progressToken":`+token)
	<-progress
	if p.modern() {
		hangUp() // over HTTP that is it
	}
	p.send(p.t.Context(), rpc.Message{Method: "notifications/cancelled", Params: []byte(`{"requestId":` + request + `}`)}, "")
	p.call(tool+"ended", `{"cell":"`+id+`"}`, "") // answers when the slow call was cancelled
	return p.try("X", true, me, server)
}

func (p *speaker) try(letter string, ok bool, me, server string) string {
	if ok {
		return letter
	}
	p.t.Errorf("%s before %s: %s does not work", me, server, letter)
	return "·"
}

func matrixID(me string) string { return strings.NewReplacer("-", "", " ", "").Replace(me) }

// matrixTable gathers the cells.
type matrixTable struct {
	mu    sync.Mutex
	cells map[string]string

	busy sync.Map // a lock for each server
	grew bool
}

func (m *matrixTable) add(client, transport, server, cell string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.cells[client+transport+server] += cell
}

func (m *matrixTable) text(all, transports []string) []byte {
	var b bytes.Buffer
	b.WriteString(`# Protocol matrix

This table shows what works between a client of one MCP revision and a server of another, with Mycelium between them.
` + "`TestProtocolMatrix` in `internal/gateway` writes it." + `
The client speaks exactly the revision of the row, over the transport of the row. The server speaks exactly the revision of the column,
alternately over stdio and HTTP.

- L: tools/list
- C: tools/call; unknown content kinds and 20-digit integers pass byte for byte
- P: progress with the client's own token
- E: the server asks the client by elicitation, and gets the answer, as a request of its own or as input_required
- S: the same by sampling, if one of the two revisions has no elicitation
- N: list_changed after the server gained a tool, and the new list
- X: a cancellation reaches the server
- a dot: does not work

| client | transport |`)
	for _, v := range all {
		b.WriteString(" server " + v + " |")
	}
	b.WriteString("\n| --- | --- |" + strings.Repeat(" --- |", len(all)) + "\n")
	for _, c := range all {
		for _, tr := range transports {
			b.WriteString("| " + c + " | " + tr + " |")
			for _, v := range all {
				b.WriteString(" " + m.cells[c+tr+v] + " |")
			}
			b.WriteString("\n")
		}
	}
	return b.Bytes()
}

// matrixName is the name of the server of a revision, over stdio (0) or HTTP (1).
func matrixName(revision string, over int) string {
	return []string{"lines", "http"}[over] + "-" + revision
}

// matrixWorld is a gate before a real pool with two servers of every revision, all of whose tools a tester sees.
func matrixWorld(t *testing.T) (*world, *Server) {
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	var servers []backend.Server
	for _, v := range versions() {
		h := httptest.NewServer(&oneRevisionHTTP{
			oneRevision: newOneRevision(v), asks: map[string]chan rpc.Message{}, gets: map[chan string]bool{},
		})
		t.Cleanup(func() { h.CloseClientConnections(); h.Close() })
		servers = append(servers,
			backend.Server{Name: matrixName(v, 0), Type: "stdio", Command: self, Env: map[string]string{"MATRIX_SERVER": v}},
			backend.Server{Name: matrixName(v, 1), Type: "http", URL: h.URL})
	}
	pool, err := backend.New(servers, backend.Options{Dir: dir})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	var work sync.WaitGroup
	work.Go(func() { _ = pool.Run(ctx) })
	t.Cleanup(func() { cancel(); work.Wait(); http.DefaultTransport.(*http.Transport).CloseIdleConnections() })
	for _, s := range servers {
		if err := pool.Learn(t.Context(), s.Name); err != nil {
			t.Fatalf("%s: %v", s.Name, err)
		}
	}
	o := audit.Options{Dir: filepath.Join(dir, "audit"), Lock: filepath.Join(dir, "audit.lock"), KeyDir: filepath.Join(dir, "key")}
	log, err := audit.Open(o)
	if err != nil {
		t.Fatal(err)
	}
	db, err := store.Open(t.Context(), "sqlite://"+filepath.Join(dir, "myc.db"))
	if err != nil {
		t.Fatal(err)
	}
	b := &world{t: t, log: o}
	b.Gate, err = gate.New(gate.Options{Backends: pool, Log: log, DB: db, World: matrixPolicy(t, pool.Catalog()), Dir: dir, Home: dir})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { b.Close(); _ = log.Close(); _ = db.Close() })
	work.Go(func() {
		for {
			changed := pool.Changed()
			b.Swap(matrixPolicy(t, pool.Catalog()))
			select {
			case <-changed:
			case <-ctx.Done():
				return
			}
		}
	})
	return b, b.server(Options{Idle: time.Hour})
}

func matrixPolicy(t *testing.T, c backend.Catalog) view.World {
	grant := policy.Grant{Name: "all", AllowedRoles: []string{"tester"}}
	for name := range c.Servers {
		grant.AllowedTools = append(grant.AllowedTools, name+"__*")
	}
	slices.Sort(grant.AllowedTools)
	defs := append(control.Definitions(), c.Definitions...)
	lib := skill.Validate([]skill.Skill{{Grant: grant, Description: "All."}}, skill.Catalog{Definitions: defs})
	pol, problems := policy.New(policy.Source{
		Catalog: defs, Grants: lib.Grants(), Roles: []policy.Role{{ID: "tester"}, {ID: "guest"}, {ID: "developer"}},
	})
	for _, p := range problems {
		if !p.Warning {
			t.Errorf("policy: %+v", p)
		}
	}
	return view.World{ToolSearch: "off", Policy: pol, Skills: lib, Definitions: defs, Servers: map[string]view.Server{}}
}
