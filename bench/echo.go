package main

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"strconv"
	"sync"
	"time"

	"mycelium/internal/rawjson"
	"mycelium/internal/rpc"
)

// echo is the backend, an MCP server that does as little as possible. It serves stdin and stdout, or with "http" an address that it
// prints.
func echo(args []string) error {
	if len(args) > 0 && args[0] == "http" {
		return echoHTTP()
	}
	lines, out := rpc.NewLines(os.Stdin, 0), bufio.NewWriterSize(os.Stdout, 64<<10)
	var writing sync.Mutex
	write := func(a []byte) error {
		writing.Lock()
		defer writing.Unlock()
		if _, err := out.Write(append(a, '\n')); err != nil {
			return err
		}
		return out.Flush()
	}
	for {
		line, err := lines.Next()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		a := answer(line)
		if a == nil {
			continue
		}
		if ms, err := strconv.Atoi(string(rawjson.Path(line, "params", "arguments", "wait"))); err == nil && ms > 0 {
			time.AfterFunc(time.Duration(ms)*time.Millisecond, func() { _ = write(a) })
			continue
		}
		if err := write(a); err != nil {
			return err
		}
	}
}

func echoHTTP() error {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	fmt.Printf("http://%s/mcp\n", l.Addr())
	return http.Serve(l, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { //nolint:gosec // ends with the run
		body, err := io.ReadAll(r.Body)
		if err != nil {
			return
		}
		long := string(rawjson.Path(body, "params", "arguments", "times")) == "1000"
		a := []byte(nil)
		if long {
			a = answer(bytes.Replace(body, []byte(`"times":1000`), []byte(`"times":1`), 1))
		} else {
			a = answer(body)
		}
		if a == nil {
			w.WriteHeader(http.StatusAccepted)
			return
		}
		w.Header().Set("Content-Type", "application/json")
		if !long {
			_, _ = w.Write(a)
			return
		}
		// The text is repeated without a copy of the whole: what is measured is the gateway, not this server.
		at := bytes.Index(a, []byte(`"text":"`)) + len(`"text":"`)
		end := bytes.LastIndex(a, []byte(`"}]`))
		_, _ = w.Write(a[:at])
		for range 1000 {
			if _, err := w.Write(a[at:end]); err != nil {
				return
			}
		}
		_, _ = w.Write(a[end:])
	}))
}

const tools = `{"tools":[{"name":"echo","description":"Returns its ` +
	`text.","inputSchema":{"type":"object","properties":{"text":{"type":"string"}}}}]}`

// answer returns the response to a message, or nil.
func answer(line []byte) []byte {
	m, bad := rpc.Parse(line)
	if bad != nil || !m.IsRequest() {
		return nil
	}
	switch m.Method {
	case "initialize":
		m.Result = []byte(`{"protocolVersion":"2025-06-18","capabilities":{"tools":{}},"serverInfo":{"name":"echo","version":"1"}}`)
	case "tools/list":
		m.Result = []byte(tools)
	case "tools/call":
		m.Result = fmt.Appendf(nil, `{"content":[{"type":"text","text":%s}]}`, text(m.Params))
	default:
		m.Result = []byte(`{}`)
	}
	m.Method, m.Params = "", nil
	return m.Append(nil)
}

// text returns the text of the call, repeated as often as the call says.
func text(params []byte) []byte {
	t := rawjson.Path(params, "arguments", "text")
	times, err := strconv.Atoi(string(rawjson.Path(params, "arguments", "times")))
	if err != nil || times < 2 || times > 1000 || len(t) < 2 {
		return t
	}
	return append(append([]byte{'"'}, bytes.Repeat(t[1:len(t)-1], times)...), '"')
}
