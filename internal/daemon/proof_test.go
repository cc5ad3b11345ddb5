package daemon

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net"
	"os"
	"strings"
	"testing"
	"time"

	"mycelium/internal/op"
	"mycelium/internal/rawjson"
	"mycelium/internal/rpc"
)

// asks calls Ask, and reports whether it called slow.
func asks(p Paths, greet time.Duration, method, params string) (result string, slow bool, err error) {
	raw, err := Ask(p, greet, method, []byte(params), func() { slow = true })
	return string(raw), slow, err
}

// pretend answers every line that comes to a socket with what answer makes of it, until the test ends. "" is no answer.
func pretend(t *testing.T, socket string, answer func(m rpc.Message) string) {
	t.Helper()
	if err := socketFolder(socket); err != nil {
		t.Fatal(err)
	}
	l, err := net.ListenUnix("unix", &net.UnixAddr{Name: socket, Net: "unix"})
	if err != nil {
		t.Fatal(err)
	}
	l.SetUnlinkOnClose(false) // its place may be taken
	done := make(chan struct{})
	go func() {
		defer close(done)
		for {
			c, err := l.AcceptUnix()
			if err != nil {
				return
			}
			for lines := rpc.NewLines(c, maxMessage); ; {
				line, err := lines.Next()
				if err != nil {
					break
				}
				if m, bad := rpc.Parse(bytes.Clone(line)); bad == nil {
					_, _ = io.WriteString(c, answer(m))
				}
			}
			_ = c.Close()
		}
	}()
	t.Cleanup(func() { _ = l.Close(); <-done })
}

// result is a line that answers a request.
func result(m rpc.Message, result string) string {
	return string(rpc.Message{ID: m.ID, Result: []byte(result)}.Append(nil)) + "\n"
}

// TestStrangersAreNotBelieved: what answers without the key is no daemon, whatever it answers.
func TestStrangersAreNotBelieved(t *testing.T) {
	zeros := strings.Repeat("0", 64)
	forger := key(bytes.Repeat([]byte("k"), KeySize))
	for name, answer := range map[string]func(m rpc.Message) string{
		"as daemons once did": func(m rpc.Message) string { return result(m, `{"lock":"/x","pid":1,"result":"allow"}`) },
		"without a proof":     func(m rpc.Message) string { return result(m, `{"answer":{"result":"allow"}}`) },
		"a wrong proof": func(m rpc.Message) string {
			return result(m, `{"proof":"`+zeros+`","answer":{"result":"allow"},"nonce":"1"}`)
		},
		"a proof twice": func(m rpc.Message) string {
			return result(m, `{"proof":"`+zeros+`","proof":"","answer":{"result":"allow"}}`)
		},
		"another key": func(m rpc.Message) string {
			q, _ := parseQuestion(m.Params)
			q.nonce += rawjson.TextAt(m.Params, "nonce")
			owner, own := processes(os.Getpid(), os.Getpid())
			proved := string(q.proved(forger, os.Getpid(), []byte(`{"result":"allow"}`)))
			if m.Method == helloMethod {
				proved = `{"nonce":"n","proof":"` + forger.prove(daemonRole, nil, q.nonce, "n", owner, own) + `"}`
			}
			return result(m, proved)
		},
		"the question's own proof": func(m rpc.Message) string {
			return result(m, `{"proof":"`+rawjson.TextAt(m.Params, "proof")+`","answer":{"result":"allow"}}`)
		},
		"an error": func(m rpc.Message) string {
			return string(rpc.Refuse(m.ID, &rpc.Error{Code: 1, Message: "no"}).Append(nil)) + "\n"
		},
		"a greeting that nobody asked for": func(m rpc.Message) string { m.ID = []byte("1"); return result(m, `{"nonce":"n"}`) },
	} {
		t.Run(name, func(t *testing.T) {
			_, p := project(t)
			pretend(t, p.Socket, answer)
			var stranger *StrangerError
			if got, _, err := asks(p, time.Minute, "echo", "{}"); !errors.As(err, &stranger) || stranger.PID != os.Getpid() ||
				stranger.Program == "" || stranger.Socket != p.Socket {
				t.Errorf("asked: %q, %v", got, err)
			}
			if name == "a greeting that nobody asked for" {
				return // Call skips answers to questions that it has not asked
			}
			if _, err := Dial(t.Context(), p); !errors.As(err, &stranger) || stranger.PID != os.Getpid() {
				t.Errorf("dialled: %v", err)
			}
			if err := os.Remove(p.Key); err != nil {
				t.Fatal(err)
			}
			if _, _, err := asks(p, time.Minute, "echo", "{}"); !errors.As(err, &stranger) || !strings.Contains(err.Error(), "key") {
				t.Errorf("asked without a key: %v", err)
			}
			if _, err := Dial(t.Context(), p); !errors.As(err, &stranger) || !strings.Contains(err.Error(), "key") {
				t.Errorf("dialled without a key: %v", err)
			}
		})
	}
}

// TestAnswersAreBound: the genuine answer to one question is none to another, and none if a byte of it is changed.
func TestAnswersAreBound(t *testing.T) {
	_, p := project(t)
	serveHere(t, p, nil)
	between := p // in this process, so that only nonce and content tell the answers apart
	between.Lock, between.Socket = p.Lock+"2", p.Socket+"2"
	var seen []string
	pretend(t, between.Socket, func(m rpc.Message) string {
		c, err := net.Dial("unix", p.Socket)
		if err != nil {
			return ""
		}
		defer c.Close()
		_, _ = c.Write(append(m.Append(nil), '\n'))
		line, _ := rpc.NewLines(c, maxMessage).Next()
		seen = append(seen, string(line)+"\n")
		switch len(seen) {
		case 2, 4:
			return seen[len(seen)-2]
		case 5:
			return strings.Replace(seen[4], "yes", "yet", 1)
		}
		return seen[len(seen)-1]
	})
	var stranger *StrangerError
	for i, ok := range []bool{true, false, true, false} {
		if got, _, err := asks(between, time.Minute, "echo", `{"text":"yes"}`); (got == `"yes"`) != ok || errors.As(err, &stranger) == ok {
			t.Errorf("question %d: %s %v", i+1, got, err)
		}
	}
	if got, _, err := asks(between, time.Minute, "echo", `{"text":"yes"}`); !errors.As(err, &stranger) {
		t.Errorf("a changed answer: %s %v", got, err)
	}
}

// TestGreetingsAreBound: the genuine answer to one greeting is none to another.
func TestGreetingsAreBound(t *testing.T) {
	_, p := project(t)
	k, err := readKey(p.Key)
	if err != nil {
		t.Fatal(err)
	}
	first := ""
	pretend(t, p.Socket, func(m rpc.Message) string {
		if m.Method != helloMethod {
			return ""
		}
		owner, own := processes(os.Getpid(), os.Getpid())
		if first == "" {
			first = k.prove(daemonRole, nil, rawjson.TextAt(m.Params, "nonce"), "n", owner, own)
		}
		return result(m, `{"nonce":"n","proof":"`+first+`"}`)
	})
	c, err := Dial(t.Context(), p)
	if err != nil {
		t.Fatal(err)
	}
	c.Close()
	var stranger *StrangerError
	if _, err := Dial(t.Context(), p); !errors.As(err, &stranger) {
		t.Errorf("the same once more: %v", err)
	}
}

// TestWhoStandsBetween: a program that passes every byte on between a client and the daemon is not believed, because the proofs name the
// two processes.
func TestWhoStandsBetween(t *testing.T) {
	dir, p := project(t)
	serveHere(t, p, nil)
	moved := p.Socket + ".moved"
	if err := os.Rename(p.Socket, moved); err != nil {
		t.Fatal(err)
	}
	relay := play(t, dir, "between", "MYC_TEST_SOCKET="+p.Socket, "MYC_TEST_TO="+moved)
	out, err := relay.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := relay.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = relay.Process.Kill(); _ = relay.Wait() })
	if _, err := out.Read(make([]byte, 1)); err != nil { // it listens
		t.Fatal(err)
	}
	var stranger *StrangerError
	if got, _, err := asks(p, time.Minute, "echo", `{"text":"yes"}`); !errors.As(err, &stranger) || stranger.PID != relay.Process.Pid {
		t.Errorf("asked: %s %v", got, err)
	}
	if _, err := Dial(t.Context(), p); !errors.As(err, &stranger) || stranger.PID != relay.Process.Pid {
		t.Errorf("dialled: %v", err)
	}
	p.Socket = moved
	if err := os.Remove(p.Lock); err != nil {
		t.Fatal(err)
	}
	if got, _, err := asks(p, time.Minute, "echo", `{"text":"yes"}`); err != nil || got != `"yes"` {
		t.Errorf("without it: %s %v", got, err)
	}
}

// playBetween passes every byte on between the clients of a socket and another socket.
func playBetween(socket, to string) error {
	l, err := net.Listen("unix", socket)
	if err != nil {
		return err
	}
	_, _ = os.Stdout.WriteString(".")
	for {
		a, err := l.Accept()
		if err != nil {
			return err
		}
		b, err := net.Dial("unix", to)
		if err != nil {
			return err
		}
		go func() { _, _ = io.Copy(a, b); _ = a.Close() }()
		go func() { _, _ = io.Copy(b, a); _ = b.Close() }()
	}
}

// TestClientsWithoutTheKey: the daemon does nothing for a client that does not prove itself.
func TestClientsWithoutTheKey(t *testing.T) {
	_, p := project(t)
	served := make(chan struct{}, 100)
	serveHere(t, p, func(s *Server) {
		s.Methods["act"] = func(context.Context, op.Caller, []byte) (any, *rpc.Error) { served <- struct{}{}; return "done", nil }
		s.Streams["flow"] = func(context.Context, op.Caller, []byte) (any, func(context.Context, net.Conn) error, *rpc.Error) {
			served <- struct{}{}
			return nil, func(context.Context, net.Conn) error { return nil }, nil
		}
	})
	k, err := readKey(p.Key)
	if err != nil {
		t.Fatal(err)
	}
	good := question{nonce: "n", method: "act", params: []byte("{}")}
	good.proof = good.proofOf(k, os.Getpid())
	ask := func(change func(q *question)) string {
		q := good
		change(&q)
		return `{"jsonrpc":"2.0","id":1,"method":"daemon/ask","params":` + string(q.json()) + "}"
	}
	hello := `{"jsonrpc":"2.0","id":2,"method":"daemon/hello","params":{"nonce":"n"}}`
	prove := func(proof string) string {
		return `{"jsonrpc":"2.0","method":"daemon/prove","params":{"proof":"` + proof + `"}}`
	}
	call := `{"jsonrpc":"2.0","id":1,"method":"act"}`
	for name, lines := range map[string][]string{
		"a call": {call}, "a stream": {`{"jsonrpc":"2.0","id":1,"method":"flow"}`},
		"a greeting only":         {hello, call},
		"an empty proof":          {prove(""), call},
		"an empty proof, greeted": {hello, prove(""), call},
		"a wrong proof":           {hello, prove(strings.Repeat("0", 64)), call},
		"a question without":      {`{"jsonrpc":"2.0","id":1,"method":"daemon/ask","params":{"method":"act","params":{}}}`},
		"no proof":                {ask(func(q *question) { q.proof = "" })},
		"of another process":      {ask(func(q *question) { q.proof = q.proofOf(k, os.Getpid()+1) })},
		"of another nonce":        {ask(func(q *question) { q.nonce = "m" })},
		"of another method":       {ask(func(q *question) { q.method = "pid" })},
		"of other params":         {ask(func(q *question) { q.params = []byte("{ }") })},
		"under another key":       {ask(func(q *question) { q.proof = q.proofOf(make(key, KeySize), os.Getpid()) })},
	} {
		t.Run(name, func(t *testing.T) {
			c, err := net.Dial("unix", p.Socket)
			if err != nil {
				t.Fatal(err)
			}
			defer c.Close()
			if _, err := io.WriteString(c, strings.Join(lines, "\n")+"\n"); err != nil {
				t.Fatal(err)
			}
			answers := rpc.NewLines(c, maxMessage)
			for {
				line, err := answers.Next()
				if err != nil {
					t.Fatal(err)
				}
				if m, bad := rpc.Parse(line); bad != nil || string(m.ID) == "1" {
					if bad != nil || m.Error == nil || !strings.Contains(rpc.ErrorOf(m.Error).Message, "does not prove") {
						t.Errorf("answered %s", line)
					}
					break
				}
			}
		})
	}
	if len(served) > 0 {
		t.Errorf("%d were served", len(served))
	}
	if _, _, err := asks(p, time.Minute, "act", "{}"); err != nil || len(served) != 1 {
		t.Errorf("with the key: %v", err)
	}
}

// TestOwnersTakeTheirPlace: a process that answers at the socket without the lock loses its place, to an owner that is started and to one
// that runs.
func TestOwnersTakeTheirPlace(t *testing.T) {
	dir, p := project(t)
	deny := func(m rpc.Message) string { return result(m, "{}") }
	pretend(t, p.Socket, deny)
	attach(t, dir, p)

	_, p = project(t)
	o, err := Own(t.Context(), p, Claim{Kind: Automatic})
	if err != nil {
		t.Fatal(err)
	}
	o.every = time.Millisecond
	ctx, cancel := context.WithCancel(t.Context())
	if err := os.Remove(p.Socket); err != nil {
		t.Fatal(err)
	}
	pretend(t, p.Socket, deny)
	var stranger *StrangerError
	if c, err := Dial(t.Context(), p); !errors.As(err, &stranger) {
		t.Fatal(c, err)
	}
	if _, err := Attach(t.Context(), p, []string{"/does/not/exist"}, nil); !errors.As(err, &stranger) {
		t.Errorf("beside an owner that waits for its place: %v", err)
	}
	done := make(chan error, 1)
	go func() { done <- o.Serve(ctx, testServer(cancel)) }()
	for {
		c, err := Dial(t.Context(), p)
		if err == nil {
			c.Close()
			break
		}
		if !errors.As(err, &stranger) && !errors.Is(err, ErrNotRunning) {
			t.Fatal(err)
		}
	}
	cancel()
	if err := errors.Join(<-done, o.Close()); err != nil {
		t.Error(err)
	}
}

// TestOwnNeedsAKey: nobody owns a project whose key is missing or damaged.
func TestOwnNeedsAKey(t *testing.T) {
	_, p := project(t)
	for _, bad := range [][]byte{nil, {}, make([]byte, KeySize-1), make([]byte, KeySize+1)} {
		_ = os.Remove(p.Key)
		if bad != nil {
			if err := os.WriteFile(p.Key, bad, 0o600); err != nil {
				t.Fatal(err)
			}
		}
		if o, err := Own(t.Context(), p, Claim{Kind: Automatic}); err == nil || !strings.Contains(err.Error(), p.Key) {
			t.Errorf("%d bytes: %v, %v", len(bad), o, err)
		}
	}
}

// FuzzProof: no text panics, none is a proof that was not made for it, and what is written is read back.
func FuzzProof(f *testing.F) {
	k := key(bytes.Repeat([]byte("k"), KeySize))
	q := question{nonce: "n", proof: "p", method: "m", params: []byte(`{"a":1}`)}
	for _, seed := range []string{string(q.json()), string(q.proved(k, 1, []byte(`{"result":1}`))), `{"proof":"","answer":{}}`, "{}", "",
		`{"nonce":"a","nonce":"b","proof":"","method":"","params":1}`, `{"nonce":1}`} {
		f.Add([]byte(seed), "hook/answer", []byte(`{"x":"y"}`))
	}
	f.Fuzz(func(t *testing.T, raw []byte, method string, params []byte) {
		if read, ok := parseQuestion(raw); ok {
			again, ok := parseQuestion(read.json())
			if !ok || again.nonce != read.nonce || again.proof != read.proof || again.method != read.method ||
				!bytes.Equal(again.params, read.params) {
				t.Errorf("%s: read as %+v and as %+v", raw, read, again)
			}
		}
		other := question{nonce: "another nonce"}
		if answer, ok := other.accept(k, os.Getpid(), raw); ok {
			t.Errorf("%s proves %s", raw, answer)
		}
		if !rawjson.Valid(params) {
			return
		}
		params = rawjson.Trim(params)
		asked := question{nonce: "n", method: method, params: params}
		asked.proof = asked.proofOf(k, 7)
		if read, ok := parseQuestion(asked.json()); ok && rawjson.Valid(asked.json()) && read.proof != read.proofOf(k, 7) &&
			read.method == method {
			t.Errorf("%q %s: the proof does not hold for what was sent", method, params)
		}
		answer, ok := asked.accept(k, os.Getpid(), asked.proved(k, os.Getpid(), params))
		if !ok || !bytes.Equal(answer, params) {
			t.Errorf("%s was proved and is %s, %t", params, answer, ok)
		}
	})
}
