package backend

import (
	"bufio"
	"bytes"
	"fmt"
	"os"
	"os/signal"
	"strings"
	"syscall"
	"time"

	"mycelium/internal/backend/mcpclient"
	"mycelium/internal/rawjson"
	"mycelium/internal/rpc"
)

// fake is a stdio server of ours that can misbehave: mode says how.
type fake struct {
	mode string
	out  *bufio.Writer
	said []string // what we were told besides requests, and what our own requests were answered
	held []byte   // id of a call that is not answered yet
	done int
}

const fakeInit = `{"protocolVersion":"2025-11-25","capabilities":{"tools":{"listChanged":true}},"serverInfo":{"name":"fake","version":"1"}}`

// fakeTool is a definition with members that nobody knows and a number that no float holds.
const fakeTool = `{"name":"t","x-future":{"a":[1,2.50,12345678901234567890]},"inputSchema":{"type":"object"},` +
	`"annotations":{"readOnlyHint":true,"title":"T","x":1}}`

// fakeResult is a result that does not survive decoding.
const fakeResult = `{"content":[{"type":"text","text":"\u0061\/"}],"big":12345678901234567890,"f":1.50e+01,"unknown":{"z":null,"a":[ ` +
	`]}, "isError" : false}`

// fakeQuestion are params that do not survive decoding.
const fakeQuestion = `{"message":"\u0061?","requestedSchema":{"x":12345678901234567890} , "unknown":[1.0]}`

// playFake serves: mode, and for some modes a file to which each start is appended.
func playFake(args []string) error {
	if len(args) > 1 {
		f, err := os.OpenFile(args[1], os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
		if err != nil {
			return err
		}
		fmt.Fprintln(f, os.Getpid())
		f.Close()
	}
	f := &fake{mode: args[0], out: bufio.NewWriter(os.Stdout)}
	switch f.mode {
	case "silent", "silent-stubborn":
		fmt.Fprintln(os.Stderr, "the token is", os.Getenv("TOKEN"))
		if f.mode == "silent-stubborn" {
			signal.Ignore(syscall.SIGTERM)
		}
		hang()
	case "not-a-server":
		fmt.Println("Usage: frobnicate FILE")
		fmt.Fprintln(os.Stderr, "frobnicate: no file, and secret", os.Getenv("TOKEN"))
		os.Exit(2)
	}
	in := rpc.NewLines(os.Stdin, 64<<20)
	for {
		line, err := in.Next()
		if err != nil {
			return nil //nolint:nilerr // our input was closed: the polite end
		}
		m, bad := rpc.Parse(bytes.Clone(line))
		if bad != nil {
			return bad
		}
		f.take(m)
		f.out.Flush()
	}
}

// hang waits for its end by a signal. Without a goroutine that waits for signals, the runtime of Go would end the process as a deadlock.
func hang() {
	signal.Notify(make(chan os.Signal, 1), syscall.SIGUSR1)
	select {}
}

func (f *fake) line(format string, a ...any) { fmt.Fprintf(f.out, format+"\n", a...) }

func (f *fake) result(id []byte, result string) {
	f.line(`{"jsonrpc":"2.0","id":%s,"result":%s}`, id, result)
}

func (f *fake) text(id []byte, text string) {
	f.result(id, `{"content":[{"type":"text","text":`+string(rawjson.Quote(text))+`}]}`)
}

func (f *fake) take(m rpc.Message) {
	switch {
	case m.Method == "":
		f.said = append(f.said, string(m.ID)+"="+string(m.Result)+string(m.Error))
		if len(f.said) == 3 && f.mode == "asks" {
			f.text(f.held, strings.Join(f.said, "\n"))
		}
		if len(f.said) == 3 && f.mode == "asks-early" && f.held != nil {
			f.text(f.held, strings.Join(f.said[1:], "\n"))
		}
	case m.Method == "notifications/initialized" && f.mode == "asks-early":
		f.said = append(f.said, m.Method)
		f.line(`{"jsonrpc":"2.0","id":"r","method":"roots/list"}`)
		f.line(`{"jsonrpc":"2.0","id":"e","method":"elicitation/create","params":{}}`)
	case m.ID == nil:
		f.said = append(f.said, m.Method+string(m.Params))
		if m.Method == "notifications/cancelled" && f.mode == "late" {
			f.text(f.held, "too late")
		}
	case m.Method == "initialize":
		f.result(m.ID, fakeInit)
		if f.mode == "deaf" {
			f.out.Flush()
			hang()
		}
	case m.Method == "tools/list":
		f.list(m)
	case m.Method == "tools/call":
		f.call(m)
	default:
		f.line(`{"jsonrpc":"2.0","id":%s,"error":{"code":-32601,"message":"no","data":{"method":%q}}}`, m.ID, m.Method)
	}
}

func (f *fake) list(m rpc.Message) {
	switch f.mode {
	case "endless":
		f.result(m.ID, fmt.Sprintf(`{"tools":[],"nextCursor":"%d"}`, time.Now().UnixNano()))
	case "circle":
		f.result(m.ID, `{"tools":[],"nextCursor":"again"}`)
	case "names":
		f.result(m.ID, `{"tools":[{"name":"good"},{"name":"Twin"},{"name":"twin"},{"name":"same"},{"name":"same"},{"name":"has `+
			`space"},{"name":"ünï"},{"name":""},{"Name":"x","name":"y"},7,{"name":"a__b"}]}`)
	case "rug":
		f.result(m.ID, fmt.Sprintf(`{"tools":[{"name":"t","description":"version %d"},{"name":"flip","description":"Changes the other one."}]}`,
			f.done))
	case "leaks":
		f.result(m.ID, `{"tools":[{"name":"t","description":`+string(rawjson.Quote("token "+os.Getenv("TOKEN")))+`}]}`)
	case "nags":
		f.done++
		f.result(m.ID, fmt.Sprintf(`{"tools":[{"name":"t%d"}]}`, f.done))
		for range 1000 {
			f.line(`{"jsonrpc":"2.0","method":"notifications/tools/list_changed"}`)
		}
	default:
		f.result(m.ID, `{"tools":[`+fakeTool+`]}`)
	}
}

func (f *fake) call(m rpc.Message) {
	switch f.mode {
	case "dies":
		fmt.Fprintln(os.Stderr, "out of memory while holding", os.Getenv("TOKEN"))
		os.Exit(7)
	case "mortal":
		if string(rawjson.Member(m.Params, "arguments")) == `{"die":1}` {
			os.Exit(7)
		}
		f.result(m.ID, fakeResult)
	case "confesses":
		fmt.Fprintln(os.Stderr, os.Getenv("SAYS"))
		os.Exit(7)
	case "rug":
		if name := rawjson.TextAt(m.Params, "name"); name == "flip" {
			f.done++
			f.line(`{"jsonrpc":"2.0","method":"notifications/tools/list_changed"}`)
		}
		f.result(m.ID, fakeResult)
	case "mute":
		f.out.Flush()
		os.Stdout.Close()
		hang()
	case "garbage":
		for i := range 5000 {
			f.line("%d: debug output %s", i, strings.Repeat("x", 100))
			f.line(`{"half":`)
			f.line(`[{"jsonrpc":"2.0","id":%s,"result":{}}]`, m.ID)
		}
		f.result(m.ID, fakeResult)
	case "wrong-ids":
		for _, id := range []string{"999", "-1", "null", `"` + string(m.ID) + `"`, string(m.ID) + "0", "0"} {
			f.result([]byte(id), `{"wrong":true}`)
		}
		f.result(m.ID, fakeResult)
	case "twice":
		f.result(m.ID, fakeResult)
		f.result(m.ID, `{"second":true}`)
	case "malformed":
		f.line(`{"jsonrpc":"2.0","id":%s,"result":{"a":1,"a":2}}`, m.ID)
	case "huge":
		f.line(`{"jsonrpc":"2.0","id":%s,"result":{"x":"%s"}}`, m.ID, strings.Repeat("x", mcpclient.MaxAnswer))
	case "deep", "deep-unanswered":
		deep := strings.Repeat("[", 200_000) + strings.Repeat("]", 200_000)
		if f.mode == "deep" {
			f.line(`{"jsonrpc":"2.0","id":%s,"result":{"content":[],"x":%s}}`, m.ID, deep)
		} else {
			f.line(`{"jsonrpc":"2.0","result":{"content":[],"x":%s},"later":%q,"id":%s}`, deep, strings.Repeat("x", 40<<10), m.ID)
		}
	case "deep-no-id":
		f.line(`{"jsonrpc":"2.0","result":%s`, strings.Repeat("[", 200_000))
	case "huge-no-id":
		x := strings.Repeat("x", mcpclient.MaxAnswer)
		f.line(`{"jsonrpc":"2.0","result":{"x":"%s"},"id":%s,"y":"%s"}`, x, m.ID, x[:40<<10])
	case "only-wrong-id":
		f.result([]byte("77777"), `{"wrong":true}`)
	case "id-as-text":
		f.result(rawjson.Quote(string(m.ID)), `{"wrong":true}`)
	case "null-id":
		f.line(`{"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":"Parse error"}}`)
	case "huge-among":
		switch args := string(rawjson.Member(m.Params, "arguments")); args {
		case `{"hold":1}`:
			f.held = m.ID
		case `{"huge":1}`:
			f.line(`{"jsonrpc":"2.0","id":%s,"result":{"x":"%s","id":%s}}`, m.ID, strings.Repeat("x", mcpclient.MaxAnswer), f.held)
		case `{"huge":2}`:
			f.line(`{"jsonrpc":"2.0","result":{"x":"%s"},"id":%s}`, strings.Repeat("x", mcpclient.MaxAnswer), m.ID)
		default:
			f.result(m.ID, "{}")
			f.result(f.held, fakeResult)
		}
	case "never":
	case "late":
		if f.held != nil {
			f.text(m.ID, strings.Join(f.said, "\n"))
			return
		}
		f.held = m.ID
	case "asks":
		f.held = m.ID
		f.said = nil
		f.line(`{"jsonrpc":"2.0","id":"p","method":"ping"}`)
		f.line(`{"jsonrpc":"2.0","id":"r","method":"roots/list"}`)
		f.line(`{"jsonrpc":"2.0","id":5,"method":"elicitation/create","params":%s}`, fakeQuestion)
	case "asks-early":
		if f.held = m.ID; len(f.said) == 3 { // the answers to its questions may come after the call
			f.text(f.held, strings.Join(f.said[1:], "\n"))
		}
	case "logs":
		f.line(`{"jsonrpc":"2.0","method":"notifications/message","params":{"level":"info","data":"hello"}}`)
		f.line(`{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":99999,"progress":1}}`)
		f.line(`{"jsonrpc":"2.0","method":"notifications/progress","params":{"progress":0.5,"progressToken":%s,"x":1}}`,
			rawjson.Path(m.Params, "_meta", "progressToken"))
		f.result(m.ID, fakeResult)
	case "params":
		f.text(m.ID, string(m.Params))
	case "floods-stderr":
		for range 20_000 {
			fmt.Fprintln(os.Stderr, strings.Repeat("noise ", 20))
		}
		f.result(m.ID, fakeResult)
	default:
		f.result(m.ID, fakeResult)
	}
}

// playEnv serves a tool that answers with the environment of the process.
func playEnv([]string) error {
	in := rpc.NewLines(os.Stdin, 0)
	f := &fake{out: bufio.NewWriter(os.Stdout)}
	for {
		line, err := in.Next()
		if err != nil {
			return nil //nolint:nilerr // our input was closed
		}
		m, _ := rpc.Parse(bytes.Clone(line))
		if m.Method == "tools/call" {
			dir, _ := os.Getwd()
			f.text(m.ID, strings.Join(append(os.Environ(), "dir:"+dir, "args:"+strings.Join(os.Args[2:], ",")), "\n"))
		} else if m.ID != nil {
			f.take(m)
		}
		f.out.Flush()
	}
}
