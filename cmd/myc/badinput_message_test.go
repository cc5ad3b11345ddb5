package main

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"os/exec"
	"regexp"
	"strings"
	"testing"
	"time"

	"mycelium/internal/rawjson"
)

// The surfaces of a message: a client on lines and one over HTTP, each in both eras. The client is a guest that may become a
// developer; files__write_file exists and is hidden from it.
var badSurfaces = []string{"stdio", "stdio 2026", "http", "http 2026"}

const (
	badMeta = `"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}`
	badInit = `{"jsonrpc":"2.0","id":"init","method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},` +
		`"clientInfo":{"name":"t","version":"1"}}}`
)

// badTalk is a client that sends bytes as they are.
type badTalk interface {
	// say sends a message and returns the whole answer in one line.
	say(message string, headers ...string) string
	// still reports whether the connection goes on: the next good message is answered, and nothing was said in between.
	still() error
}

// badGood is the good message that follows every bad one.
func badGood(modern bool, id string) string {
	meta := ""
	if modern {
		meta = badMeta + ","
	}
	return `{"jsonrpc":"2.0","id":"` + id + `","method":"tools/call","params":{` + meta +
		`"name":"files__read_file","arguments":{"path":"hello.txt"}}}`
}

func isGood(answer string) bool { return strings.Contains(answer, `"text":"hello\n"`) }

// talks makes a client for every surface.
func (w *badWorld) talks() map[string]badTalk {
	token, _ := w.mint("--role", "guest", "--may", "developer")
	w.vars["token"] = token
	talks := map[string]badTalk{
		"stdio":      w.lineTalk(false),
		"stdio 2026": w.lineTalk(true),
		"http":       w.httpTalk(token, false),
		"http 2026":  w.httpTalk(token, true),
	}
	for surface, talk := range talks { // all of them are attached now
		if err := talk.still(); err != nil {
			w.t.Fatalf("%s: %v", surface, err)
		}
	}
	return talks
}

// playMessages sends each row's message ("> ") on every surface. "only: surface, …" names fewer, "silent" means that lines get no
// answer, "header: Name: value" goes with HTTP. {{meta}} is what a message of the revision 2026-07-28 carries, and nothing
// for an older one; {{meta,}} has a comma after it.
func playMessages(t *testing.T, tab *badTable) {
	w := newBadWorld(t)
	w.serve()
	talks := w.talks()
	before, sessions := w.snapshot(w.dir), w.sessions()
	for _, row := range tab.rows {
		t.Run(row.name, func(t *testing.T) {
			rest, want := row.splitAnswers(badSurfaces)
			got := map[string]string{}
			for _, surface := range row.surfaces(rest, badSurfaces) {
				message, silent, headers := row.message(t, rest, w, strings.HasSuffix(surface, "2026"))
				talk := talks[surface]
				answer := "(no answer)"
				if !silent || strings.HasPrefix(surface, "http") {
					answer = w.plain(talk.say(message, headers...))
				} else if lines, ok := talk.(*lineTalk); ok {
					lines.send(message)
				}
				got[surface] = badMatch(t, surface, want.want[surface], answer)
				if err := talk.still(); err != nil {
					t.Errorf("after that, %s: %v", surface, err)
				}
			}
			row.joinAnswers(rest, badSurfaces, got)
		})
	}
	w.unchanged(before)
	if now := w.sessions(); now != sessions {
		t.Errorf("%s sessions before and %s after", sessions, now)
	}
	w.intact()
}

func (r *badRow) surfaces(rest, all []string) []string {
	if _, only, ok := directive(rest, "only"); ok {
		return strings.Split(only, ", ")
	}
	return all
}

func (r *badRow) message(t *testing.T, rest []string, w *badWorld, modern bool) (text string, silent bool, headers []string) {
	vars := map[string]string{"meta": "", "meta,": ""}
	if modern {
		vars["meta"], vars["meta,"] = badMeta, badMeta+","
	}
	for k, v := range w.vars {
		vars[k] = v
	}
	for _, line := range rest {
		switch {
		case strings.HasPrefix(line, "> "):
			text = expandBad(t, line[2:], vars)
		case line == "silent":
			silent = true
		case strings.HasPrefix(line, "header: "):
			headers = append(headers, expandBad(t, line[len("header: "):], vars))
		}
	}
	return text, silent, headers
}

// lineTalk is a real `myc mcp`.
type lineTalk struct {
	t      *testing.T
	in     io.WriteCloser
	out    *bufio.Reader
	modern bool
	count  int
}

func (w *badWorld) lineTalk(modern bool, args ...string) *lineTalk {
	w.t.Helper()
	cmd := w.command(append([]string{"mcp"}, args...)...)
	var errout bytes.Buffer
	cmd.Stderr = &errout
	in, err := cmd.StdinPipe()
	if err != nil {
		w.t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		w.t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		w.t.Fatal(err)
	}
	w.end(cmd, in, &errout)
	l := &lineTalk{t: w.t, in: in, out: bufio.NewReaderSize(out, 1<<20), modern: modern}
	if !modern {
		if a := l.say(badInit); !strings.Contains(a, `"serverInfo"`) {
			w.t.Fatalf("initialize: %s", a)
		}
		l.send(`{"jsonrpc":"2.0","method":"notifications/initialized"}`)
	}
	return l
}

// end ends a client by closing its input, or by force if it hangs.
func (w *badWorld) end(cmd *exec.Cmd, in io.Closer, errout *bytes.Buffer) {
	timer := time.AfterFunc(badPatience, func() { _ = cmd.Process.Kill() })
	w.t.Cleanup(func() {
		_ = in.Close()
		err := cmd.Wait()
		timer.Stop()
		if err != nil {
			w.t.Errorf("%s: %v: %s", strings.Join(cmd.Args, " "), err, errout.String())
		}
	})
}

func (l *lineTalk) send(message string) {
	l.t.Helper()
	if _, err := io.WriteString(l.in, message+"\n"); err != nil {
		l.t.Fatalf("send: %v", err)
	}
}

// next is the next answer; notices that a list changed are passed over.
func (l *lineTalk) next() string {
	l.t.Helper()
	for {
		line, err := l.out.ReadBytes('\n')
		if err != nil {
			l.t.Fatalf("the client hears nothing any more: %v", err)
		}
		if line = bytes.TrimSpace(line); rawjson.Member(line, "method") == nil {
			return string(line)
		}
	}
}

func (l *lineTalk) say(message string, _ ...string) string {
	l.t.Helper()
	l.send(message)
	return l.next()
}

func (l *lineTalk) still() error {
	l.count++
	answer := l.say(badGood(l.modern, fmt.Sprintf("good-%d", l.count)))
	if !isGood(answer) || !strings.Contains(answer, fmt.Sprintf(`"good-%d"`, l.count)) {
		return fmt.Errorf("the next good message got %s", answer)
	}
	return nil
}

var (
	badMethod = regexp.MustCompile(`"method":"([^"]*)"`)
	badName   = regexp.MustCompile(`"(?:name|uri)":"([^"]*)"`)
)
