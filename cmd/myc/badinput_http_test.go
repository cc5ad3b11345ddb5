package main

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"mycelium/internal/rawjson"
)

// httpTalk sends requests over one connection, written by hand, because what is bad about them is what a library would mend.
type httpTalk struct {
	w       *badWorld
	token   string
	session string // Mcp-Session-Id; empty: the client is of the revision 2026-07-28
	modern  bool
	conn    net.Conn
	in      *bufio.Reader
	dials   int
}

func (w *badWorld) httpTalk(token string, modern bool) *httpTalk {
	w.t.Helper()
	h := &httpTalk{w: w, token: token, modern: modern}
	if !modern {
		res, body := h.do("POST", "/mcp", []string{"Mcp-Protocol-Version:"}, badInit, false)
		if h.session = res.Header.Get("Mcp-Session-Id"); h.session == "" {
			w.t.Fatalf("initialize: %s %s", res.Status, body)
		}
	}
	w.t.Cleanup(func() {
		if h.conn != nil {
			_ = h.conn.Close()
		}
	})
	return h
}

// fields are the headers of a request: the usual ones, changed by lines "Name: value". The first line of a name replaces, further ones
// add, and one without a value removes.
func (h *httpTalk) fields(body string, lines []string) []string {
	fields := []string{
		"Host: " + h.w.addr, "Authorization: Bearer " + h.token, "Content-Type: application/json",
		"Accept: application/json, text/event-stream",
	}
	if h.modern {
		fields = append(fields, "Mcp-Protocol-Version: 2026-07-28")
		if m := badMethod.FindStringSubmatch(body); m != nil {
			fields = append(fields, "Mcp-Method: "+m[1])
		}
		if m := badName.FindStringSubmatch(body); m != nil {
			fields = append(fields, "Mcp-Name: "+m[1])
		}
	} else {
		fields = append(fields, "Mcp-Session-Id: "+h.session, "Mcp-Protocol-Version: 2025-11-25")
	}
	changed := map[string]bool{}
	for _, line := range lines {
		name, value, _ := strings.Cut(line, ":")
		if !changed[name] {
			kept := fields[:0]
			for _, f := range fields {
				if n, _, _ := strings.Cut(f, ":"); n != name {
					kept = append(kept, f)
				}
			}
			fields, changed[name] = kept, true
		}
		if strings.TrimSpace(value) != "" {
			fields = append(fields, line)
		}
	}
	return fields
}

// do sends one request and reads its answer. A connection that the server closed is made anew.
func (h *httpTalk) do(method, target string, changes []string, body string, chunked bool) (*http.Response, string) {
	h.w.t.Helper()
	if h.conn == nil {
		conn, err := net.Dial("tcp", h.w.addr)
		if err != nil {
			h.w.t.Fatal(err)
		}
		h.conn, h.in = conn, bufio.NewReader(conn)
		h.dials++
		_ = conn.SetDeadline(time.Now().Add(badPatience))
	}
	var b strings.Builder
	fmt.Fprintf(&b, "%s %s HTTP/1.1\r\n", method, target)
	for _, f := range h.fields(body, changes) {
		b.WriteString(f + "\r\n")
	}
	if chunked {
		fmt.Fprintf(&b, "Transfer-Encoding: chunked\r\n\r\n%x\r\n%s\r\n0\r\n\r\n", len(body), body)
	} else {
		fmt.Fprintf(&b, "Content-Length: %d\r\n\r\n%s", len(body), body)
	}
	// A server that refuses need not read it all, so a failed write is no failure: the answer says what was wrong.
	go func(conn net.Conn) { _, _ = io.WriteString(conn, b.String()) }(h.conn)
	res, err := http.ReadResponse(h.in, &http.Request{Method: method})
	if err != nil {
		h.w.t.Fatalf("no answer: %v", err)
	}
	data, err := io.ReadAll(res.Body)
	if err != nil {
		h.w.t.Fatalf("the answer broke off: %v", err)
	}
	if res.Close {
		_ = h.conn.Close()
		h.conn = nil
	}
	text := strings.TrimSpace(string(data))
	if strings.HasPrefix(res.Header.Get("Content-Type"), "text/event-stream") {
		for line := range strings.Lines(text) {
			if d, ok := strings.CutPrefix(strings.TrimSpace(line), "data: "); ok && rawjson.Member([]byte(d), "method") == nil {
				text = d
			}
		}
	}
	return res, text
}

func (h *httpTalk) say(message string, headers ...string) string {
	h.w.t.Helper()
	res, text := h.do(http.MethodPost, "/mcp", headers, message, false)
	return strings.TrimSpace(fmt.Sprintf("%d %s", res.StatusCode, text))
}

func (h *httpTalk) still() error {
	if answer := h.say(badGood(h.modern, "good")); !isGood(answer) {
		return fmt.Errorf("the next good message got %s", answer)
	}
	return nil
}

// playRequests sends each row's request: a line "METHOD target", lines "Name: value" that change the usual headers, perhaps "chunked",
// "2026" for a client of that revision, and "> body" (a good message, if left out). The answer begins with "= ": status, headers that
// matter, body.
func playRequests(t *testing.T, tab *badTable) {
	w := newBadWorld(t)
	w.serve()
	token, id := w.mint("--role", "guest", "--may", "developer")
	other, _ := w.mint("--role", "guest")
	ended, endedID := w.mint("--role", "developer")
	expired, _ := w.mint("--role", "developer", "--ttl", "1ns")
	if o := w.run("", "session", "end", endedID); o.code != 0 {
		t.Fatalf("session end: %+v", o)
	}
	old, modern := w.httpTalk(token, false), w.httpTalk(token, true)
	foreign := w.httpTalk(other, false)
	for k, v := range map[string]string{
		"token": token, "ended": ended, "expired": expired, "id": id, "session": old.session, "foreign": foreign.session,
		"half": token[:20], "forged": forged(token), "upper": strings.ToUpper(token),
	} {
		w.vars[k] = v
	}
	before, sessions := w.snapshot(w.dir), w.sessions()
	for _, row := range tab.rows {
		t.Run(row.name, func(t *testing.T) {
			h := old
			var rest, changes []string
			method, target, body, want, chunked := "POST", "/mcp", "", "", false
			for i, line := range row.lines {
				if text, ok := strings.CutPrefix(line, "= "); ok {
					want = text
					continue
				}
				rest = append(rest, line)
				switch text := expandBad(t, line, w.vars); {
				case i == 0:
					method, target, _ = strings.Cut(text, " ")
				case text == "2026":
					h = modern
				case text == "chunked":
					chunked = true
				case strings.HasPrefix(text, "> "):
					body = text[2:]
				default:
					changes = append(changes, text)
				}
			}
			if body == "" && method != http.MethodGet && method != http.MethodDelete {
				body = badGood(h.modern, "1")
			}
			body = strings.ReplaceAll(body, "{meta}", badMeta)
			res, text := h.do(method, target, changes, body, chunked)
			got := fmt.Sprint(res.StatusCode)
			for _, key := range []string{"Allow", "WWW-Authenticate"} {
				if v := res.Header.Get(key); v != "" {
					got += " " + key + ": " + v + ";"
				}
			}
			got = w.plain(strings.TrimSpace(got + " " + text))
			rest = append(rest, "= "+badMatch(t, "http", want, got))
			row.lines = rest
			for _, h := range []*httpTalk{old, modern} {
				if err := h.still(); err != nil {
					t.Errorf("after that: %v", err)
				}
			}
		})
	}
	w.unchanged(before)
	if now := w.sessions(); now != sessions {
		t.Errorf("%s sessions before and %s after", sessions, now)
	}
	w.intact()
}

// forged is a token that differs in one character.
func forged(token string) string {
	other := "A"
	if token[20] == 'A' {
		other = "B"
	}
	return token[:20] + other + token[21:]
}
