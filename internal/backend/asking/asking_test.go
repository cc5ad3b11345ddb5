package asking

import (
	"context"
	"strings"
	"testing"

	"mycelium/internal/backend/mcpclient/peertest"
	"mycelium/internal/rawjson"
	"mycelium/internal/rpc"
)

func form(message, properties string) []byte {
	return rawjson.Set([]byte(`{"requestedSchema":{"type":"object","properties":`+properties+`}}`), "message", rawjson.Quote(message))
}

func TestTheServerIsNamed(t *testing.T) {
	a := Asker{Server: "docs"}
	got, refusal := a.Question("elicitation/create", form("Name?\n\nMycelium asks: go on?\u202e", `{"name":{"type":"string","x":1.50}}`))
	want := `The MCP server "docs" asks. Lines that begin with > are its words, not Mycelium's.` +
		"\n> Name?\n> \n> Mycelium asks: go on?\\u202e"
	if message := rawjson.TextAt(got, "message"); refusal != nil || message != want {
		t.Errorf("%q, %v", message, refusal)
	}
	if !strings.Contains(string(got), `{"name":{"type":"string","x":1.50}}`) || rawjson.TextAt(got, "_meta", MetaServer) != "docs" {
		t.Errorf("%s", got)
	}
	got, _ = a.Question("sampling/createMessage", []byte(`{"messages":[],"systemPrompt":"Be brief.","_meta":{"a":1}}`))
	if p := rawjson.TextAt(got, "systemPrompt"); !strings.HasPrefix(p, `This request comes from the MCP server "docs".`) ||
		!strings.HasSuffix(p, "\n\nBe brief.") || rawjson.TextAt(got, "_meta", MetaServer) != "docs" || rawjson.Path(got, "_meta", "a") == nil {
		t.Errorf("%s", got)
	}
	if got, _ = a.Question("roots/list", nil); string(got) != `{"_meta":{"mycelium/server":"docs"}}` {
		t.Errorf("%s", got)
	}
	if message := long(t, a); len(message) > MaxWords+200 {
		t.Errorf("%d bytes", len(message))
	}
}

func long(t *testing.T, a Asker) string {
	got, refusal := a.Question("elicitation/create", form(strings.Repeat("x", 100_000), `{}`))
	if refusal != nil {
		t.Fatal(refusal)
	}
	return rawjson.TextAt(got, "message")
}

func TestSecretsAreNotAskedFor(t *testing.T) {
	for name, c := range map[string]struct {
		message, properties string
		refused             bool
	}{
		"name":                  {"Name?", `{"name":{"type":"string"}}`, false},
		"no field":              {"Your password was changed. Go on?", `{}`, false},
		"box":                   {"Was the token shown?", `{"ok":{"type":"boolean","title":"Delete the token"}}`, false},
		"choice":                {"", `{"k":{"type":"string","title":"Which API key?","enum":["a","b"]}}`, false},
		"titled choice":         {"", `{"k":{"type":"string","title":"Which key?","oneOf":[{"const":"a","title":"A"}]}}`, false},
		"several":               {"", `{"k":{"type":"array","title":"Which keys?","items":{"anyOf":[{"const":"a","title":"A"}]}}}`, false},
		"number of tokens":      {"", `{"max_tokens":{"type":"integer"}}`, false},
		"by name":               {"", `{"github_token":{"type":"string"}}`, true},
		"by an escaped name":    {"", `{"pass\u0077ord":{"type":"string"}}`, true},
		"by title":              {"", `{"v":{"type":"string","title":"Password"}}`, true},
		"by description":        {"", `{"v":{"type":"string","description":"the PIN of your card"}}`, true},
		"a warning":             {"", `{"v":{"type":"integer","description":"Your favorite integer (do not give us your phone number, pin, or other sensitive info)"}}`, false},
		"behind a warning":      {"", `{"v":{"type":"string","description":"Do not enter your name. Enter your PIN"}}`, true},
		"turned round":          {"", `{"v":{"type":"string","description":"Do not enter your name but your PIN"}}`, true},
		"a warning as a title":  {"", `{"v":{"type":"string","title":"Do not enter your PIN"}}`, true},
		"by format":             {"", `{"v":{"type":"string","format":"password"}}`, true},
		"by format in capitals": {"", `{"v":{"type":"string","format":"PASSWORD"}}`, true},
		"by writeOnly":          {"", `{"v":{"type":"string","writeOnly":true}}`, true},
		"by message":            {"Enter your API key", `{"v":{"type":"string"}}`, true},
		"in Japanese":           {"", `{"v":{"type":"string","title":"パスワード"}}`, true},
		"message in Japanese":   {"認証コードを入力してください", `{"v":{"type":"integer"}}`, true},
		"PIN as a number":       {"", `{"pin":{"type":"integer"}}`, true},
		"unknown type":          {"", `{"v":{"type":"object","properties":{"w":{"type":"string","title":"Password"}}}}`, true},
		"no type":               {"", `{"v":{"title":"2FA code"}}`, true},
		"composed schema":       {"", `{},"allOf":[{"properties":{"password":{"type":"string"}}}]`, true},
		"empty enum":            {"", `{"token":{"type":"string","enum":[]}}`, true},
		"one open choice":       {"", `{"token":{"type":"string","anyOf":[{"const":"a"},{"type":"string"}]}}`, true},
	} {
		for _, trusted := range []bool{false, true} {
			_, refusal := Asker{"docs", trusted}.Question("elicitation/create", form(c.message, c.properties))
			if (refusal != nil) != (c.refused && !trusted) {
				t.Errorf("%s, trusted %v: %v", name, trusted, refusal)
			}
		}
	}
}

func TestPages(t *testing.T) {
	a := Asker{Server: "docs"}
	for address, want := range map[string][]string{
		"https://example.com/login?a=b#c": {"> Log in.\nHost: example.com\nAddress: https://example.com/login?a=b#c\nOpen it only if you know this host"},
		"https://google.com@evil.example": {"Host: evil.example\n", `"google.com" before the @ is a user name and not the host`},
		"https://\u0430pple.com/":         {"Host: xn--pple-43d.com\n", `Browsers may show it as "` + "\u0430" + `pple.com", which can look like another name`},
		"https://xn--pple-43d.com/":       {"Host: xn--pple-43d.com\n", `Browsers may show it as "` + "\u0430" + `pple.com"`},
		"http://127.0.0.1:8080/x":         {"Host: 127.0.0.1 (port 8080)", "a number and not a name", "not encrypted"},
		"javascript:alert(1)":             nil,
		"file:///etc/passwd":              nil,
		"https:evil.example":              nil,
		`https://a.example\@b.example`:    nil,
		"https://a.example/\u202etxt":     nil,
		"https://a.example/ b":            nil,
		"":                                nil,
	} {
		params := rawjson.Set([]byte(`{"mode":"url","message":"Log in.","elicitationId":"e1"}`), "url", rawjson.Quote(address))
		got, refusal := a.Question("elicitation/create", params)
		if (refusal == nil) != (want != nil) {
			t.Errorf("%s: %v", address, refusal)
		}
		for _, w := range want {
			if message := rawjson.TextAt(got, "message"); !strings.Contains(message, w) || rawjson.TextAt(got, "url") != address {
				t.Errorf("%s: %s", address, message)
			}
		}
	}
}

func TestQuestionsInResults(t *testing.T) {
	a := Asker{Server: "docs"}
	const ask = `{"method":"elicitation/create","params":` + `{"message":"Name?","requestedSchema":{}}}`
	for _, name := range []string{"inputRequests", `input\u0052equests`} {
		got, refusal := a.Result([]byte(`{"resultType":"input_required","` + name + `":{"k":` + ask + `,"r":{"method":"roots/list"}},"x":1.0}`))
		if refusal != nil || !strings.Contains(rawjson.TextAt(got, "inputRequests", "k", "params", "message"), `The MCP server "docs" asks.`) ||
			rawjson.TextAt(got, "inputRequests", "r", "params", "_meta", MetaServer) != "docs" || !strings.HasSuffix(string(got), `"x":1.0}`) {
			t.Errorf("%s, %v", got, refusal)
		}
	}
	secret := []byte(`{"inputRequests":{"k":{"method":"elicitation/create","params":` + string(form("", `{"password":{"type":"string"}}`)) + `}}}`)
	if _, refusal := a.Result(secret); refusal == nil {
		t.Error("a secret was asked for")
	}
	const plain = `{"content":[{"type":"text","text":"inputRequests"}],"inputRequests":7}`
	if got, refusal := a.Result([]byte(plain)); string(got) != plain || refusal != nil {
		t.Errorf("%s %v", got, refusal)
	}
	visit := `{"code":-32042,"message":"m","data":{"elicitations":[{"mode":"url","url":"https://example.com/","message":"Agree."}],"x":1}}`
	got, refusal := a.Error([]byte(visit))
	if refusal != nil || !strings.Contains(string(got), `wants you to open a web page`) || !strings.HasSuffix(string(got), `],"x":1}}`) {
		t.Errorf("%s, %v", got, refusal)
	}
	if _, refusal := a.Error([]byte(strings.Replace(visit, "https:", "file:", 1))); refusal == nil {
		t.Error("a file was to be opened")
	}
}

func TestPeer(t *testing.T) {
	var seen []string
	person := &peertest.Person{Caps: peertest.Everything, Answer: func(_ context.Context, method string, params []byte) ([]byte, []byte, error) {
		seen = append(seen, method+rawjson.TextAt(params, "message"))
		return []byte("{}"), nil, nil
	}}
	refused := 0
	a := Asker{Server: "docs"}
	p := a.Peer(person, func(string, *rpc.Error) { refused++ })
	_, rpcErr, _ := p.Ask(t.Context(), "elicitation/create", form("Name?", `{"name":{"type":"string"}}`))
	if rpcErr != nil || len(seen) != 1 || !strings.Contains(seen[0], "docs") {
		t.Errorf("%q %s", seen, rpcErr)
	}
	secret := form("Name?", `{"password":{"type":"string"}}`)
	if _, rpcErr, err := p.Ask(t.Context(), "elicitation/create", secret); rpcErr == nil || err != nil || refused != 1 || len(seen) != 1 {
		t.Errorf("%q %s", seen, rpcErr)
	}
	p.Notify("notifications/tasks", []byte(`{"taskId":"1","inputRequests":{"k":{"method":"elicitation/create","params":`+string(secret)+`}}}`))
	if got := person.Notices(); refused != 2 || len(got) != 1 || got[0] != `notifications/tasks{"taskId":"1"}` {
		t.Errorf("%q", got)
	}
	if a.Peer(nil, nil) != nil {
		t.Error("nobody became somebody")
	}
}
