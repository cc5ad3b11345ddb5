package backend

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"mycelium/internal/backend/asking"
	"mycelium/internal/backend/mcpclient"
	"mycelium/internal/backend/mcpclient/peertest"
	"mycelium/internal/policy"
	"mycelium/internal/rawjson"
)

func scopeOf(principal string) policy.Scope {
	return policy.Scope{Principal: policy.Principal{ID: principal}}
}

// tool calls a tool for a principal.
func tool(ctx context.Context, t testing.TB, p *Pool, principal, name string, peer mcpclient.Peer) string {
	t.Helper()
	result, rpcErr, err := p.Do(ctx, scopeOf(principal), "", "s", "tools/call", []byte(`{"name":"`+name+`","arguments":{}}`), peer)
	if err != nil || rpcErr != nil {
		t.Fatalf("%s: %s, %v", name, rpcErr, err)
	}
	return string(result)
}

// revisions are servers of the SDK, one for each revision of the protocol and each transport.
func revisions(t *testing.T, each func(t *testing.T, version string, s Server)) {
	for _, version := range append(slices.Clone(mcpclient.LegacyVersions), mcpclient.ModernVersion) {
		t.Run(version+" stdio", func(t *testing.T) {
			t.Parallel()
			each(t, version, play(t, "s", "play-sdk", version))
		})
		t.Run(version+" http", func(t *testing.T) {
			t.Parallel()
			h := sdkHandler(&mcp.ServerOptions{SupportedProtocolVersions: []string{version}},
				&mcp.StreamableHTTPOptions{Stateless: version == mcpclient.ModernVersion})
			each(t, version, Server{Name: "s", URL: serveHTTP(t, h)})
		})
	}
}

func TestServersAskDuringACall(t *testing.T) {
	t.Parallel()
	revisions(t, func(t *testing.T, version string, s Server) {
		pool := newPool(t, Options{}, s)
		ctx := testContext(t)
		want := map[string]string{
			"elicit": `{"action":"accept","content":{"name":"Ann"}}`,
			"sample": `{"content":{"type":"text","text":"hello"},"model":"m","role":"assistant"}`,
			"roots":  `{"roots":[{"name":"x","uri":"file:///home/x"}]}`,
		}
		if version >= "2025-11-25" {
			want["elicit-url"] = `{"action":"accept"}`
		}
		for name, answer := range want {
			peer := &peertest.Person{Caps: peertest.Everything, Answer: peertest.Answers}
			result := tool(ctx, t, pool, "ann", name, peer)
			if version == mcpclient.ModernVersion {
				result = again(ctx, t, pool, name, result, peer)
				answer = fmt.Sprintf(`{"answer":%s,"state":"the state"}`, answer)
			}
			if got := textOf(t, result); got != answer {
				t.Errorf("%s: the server got %s", name, got)
			}
			if got := peer.Notices(); name == "elicit-url" && version != mcpclient.ModernVersion &&
				!slices.Equal(got, []string{`notifications/elicitation/complete{"elicitationId":"e-1"}`}) {
				t.Errorf("notices %q", got)
			}
		}
	})
}

// again does what a client of the modern revision does: it answers what is asked and sends the call again.
func again(ctx context.Context, t testing.TB, p *Pool, name, result string, peer mcpclient.Peer) string {
	t.Helper()
	raw := []byte(result)
	question := rawjson.Path(raw, "inputRequests", "q")
	if string(rawjson.Member(raw, "resultType")) != `"input_required"` || question == nil {
		t.Fatalf("%s: result %s", name, result)
	}
	method := rawjson.TextAt(question, "method")
	answer, _, _ := peer.Ask(ctx, method, rawjson.Member(question, "params"))
	params := fmt.Sprintf(`{"name":%q,"arguments":{},"inputResponses":{"q":%s},"requestState":%s}`, name, answer,
		rawjson.Member(raw, "requestState"))
	second, rpcErr, err := p.Do(ctx, scopeOf("ann"), "", "s", "tools/call", []byte(params), peer)
	if err != nil || rpcErr != nil {
		t.Fatalf("%s: %s, %v", name, rpcErr, err)
	}
	return string(second)
}

func TestServersAreToldWhatTheClientCannot(t *testing.T) {
	t.Parallel()
	p := newPool(t, Options{}, play(t, "s", "play-sdk", "2025-11-25"))
	ctx := testContext(t)
	for caps, want := range map[string]map[string]string{
		``:                           {"elicit": "elicitation/create", "sample": "sampling/createMessage", "roots": "roots/list"},
		`{"elicitation":{}}`:         {"elicit": "", "elicit-url": "elicitation.url"},
		`{"elicitation":{"url":{}}}`: {"elicit": "elicitation.form", "elicit-url": ""},
		`{"elicitation":null}`:       {"elicit": "elicitation/create"},
	} {
		for name, lacks := range want {
			got := textOf(t, tool(ctx, t, p, "ann", name, &peertest.Person{Caps: caps, Answer: peertest.Answers}))
			if lacks == "" && !strings.Contains(got, `"accept"`) || lacks != "" &&
				!strings.Contains(got, "this client does not have the capability") || !strings.Contains(got, lacks) {
				t.Errorf("%s with %s: %s", name, caps, got)
			}
		}
	}
}

// A question goes to the one whose call it belongs to, however many call.
func TestQuestionsOfManyCalls(t *testing.T) {
	t.Parallel()
	revisions(t, func(t *testing.T, version string, s Server) {
		if version == mcpclient.ModernVersion {
			return // its questions are in the results
		}
		stdio := s.Command != ""
		p := newPool(t, Options{}, s)
		ctx := testContext(t)
		var wg sync.WaitGroup
		for i := range 8 {
			wg.Go(func() {
				name := fmt.Sprint("caller ", i)
				principal := name
				if stdio && version != "2025-06-18" {
					principal = "ann" // all are one person
				}
				for range 5 {
					peer := &peertest.Person{Caps: peertest.Everything, Answer: func(context.Context, string, []byte) ([]byte, []byte, error) {
						return []byte(`{"action":"accept","content":{"name":"` + name + `"}}`), nil, nil
					}}
					got := textOf(t, tool(ctx, t, p, principal, "elicit", peer))
					switch {
					case stdio && principal == "ann":
						if !strings.Contains(got, `"accept"`) {
							t.Errorf("%s was asked nothing: %s", name, got)
						}
					case stdio && strings.Contains(got, "cannot be attributed"): // others were waiting too
					case !strings.Contains(got, `{"name":"`+name+`"}`):
						t.Errorf("%s: the server got %s", name, got)
					}
				}
			})
		}
		wg.Wait()
	})
}

// TestQuestionsNameTheirServer, in every revision: the person reads whose question it is, and no password reaches a server that is not
// trusted.
func TestQuestionsNameTheirServer(t *testing.T) {
	t.Parallel()
	revisions(t, func(t *testing.T, version string, s Server) {
		for _, trusted := range []bool{false, true} {
			s.Trust = trusted
			pool := newPool(t, Options{Logs: t.TempDir()}, s)
			ctx := testContext(t)
			var mu sync.Mutex
			var messages []string
			peer := &peertest.Person{Caps: peertest.Everything}
			peer.Answer = func(ctx context.Context, method string, params []byte) ([]byte, []byte, error) {
				mu.Lock()
				defer mu.Unlock()
				messages = append(messages, rawjson.TextAt(params, "message")+rawjson.TextAt(params, "systemPrompt"))
				return peertest.Answers(ctx, method, params)
			}
			for _, name := range []string{"elicit", "sample", "elicit-secret"} {
				result, rpcErr, err := pool.Do(ctx, scopeOf("ann"), "", "s", "tools/call", []byte(`{"name":"`+name+`","arguments":{}}`), peer)
				if refused := name == "elicit-secret" && !trusted; refused {
					if said := fmt.Sprint(string(result), string(rpcErr), err); !strings.Contains(said, "does not pass on a form that asks for a secret") {
						t.Errorf("%s: %s", name, said)
					}
					if log, err := os.ReadFile(pool.Status()[0].Log); !strings.Contains(string(log), "asks for a secret") {
						t.Errorf("log %s, %v", log, err)
					}
					continue
				}
				if version == mcpclient.ModernVersion {
					again(ctx, t, pool, name, string(result), peer)
				}
			}
			want := []string{`The MCP server "s" asks.`, `This request comes from the MCP server "s".`}
			if trusted {
				want = append(want, `The MCP server "s" asks.`)
			}
			if len(messages) != len(want) {
				t.Fatalf("trusted %v: asked %q", trusted, messages)
			}
			for i, w := range want {
				if !strings.HasPrefix(messages[i], w) {
					t.Errorf("asked %q", messages[i])
				}
			}
		}
	})
}

func TestQuestionsPassByteForByte(t *testing.T) {
	t.Parallel()
	p := newPool(t, Options{}, play(t, "s", "play-fake", "asks"))
	const answer = `{"action":"accept","content":{"n":12345678901234567890,"f":1.50e+01},"x-future":[ ]}`
	var mu sync.Mutex
	var asked []string
	peer := &peertest.Person{Caps: peertest.Everything, Answer: func(_ context.Context, method string, params []byte) ([]byte, []byte, error) {
		mu.Lock()
		defer mu.Unlock()
		asked = append(asked, method+string(params))
		if method == "roots/list" {
			return nil, []byte(`{"code":-1,"message":"no","data":12345678901234567890}`), nil
		}
		return []byte(answer), nil, nil
	}}
	said := textOf(t, tool(testContext(t), t, p, "ann", "t", peer))
	for _, want := range []string{`"p"={}`, `"r"={"code":-1,"message":"no","data":12345678901234567890}`, `5=` + answer} {
		if !strings.Contains(said, want) {
			t.Errorf("the server got %s, not %s", said, want)
		}
	}
	slices.Sort(asked)
	named, _ := asking.Asker{Server: "s"}.Question("elicitation/create", []byte(fakeQuestion))
	if want := []string{`elicitation/create` + string(named), `roots/list{"_meta":{"mycelium/server":"s"}}`}; !slices.Equal(asked, want) {
		t.Errorf("asked %q", asked)
	}
}

func TestQuestionsOutsideOfACall(t *testing.T) {
	t.Parallel()
	p := newPool(t, Options{}, play(t, "s", "play-fake", "asks-early"))
	peer := &peertest.Person{Caps: peertest.Everything, Answer: func(context.Context, string, []byte) ([]byte, []byte, error) {
		return nil, nil, errors.New("nobody may be asked")
	}}
	said := textOf(t, tool(testContext(t), t, p, "ann", "t", peer))
	if want := "\"r\"={\"roots\":[]}\n\"e\"=" + `{"code":-32600,"message":"no client can be asked: the request cannot be attributed to one ` +
		`call on this connection"}`; said != want {
		t.Errorf("the server got %s", said)
	}
}
