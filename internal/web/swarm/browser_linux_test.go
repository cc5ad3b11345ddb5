package swarm_test

import (
	"bufio"
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// tab is a page in a real browser, reached over its debugging pipe.
type tab struct {
	t       *testing.T
	to      *os.File
	from    *bufio.Reader
	session string
	last    int
	said    []string // what the browser logged, and what scripts threw
}

// message is a message of the browser.
type message struct {
	ID     int            `json:"id"`
	Method string         `json:"method"`
	Params jsontext.Value `json:"params"`
	Result jsontext.Value `json:"result"`
	Error  jsontext.Value `json:"error"`
}

// newTab starts Chromium with an empty page.
func newTab(t *testing.T) *tab {
	t.Helper()
	chromium, err := exec.LookPath("chromium")
	if err != nil {
		if os.Getenv("CI") == "true" {
			t.Fatal(err)
		}
		t.Skip("chromium is not here")
	}
	theirs, to, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	from, answers, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), chromium, "--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run",
		"--disable-background-networking", "--remote-debugging-pipe", "--user-data-dir="+t.TempDir(), "--window-size=1440,900")
	cmd.Env = append(os.Environ(), "HOME="+t.TempDir())
	cmd.ExtraFiles = []*os.File{theirs, answers}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	_, _ = theirs.Close(), answers.Close()
	t.Cleanup(func() {
		_, _ = to.Close(), from.Close()
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
	})
	b := &tab{t: t, to: to, from: bufio.NewReader(from)}
	var made struct{ TargetID, SessionID string }
	b.ask(&made, "Target.createTarget", map[string]any{"url": "about:blank"})
	b.ask(&made, "Target.attachToTarget", map[string]any{"targetId": made.TargetID, "flatten": true})
	b.session = made.SessionID
	for _, domain := range []string{"Page", "Runtime", "Log"} {
		b.ask(nil, domain+".enable", nil)
	}
	return b
}

// ask calls a method of the browser.
func (b *tab) ask(into any, method string, params map[string]any) {
	b.t.Helper()
	b.last++
	call := map[string]any{"id": b.last, "method": method}
	if params != nil {
		call["params"] = params
	}
	if b.session != "" {
		call["sessionId"] = b.session
	}
	out, err := json.Marshal(call)
	if err == nil {
		_, err = b.to.Write(append(out, 0))
	}
	for err == nil {
		var line []byte
		if line, err = b.from.ReadBytes(0); err != nil {
			break
		}
		var m message
		if err = json.Unmarshal(line[:len(line)-1], &m); err != nil {
			break
		}
		if m.Method == "Log.entryAdded" || m.Method == "Runtime.exceptionThrown" {
			b.said = append(b.said, string(m.Params))
		}
		if m.ID != b.last {
			continue
		}
		if m.Error != nil {
			b.t.Fatalf("%s: %s", method, m.Error)
		}
		if into != nil {
			err = json.Unmarshal(m.Result, into, json.MatchCaseInsensitiveNames(true))
		}
		if err == nil {
			return
		}
	}
	b.t.Fatalf("%s: %v", method, err)
}

// open loads a page.
func (b *tab) open(url string) {
	b.t.Helper()
	b.ask(nil, "Page.navigate", map[string]any{"url": url})
}

// value is what a script in the page returns, as text. A promise is waited for.
func (b *tab) value(script string) string {
	b.t.Helper()
	var out struct {
		Result struct{ Value string }
	}
	b.ask(&out, "Runtime.evaluate", map[string]any{"expression": "(async () => String(await (" + script + ")))()", "awaitPromise": true,
		"returnByValue": true})
	return out.Result.Value
}

// until waits until a script in the page returns something true.
func (b *tab) until(script string) {
	b.t.Helper()
	got := b.value(`new Promise((done) => {
		const late = setTimeout(() => done("no"), 60000);
		const look = () => {
			let is = false;
			try { is = ` + script + `; } catch {}
			is ? (clearTimeout(late), done("yes")) : setTimeout(look, 50);
		};
		look();
	})`)
	if got != "yes" {
		b.t.Fatalf("%s was never true; the browser says %s; the page: %s", script, strings.Join(b.said, "\n"),
			b.value("document.documentElement.outerHTML"))
	}
}
