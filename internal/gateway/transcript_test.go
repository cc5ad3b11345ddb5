package gateway

import (
	"flag"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/txtar"

	"mycelium/internal/gate/session"
)

var update = flag.Bool("update", false, "write what the server says into the transcripts")

// TestTranscripts plays testdata/*.txtar. The file "stdio" of an archive is a conversation on lines, "http" one of exchanges.
// A line that begins with ">" is the client's, a line with "<" the server's, and a run of lines with "<?" comes in any order. "…" stands
// for any text, $SESSION for the id of the last link, $STATE for the last requestState, $TOKEN for the caller's token and $OTHER for that
// of another caller. The caller is a guest that may become a developer.
// An HTTP request is a line "METHOD header: value; header: value" and perhaps a body. A POST has the usual headers unless the line
// names them; a header without a value is left out. An HTTP answer is a line of the status and type, and its body.
func TestTranscripts(t *testing.T) {
	files, err := filepath.Glob("testdata/*.txtar")
	if err != nil || len(files) == 0 {
		t.Fatal(files, err)
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txtar"), func(t *testing.T) {
			archive, err := txtar.ParseFile(file)
			if err != nil {
				t.Fatal(err)
			}
			for i, f := range archive.Files {
				b := newWorld(t)
				s := b.server(Options{MaxBody: 4096, Hosts: []string{"gate.example"}})
				play := map[string]func(*testing.T, *world, *Server, []string) []string{"stdio": playStdio, "http": playHTTP}[f.Name]
				if play == nil {
					t.Fatalf("no transport %q", f.Name)
				}
				lines := strings.Split(strings.TrimRight(string(f.Data), "\n"), "\n")
				archive.Files[i].Data = []byte(strings.Join(play(t, b, s, lines), "\n") + "\n")
			}
			if *update {
				if err := os.WriteFile(file, txtar.Format(archive), 0o600); err != nil {
					t.Fatal(err)
				}
			}
		})
	}
}

var requestStates = regexp.MustCompile(`"requestState":"([^"]*)"`)

// match compares a line with one of the transcript.
func match(t *testing.T, want, got string) string {
	t.Helper()
	if pattern(want).MatchString(got) {
		return want
	}
	if !*update {
		t.Errorf("the server said\n  %s\nwant\n  %s", got, want)
	}
	return got
}

// pattern is a transcript's line as an expression: "…" is any text.
func pattern(want string) *regexp.Regexp {
	parts := strings.Split(want, "…")
	for i, p := range parts {
		parts[i] = regexp.QuoteMeta(p)
	}
	return regexp.MustCompile("^(?s:" + strings.Join(parts, ".*") + ")$")
}

func playStdio(t *testing.T, b *world, s *Server, lines []string) []string {
	p := dial(t, s, b.open("guest", "developer"))
	state := ""
	for i, line := range lines {
		if text, ok := strings.CutPrefix(line, "> "); ok {
			p.send(strings.ReplaceAll(text, "$STATE", state))
		} else if strings.HasPrefix(line, "<?") {
			if i == 0 || !strings.HasPrefix(lines[i-1], "<?") {
				anyOrder(t, p, lines[i:])
			}
		} else if text, ok := strings.CutPrefix(line, "<"); ok {
			got := p.recv()
			if found := requestStates.FindStringSubmatch(got); found != nil {
				state = found[1]
				got = strings.Replace(got, state, "…", 1)
			}
			lines[i] = "< " + match(t, strings.TrimPrefix(text, " "), got)
		}
	}
	p.in.Close()
	for line, err := p.out.Next(); err == nil; line, err = p.out.Next() {
		t.Errorf("the server said besides: %s", line)
	}
	return lines
}

// anyOrder receives as many lines as the run at the beginning of lines has, and matches them in any order.
func anyOrder(t *testing.T, p *pipe, lines []string) {
	t.Helper()
	var want []string
	for _, line := range lines {
		text, ok := strings.CutPrefix(line, "<? ")
		if !ok {
			break
		}
		want = append(want, text)
	}
	for range slices.Clone(want) {
		got := p.recv()
		i := slices.IndexFunc(want, func(w string) bool { return pattern(w).MatchString(got) })
		if i < 0 {
			t.Errorf("the server said\n  %s\nwant one of\n  %s", got, strings.Join(want, "\n  "))
			continue
		}
		want = slices.Delete(want, i, i+1)
	}
}

type httpPlayer struct {
	t         *testing.T
	url       string
	vars      map[string]string
	transport *http.Transport
	session   *session.Session
}

func playHTTP(t *testing.T, b *world, s *Server, lines []string) []string {
	h := httptest.NewServer(s.Handler())
	p := &httpPlayer{t: t, url: h.URL, vars: map[string]string{}, transport: &http.Transport{}}
	t.Cleanup(func() { s.Close(); p.transport.CloseIdleConnections(); h.Close() })
	p.session, p.vars["$TOKEN"] = b.mint("guest", "developer")
	_, p.vars["$OTHER"] = b.mint("guest", "developer")
	var out []string
	for len(lines) > 0 {
		var said, heard []string
		for ; len(lines) > 0 && !strings.HasPrefix(lines[0], "<"); lines = lines[1:] {
			out = append(out, lines[0])
			if text, ok := strings.CutPrefix(lines[0], "> "); ok {
				said = append(said, text)
			}
		}
		for ; len(lines) > 0 && strings.HasPrefix(lines[0], "<"); lines = lines[1:] {
			heard = append(heard, strings.TrimPrefix(lines[0][1:], " "))
		}
		answer := p.exchange(said)
		want := strings.TrimRight(strings.Join(heard, "\n"), "\n")
		for line := range strings.SplitSeq(match(t, want, answer), "\n") {
			out = append(out, strings.TrimRight("< "+line, " "))
		}
	}
	return out
}

// exchange sends one request and returns the answer as text.
func (p *httpPlayer) exchange(said []string) string {
	p.t.Helper()
	method, fields, _ := strings.Cut(said[0], " ")
	body := strings.Join(said[1:], "\n")
	if n := 0; strings.HasPrefix(body, "BIG ") {
		_, _ = fmt.Sscanf(body, "BIG %d", &n)
		body = strings.Repeat(" ", n)
	}
	r, err := http.NewRequestWithContext(p.t.Context(), method, p.url, strings.NewReader(body))
	if err != nil {
		p.t.Fatal(err)
	}
	r.Header.Set("Authorization", "Bearer "+p.vars["$TOKEN"])
	r.Header.Set("Accept", "application/json, text/event-stream")
	if method == http.MethodPost {
		r.Header.Set("Content-Type", "application/json")
	}
	for field := range strings.SplitSeq(fields, "; ") {
		key, value, _ := strings.Cut(field, ":")
		value = strings.TrimSpace(value)
		for k, v := range p.vars {
			value = strings.ReplaceAll(value, k, v)
		}
		switch {
		case key == "":
		case key == "Host":
			r.Host = value
		case value == "":
			r.Header.Del(key)
		default:
			r.Header.Set(key, value)
		}
	}
	res, err := p.transport.RoundTrip(r)
	if err != nil {
		p.t.Fatal(err)
	}
	defer res.Body.Close()
	data, err := io.ReadAll(res.Body)
	if err != nil {
		p.t.Fatal(err)
	}
	if id := res.Header.Get(headerSession); id != "" {
		p.vars["$SESSION"] = id
	}
	answer := fmt.Sprintf("%d %s", res.StatusCode, res.Header.Get("Content-Type"))
	for _, key := range []string{"Allow", "WWW-Authenticate"} {
		if v := res.Header.Get(key); v != "" {
			answer += "; " + key + ": " + v
		}
	}
	return strings.TrimRight(strings.TrimSpace(answer)+"\n"+string(data), "\n")
}
