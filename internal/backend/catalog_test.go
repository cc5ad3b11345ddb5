package backend

import (
	"bytes"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"mycelium/internal/policy"
)

func TestNamesOfACatalog(t *testing.T) {
	t.Parallel()
	p := newPool(t, Options{}, play(t, "s", "play-fake", "names"))
	if err := p.Learn(testContext(t), "s"); err != nil {
		t.Fatal(err)
	}
	if got := names(p.Catalog()); !slices.Equal(got, []string{"s__a__b", "s__good"}) {
		t.Errorf("catalog %q", got)
	}
	st := p.Status()[0]
	want := []string{
		`tools "": a name has 1 to 128 letters, digits, '_', '.' and '-'`,
		`tools "has space": a name has 1 to 128 letters, digits, '_', '.' and '-'`,
		`tools "y": a second member is a case variant of "name"`,
		`tools "ünï": a name has 1 to 128 letters, digits, '_', '.' and '-'`,
		`tools Twin, twin: 2 definitions have one name (or differ only in case); none is used`,
		`tools same: 2 definitions have one name (or differ only in case); none is used`,
		`tools: an item is not an object`,
	}
	if d := cmp.Diff(want, st.LeftOut); d != "" {
		t.Error(d)
	}
	if st.State != StateReady || st.Tools != 2 || !strings.HasPrefix(st.Error, "7 left out of its catalog") {
		t.Errorf("%+v", st)
	}
}

func TestCatalogIsKept(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	s := play(t, "s", "play-sdk")
	first := newPool(t, Options{Catalogs: dir}, s)
	if c := first.Catalog(); c.Pending["s"] != "its catalog is not learned yet" || len(c.Definitions) != 0 {
		t.Errorf("%+v", c)
	}
	if err := first.Learn(testContext(t), "s"); err != nil {
		t.Fatal(err)
	}
	want := first.Catalog()
	second := newPool(t, Options{Catalogs: dir}, s)
	if d := cmp.Diff(want, second.Catalog()); d != "" {
		t.Error(d)
	}
	if st := second.Status()[0]; st.State != StateIdle || st.Tools != 13 {
		t.Errorf("it was started to be listed: %+v", st)
	}
	changed := s
	changed.Args = []string{"play-sdk", "2025-11-25"}
	third := newPool(t, Options{Catalogs: dir}, changed)
	if c := third.Catalog(); len(c.Definitions) != 0 || c.Pending["s"] == "" {
		t.Errorf("the catalog of another command line is used: %+v", c)
	}
	if info, err := os.Stat(filepath.Join(dir, "s.json")); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("%v, %v", info, err)
	}
	if err := os.WriteFile(filepath.Join(dir, "s.json"), []byte(`{"torn":`), 0o600); err != nil {
		t.Fatal(err)
	}
	if c := newPool(t, Options{Catalogs: dir}, s).Catalog(); c.Pending["s"] == "" {
		t.Errorf("a torn file is used: %+v", c)
	}
}

func TestSecretsDoNotReachTheCatalog(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	s := play(t, "s", "play-fake", "leaks")
	s.Env = map[string]string{"TOKEN": "${T}"}
	p := newPool(t, Options{Catalogs: dir, Environ: []string{`T=se"cret`}}, s)
	if err := p.Learn(testContext(t), "s"); err != nil {
		t.Fatal(err)
	}
	if raw := string(p.Catalog().Definitions[0].Raw); raw != `{"name":"t","description":"token ${T}"}` {
		t.Errorf("definition %s", raw)
	}
	b, err := os.ReadFile(filepath.Join(dir, "s.json"))
	if err != nil || bytes.Contains(b, []byte("cret")) {
		t.Errorf("%s, %v", b, err)
	}
}

func TestCatalogsWithoutEnd(t *testing.T) {
	t.Parallel()
	for mode, want := range map[string]string{
		"endless": "over 200 pages", "circle": "a cursor leads to itself",
	} {
		p := newPool(t, Options{}, play(t, "s", "play-fake", mode))
		err := p.Learn(testContext(t), "s")
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", mode, err)
		}
		if c := p.Catalog(); !strings.Contains(c.Pending["s"], want) {
			t.Errorf("%s: %+v", mode, c)
		}
	}
}

func TestHintsOfTrustedServersOnly(t *testing.T) {
	t.Parallel()
	s := play(t, "s", "play-fake", "good")
	p := newPool(t, Options{}, s)
	if err := p.Learn(testContext(t), "s"); err != nil {
		t.Fatal(err)
	}
	if a := p.Catalog().Definitions[0].Annotations; a != nil {
		t.Errorf("hints of a server that is not trusted: %v", a)
	}
	changed := p.Changed()
	s.Trust = true
	if err := p.Reconfigure([]Server{s}); err != nil {
		t.Fatal(err)
	}
	if a := p.Catalog().Definitions[0].Annotations; len(a) != 1 || !a["readOnlyHint"] {
		t.Errorf("hints %v", a)
	}
	select {
	case <-changed:
	default:
		t.Error("nobody was told")
	}
	if st := p.Status()[0]; st.State != StateReady {
		t.Errorf("the server was stopped for a change that does not concern it: %+v", st)
	}
}

func TestRunLearnsWhatWasNeverSeen(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	starts := filepath.Join(t.TempDir(), "starts")
	bad := play(t, "bad", "play-fake", "not-a-server")
	good := play(t, "good", "play-fake", "good", starts)
	off := play(t, "off", "play-fake", "good")
	off.Disabled = true
	p := newPool(t, Options{Catalogs: dir, Dir: t.TempDir()}, bad, good, off)
	ctx, stop := testStop(t)
	done := make(chan error, 1)
	go func() { done <- p.Run(ctx) }()
	waitFor(t, func() bool {
		c := p.Catalog()
		return len(c.Definitions) == 1 && strings.Contains(c.Pending["bad"], "exit status 2")
	})
	late := play(t, "late", "play-fake", "good")
	if err := p.Reconfigure([]Server{bad, good, off, late}); err != nil {
		t.Fatal(err)
	}
	waitFor(t, func() bool { return slices.Equal(names(p.Catalog()), []string{"good__t", "late__t"}) })
	if n := countLines(t, starts); n != 1 {
		t.Errorf("a server that did not change was started %d times", n)
	}
	if _, _, err := p.Do(ctx, policy.Scope{}, "", "off", "tools/call", nil, nil); err == nil || !strings.Contains(err.Error(), "disabled") {
		t.Errorf("error %v", err)
	}
	if err := p.Reconfigure([]Server{bad, late}); err != nil {
		t.Fatal(err)
	}
	_, _, err := p.Do(ctx, policy.Scope{}, "", "good", "tools/call", nil, nil)
	if err == nil || err.Error() != `server "good": no such server` {
		t.Errorf("error %v", err)
	}
	stop()
	if err := <-done; err != nil {
		t.Error(err)
	}
	if err := p.Start(testContext(t), []string{"late"}); err == nil {
		t.Error("a pool that ended starts servers")
	}
}

func TestListChanged(t *testing.T) {
	t.Parallel()
	for name, server := range map[string]func(t *testing.T) Server{
		"stdio":        func(t *testing.T) Server { return play(t, "s", "play-sdk") },
		"stdio modern": func(t *testing.T) Server { return play(t, "s", "play-sdk", "2026-07-28") },
		"http":         func(t *testing.T) Server { return Server{Name: "s", URL: serveHTTP(t, sdkHandler(nil, nil))} },
		"http modern": func(t *testing.T) Server {
			return Server{Name: "s", URL: serveHTTP(t, sdkHandler(&mcp.ServerOptions{SupportedProtocolVersions: []string{"2026-07-28"}},
				&mcp.StreamableHTTPOptions{Stateless: true}))}
		},
	} {
		t.Run(name, func(t *testing.T) {
			p := newPool(t, Options{}, server(t))
			ctx := testContext(t)
			if err := p.Learn(ctx, "s"); err != nil {
				t.Fatal(err)
			}
			if name != "stdio" { // the stream of notices is opened beside the calls
				<-p.entry("s").conn.Listening()
			}
			changed := p.Changed()
			if _, _, err := p.Do(ctx, policy.Scope{}, "", "s", "tools/call", []byte(`{"name":"grow","arguments":{}}`), nil); err != nil {
				t.Fatal(err)
			}
			select {
			case <-changed:
			case <-ctx.Done():
				t.Fatal("nobody was told of the change")
			}
			if got := names(p.Catalog()); !slices.Contains(got, "s__grown") {
				t.Errorf("catalog %q", got)
			}
		})
	}
}

func TestServerThatNeverStopsTelling(t *testing.T) {
	t.Parallel()
	p := newPool(t, Options{}, play(t, "s", "play-fake", "nags"))
	ctx := testContext(t)
	begin := time.Now()
	for range 3 {
		changed := p.Changed()
		if err := p.Start(ctx, []string{"s"}); err != nil {
			t.Fatal(err)
		}
		select {
		case <-changed:
		case <-ctx.Done():
			t.Fatal("nothing was learned")
		}
	}
	if d := time.Since(begin); d < relearnMin {
		t.Errorf("asked three times in %v", d)
	}
}
