package main

import (
	"strings"
	"testing"

	"mycelium/internal/rawjson"
)

// valueSurface puts a value where a surface takes one, and returns the answer in one line.
type valueSurface func(w *badWorld, value string) string

// valueSurfaces are the places of a table's values, by the subject that its intro names ("values: tools").
func valueSurfaces(w *badWorld, subject string) ([]string, map[string]valueSurface, func() error) {
	talks := w.talks()
	still := func() error {
		for _, s := range badSurfaces {
			if err := talks[s].still(); err != nil {
				return err
			}
		}
		return nil
	}
	var order []string
	surfaces := map[string]valueSurface{}
	add := func(name string, f valueSurface) {
		order = append(order, name)
		surfaces[name] = f
	}
	command := func(name string, before, after []string) {
		add(name, func(w *badWorld, v string) string {
			return w.run("", append(append(append([]string{}, before...), v), after...)...).text()
		})
	}
	says := func(params func(v string) string) {
		for _, s := range badSurfaces {
			add(s, func(_ *badWorld, v string) string {
				meta := ""
				if strings.HasSuffix(s, "2026") {
					meta = badMeta + ","
				}
				text := `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{` + meta + params(v) + `}}`
				return talks[s].say(text, mcpName(v, params(v)))
			})
		}
	}
	switch subject {
	case "tools":
		says(func(v string) string { return `"name":` + quoted(v) + `,"arguments":{"path":"hello.txt"}` })
		command("myc call", []string{"call", "--role", "guest", "--"}, nil)
		add("myc policy eval", func(w *badWorld, v string) string {
			return w.run(`{"id":1,"tool":`+quoted(v)+`,"role":"guest"}`+"\n", "policy", "eval").text()
		})
	case "roles":
		says(func(v string) string {
			return `"name":"mycelium-router__set_role","arguments":{"role_id":` + quoted(v) + `}`
		})
		command("myc call --role", []string{"call", "files__read_file", "--args", `{"path":"hello.txt"}`, "--role"}, nil)
		command("myc tools --role", []string{"tools", "--role"}, nil)
		command("myc mcp --role", []string{"mcp", "--role"}, nil)
		command("myc session new --role", []string{"session", "new", "--role"}, nil)
		command("myc session new --may", []string{"session", "new", "--role", "guest", "--may"}, nil)
		command("myc session set-role", []string{"session", "set-role", w.vars["id"]}, nil)
		command("myc policy check", []string{"policy", "check", "--role"}, nil)
		add("myc policy eval", func(w *badWorld, v string) string {
			return w.run(`{"id":1,"tool":"files__read_file","args":{"path":"hello.txt"},"role":`+quoted(v)+`}`+"\n", "policy", "eval").text()
		})
	case "tokens":
		for _, modern := range []bool{false, true} {
			name := "http"
			if modern {
				name = "http 2026"
			}
			h := talks[name].(*httpTalk)
			add(name, func(_ *badWorld, v string) string {
				return h.say(badGood(modern, "1"), "Authorization: Bearer "+v)
			})
		}
		command("myc mcp --token", []string{"mcp", "--token"}, nil)
		add("MYCELIUM_TOKEN", func(w *badWorld, v string) string {
			return w.runEnv([]string{"MYCELIUM_TOKEN=" + v}, "", "call", "files__read_file", "--args", `{"path":"hello.txt"}`).text()
		})
	}
	return order, surfaces, still
}

func quoted(v string) string { return string(rawjson.Quote(v)) }

// mcpName is the header that a modern call needs. What a header cannot carry is encoded (SEP-2243).
func mcpName(v, params string) string {
	name := v
	if !strings.HasPrefix(params, `"name":`+quoted(v)) {
		name = "mycelium-router__set_role"
	}
	return "Mcp-Name: " + encodedHeader(name)
}

// playValues puts each row's value ("value: JSON string") into every place that takes such a thing: the table's intro ends with
// "values: tools", roles or tokens. "only: surface, …" names fewer places.
func playValues(t *testing.T, tab *badTable) {
	w := newBadWorld(t)
	w.serve()
	_, subject, ok := directive(strings.Split(tab.intro, "\n"), "values")
	if !ok {
		t.Fatalf("%s: values of what?", tab.file)
	}
	good, id := w.mint("--role", "guest")
	ended, endedID := w.mint("--role", "developer")
	expired, _ := w.mint("--role", "developer", "--ttl", "1ns")
	if o := w.run("", "session", "end", endedID); o.code != 0 {
		t.Fatalf("session end: %+v", o)
	}
	for k, v := range map[string]string{
		"id": id, "good": good, "ended": ended, "expired": expired, "half": good[:20], "upper": strings.ToUpper(good), "idOf": id,
		"forged": forged(good), "tail": good[4:],
	} {
		w.vars[k] = v
	}
	order, surfaces, still := valueSurfaces(w, subject)
	if len(order) == 0 {
		t.Fatalf("%s: no places take %q", tab.file, subject)
	}
	before, sessions := w.snapshot(w.dir), w.sessions()
	for _, row := range tab.rows {
		t.Run(row.name, func(t *testing.T) {
			rest, want := row.splitAnswers(order)
			_, text, ok := directive(rest, "value")
			raw := []byte(expandBad(t, text, w.vars))
			value, isText := rawjson.Text(raw)
			if !ok || !isText {
				t.Fatalf("a row needs a value: %s", raw)
			}
			got := map[string]string{}
			for _, s := range row.surfaces(rest, order) {
				if strings.HasPrefix(s, "my") && strings.ContainsRune(value, 0) && s != "myc policy eval" {
					continue // no argument of a command can hold it
				}
				answer := surfaces[s](w, value)
				for _, secret := range []string{good, ended, expired, id} {
					answer = strings.ReplaceAll(answer, secret, "$ID")
				}
				if len(value) > 100 {
					answer = strings.ReplaceAll(answer, value, "$VALUE")
				}
				got[s] = badMatch(t, s, want.want[s], w.plain(answer))
			}
			row.joinAnswers(rest, order, got)
			if err := still(); err != nil {
				t.Errorf("after that: %v", err)
			}
		})
	}
	w.unchanged(before)
	if now := w.sessions(); now != sessions {
		t.Errorf("%s sessions before and %s after", sessions, now)
	}
	w.intact()
}
