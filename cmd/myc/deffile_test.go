package main

import (
	"bufio"
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"mycelium/internal/rawjson"
	"mycelium/internal/rpc"
)

// deffile is a server for scripts that offers what files say, read anew for each list: FILE has the tools as a JSON array,
// FILE.prompts, FILE.templates, FILE.skills and FILE.resources the rest where they exist, and FILE.prompt the text of every
// prompt. The tool "changed" makes it tell that its lists
// changed; "slow" is answered when FILE.go is there, and makes FILE.began; "rewrite" copies the file FILE.next over FILE and tells the same; "input" asks for input; every other call is answered with what
// was called.
func deffile() {
	file := os.Args[1]
	out := bufio.NewWriter(os.Stdout)
	in := rpc.NewLines(os.Stdin, 0)
	for {
		line, err := in.Next()
		if err != nil {
			return
		}
		m, bad := rpc.Parse(bytes.Clone(line))
		if bad != nil || m.ID == nil {
			continue
		}
		fmt.Fprintf(out, "{\"jsonrpc\":\"2.0\",\"id\":%s,%s}\n", m.ID, deffileAnswer(file, m, out))
		_ = out.Flush()
	}
}

func deffileAnswer(file string, m rpc.Message, out *bufio.Writer) string {
	list := func(member, path string) string {
		b, err := os.ReadFile(path)
		if err != nil {
			b = []byte("[]")
		}
		return `"result":{"` + member + `":` + string(bytes.ReplaceAll(b, []byte("\n"), nil)) + `}`
	}
	switch m.Method {
	case "initialize":
		said, _ := os.ReadFile(file + ".instructions")
		ext := ""
		if _, err := os.Stat(file + ".skills"); err == nil {
			ext = `,"extensions":{"io.modelcontextprotocol/skills":{}}`
		}
		return `"result":{"protocolVersion":"2025-11-25","capabilities":{"tools":{"listChanged":true},"prompts":{},"resources":{}` + ext +
			`},"serverInfo":{"name":"deffile","version":"1"},"instructions":` + string(rawjson.Quote(string(said))) + `}`
	case "tools/list":
		return list("tools", file)
	case "prompts/list":
		return list("prompts", file+".prompts")
	case "resources/list":
		return list("resources", file+".resources")
	case "resources/templates/list":
		return list("resourceTemplates", file+".templates")
	case "skills/list":
		return list("skills", file+".skills")
	case "resources/read":
		uri := rawjson.TextAt(m.Params, "uri")
		b, err := os.ReadFile(file + ".files/" + filepath.Base(filepath.Dir(uri)) + "-" + filepath.Base(uri))
		if err != nil {
			return `"error":{"code":-32002,"message":"Resource not found"}`
		}
		return `"result":{"contents":[{"uri":` + string(rawjson.Quote(uri)) + `,"text":` + string(rawjson.Quote(string(b))) + `}]}`
	case "prompts/get":
		said, err := os.ReadFile(file + ".prompt")
		if err != nil {
			return `"result":{"messages":[]}`
		}
		return `"result":{"messages":[{"role":"user","content":{"type":"text","text":` + string(rawjson.Quote(string(said))) + `}}]}`
	case "tools/call":
		name := rawjson.TextAt(m.Params, "name")
		if name == "input" {
			return `"result":{"resultType":"input_required","inputRequests":{},"requestState":"s"}`
		}
		if name == "rewrite" {
			b, err := os.ReadFile(file + ".next")
			if err == nil {
				err = os.WriteFile(file, b, 0o600)
			}
			if err != nil {
				return `"error":{"code":-32603,"message":` + string(rawjson.Quote(err.Error())) + `}`
			}
		}
		if name == "slow" { // until the file FILE.go is there
			err := os.WriteFile(file+".began", nil, 0o600)
			for err == nil {
				if _, err := os.Stat(file + ".go"); err == nil {
					break
				}
				time.Sleep(5 * time.Millisecond)
			}
		}
		if name == "rewrite" || name == "changed" {
			fmt.Fprintln(out, `{"jsonrpc":"2.0","method":"notifications/tools/list_changed"}`)
		}
		return `"result":{"content":[{"type":"text","text":` + string(rawjson.Quote("called "+name)) + `}]}`
	}
	return `"error":{"code":-32601,"message":"Method not found"}`
}
