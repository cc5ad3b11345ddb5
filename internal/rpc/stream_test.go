package rpc

import (
	"bytes"
	"context"
	"errors"
	"io"
	"strings"
	"testing"
	"testing/iotest"
	"time"

	"github.com/google/go-cmp/cmp"
)

func readLines(t *testing.T, r io.Reader, limit int) []string {
	t.Helper()
	var got []string
	for l := NewLines(r, limit); ; {
		line, err := l.Next()
		switch {
		case errors.Is(err, io.EOF):
			return got
		case errors.Is(err, ErrTooLong):
			got = append(got, "TOO LONG")
		case err != nil:
			return append(got, "ERROR "+err.Error())
		default:
			got = append(got, string(line))
		}
	}
}

func TestLines(t *testing.T) {
	long := strings.Repeat("x", 100_000)
	for _, tt := range []struct {
		name, in string
		limit    int
		want     []string
	}{
		{"plain", "a\nb\n", 0, []string{"a", "b"}},
		{"empty lines, CR, blanks", "\n\r\n  \na\r\n\n b \r\n", 0, []string{"a", "b"}},
		{"last without newline", "a\nb", 0, []string{"a", "b"}},
		{"exactly the limit", "abc\nabcd\nabc\r\nabcd", 3, []string{"abc", "TOO LONG", "abc", "TOO LONG"}},
		{"longer than the buffer", long + "\nb\n" + long, 100_000, []string{long, "b", long}},
		{"skipped whole", long + "y\nb\n" + long + "y", 100_000, []string{"TOO LONG", "b", "TOO LONG"}},
		{"far over", long + long + long + "\nb\n", 10, []string{"TOO LONG", "b"}},
		{"nothing", "", 0, nil},
	} {
		for _, r := range []io.Reader{strings.NewReader(tt.in), iotest.OneByteReader(strings.NewReader(tt.in)),
			iotest.DataErrReader(strings.NewReader(tt.in))} {
			if d := cmp.Diff(tt.want, readLines(t, r, tt.limit)); d != "" {
				t.Errorf("%s: %s", tt.name, d)
			}
		}
	}
	broken := io.MultiReader(strings.NewReader("a\nb"), iotest.ErrReader(errors.New("boom")))
	if d := cmp.Diff([]string{"a", "ERROR boom"}, readLines(t, broken, 0)); d != "" {
		t.Error(d)
	}
}

func TestLinesRest(t *testing.T) {
	l := NewLines(strings.NewReader("first\nsecond\nthird"), 0)
	if line, err := l.Next(); err != nil || string(line) != "first" {
		t.Fatal(line, err)
	}
	if rest, err := io.ReadAll(l.Rest()); err != nil || string(rest) != "second\nthird" {
		t.Errorf("%q, %v", rest, err)
	}
}

func FuzzLines(f *testing.F) {
	f.Add([]byte("a\r\n\nbb\nccccccc"), 4)
	f.Fuzz(func(t *testing.T, b []byte, limit int) {
		limit = 1 + (limit&0xff)%40
		var want []string
		for _, line := range strings.Split(string(b), "\n") {
			if len(strings.TrimRight(line, "\r\n")) > limit {
				want = append(want, "TOO LONG")
			} else if line = strings.Trim(line, " \t\r\n"); line != "" {
				want = append(want, line)
			}
		}
		if d := cmp.Diff(want, readLines(t, bytes.NewReader(b), limit)); d != "" {
			t.Errorf("%q: %s", b, d)
		}
	})
}

func readEvents(t *testing.T, r io.Reader, limit int) ([]Event, error) {
	t.Helper()
	var got []Event
	err := Events(t.Context(), r, limit, func(e Event) bool { got = append(got, e); return true })
	return got, err
}

func TestEvents(t *testing.T) {
	for _, tt := range []struct {
		name, in string
		want     []Event
	}{
		{"plain", "data: {}\n\ndata: 2\n\n", []Event{{Data: []byte("{}")}, {Data: []byte("2")}}},
		{"all fields", "event: message\nid: 7\nretry: 1500\ndata:x\n\n",
			[]Event{{ID: "7", Event: "message", Data: []byte("x"), Retry: 1500 * time.Millisecond}}},
		{"several lines", "data: a\ndata:  b\ndata\ndata: c\n\n", []Event{{Data: []byte("a\n b\n\nc")}}},
		{"CRLF", "id: 1\r\ndata: a\r\n\r\ndata: b\r\n\r\n", []Event{{ID: "1", Data: []byte("a")}, {Data: []byte("b")}}},
		{"CR", "data: a\r\rdata: b\r\r", []Event{{Data: []byte("a")}, {Data: []byte("b")}}},
		{"comments and unknown fields", ": keep-alive\n\nfoo: bar\n: x\n\ndata: a\n\n", []Event{{Data: []byte("a")}}},
		{"priming event", "id: 0\ndata:\n\n", []Event{{ID: "0", Data: []byte{}}}},
		{"BOM", "\xef\xbb\xbfdata: a\n\n", []Event{{Data: []byte("a")}}},
		{"end without blank line", "data: a\n\ndata: b", []Event{{Data: []byte("a")}, {Data: []byte("b")}}},
		{"id with NUL, bad retry", "id: a\x00b\nretry: soon\ndata: x\n\n", []Event{{Data: []byte("x")}}},
		{"nothing", "", nil},
	} {
		for _, r := range []io.Reader{strings.NewReader(tt.in), iotest.OneByteReader(strings.NewReader(tt.in))} {
			got, err := readEvents(t, r, 0)
			if err != nil {
				t.Errorf("%s: %v", tt.name, err)
			}
			if d := cmp.Diff(tt.want, got); d != "" {
				t.Errorf("%s: %s", tt.name, d)
			}
		}
	}
}

func TestEventsLimits(t *testing.T) {
	ok := "data: " + strings.Repeat("x", 1000) + "\n\n"
	if got, err := readEvents(t, strings.NewReader(ok), 1000); err != nil || len(got) != 1 {
		t.Errorf("at the limit: %d events, %v", len(got), err)
	}
	for _, in := range []string{"data: " + strings.Repeat("x", 5000) + "\n\n", strings.Repeat("data: xxxxxxxxxx\n", 500),
		"data: " + strings.Repeat("x", 5000)} {
		if _, err := readEvents(t, strings.NewReader(in), 1000); !errors.Is(err, ErrEventTooLong) {
			t.Errorf("over the limit: %v", err)
		}
	}
	if _, err := readEvents(t, iotest.ErrReader(errors.New("boom")), 0); err == nil {
		t.Error("the reader's error is lost")
	}
	n := 0
	err := Events(t.Context(), strings.NewReader("data: a\n\ndata: b\n\n"), 0, func(Event) bool { n++; return false })
	if n != 1 || err != nil {
		t.Errorf("after false: %d events, %v", n, err)
	}
}

// An event is handed on when its last byte has come, not when the next one does.
func TestEventsComeAtOnce(t *testing.T) {
	r, w := io.Pipe()
	ctx, cancel := context.WithCancel(t.Context())
	got := make(chan string)
	ended := make(chan error, 1)
	go func() {
		ended <- Events(ctx, r, 0, func(e Event) bool { got <- string(e.Data); return true })
	}()
	for _, s := range []string{"data: a\n\n", "data: b\r\r", "data: c\r\n\r\n"} {
		_, _ = io.WriteString(w, s)
		if d := <-got; !strings.Contains(s, d) {
			t.Errorf("%q gave %q", s, d)
		}
	}
	cancel() // while the read blocks
	if err := <-ended; !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
}

func FuzzEvents(f *testing.F) {
	f.Add("7", "message", []byte("a\nb\r\nc\rd"), []byte(": x\n\ndata: y"))
	f.Add("", "", []byte{}, []byte("\xef\xbb\xbfid: 1\r\rdata"))
	f.Fuzz(func(t *testing.T, id, event string, data, raw []byte) {
		_, _ = readEvents(t, bytes.NewReader(raw), 64)
		if strings.ContainsAny(id+event, "\r\n\x00") {
			return
		}
		out := AppendEvent(nil, Event{ID: id, Event: event, Data: data})
		got, err := readEvents(t, bytes.NewReader(out), 0)
		if err != nil || len(got) != 1 {
			t.Fatalf("%q: %v, %v", out, got, err)
		}
		want := strings.NewReplacer("\r\n", "\n", "\r", "\n").Replace(string(data))
		if got[0].ID != id || got[0].Event != event || string(got[0].Data) != want {
			t.Fatalf("%q became %+v", out, got[0])
		}
	})
}
