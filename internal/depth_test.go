package internal_test

import (
	"go/ast"
	"slices"
	"strings"
	"testing"
)

// readers are the packages that decode JSON without the bound on depth of rawjson (Decode, Valid, rpc.Parse), and why they may. Every other
// package that reads JSON uses rawjson. The library's own bound of 10,000 holds everywhere.
//
//	part   it decodes a part of a text that was bounded as a whole: of a message, of an event, of a definition
//	own    it reads what this program, or another process of it, has written: the state, its socket, its commands
//	person it reads a file, or a text, of the person who runs the program
//	model  it reads the answer of a language model, which has a bound on its length
//	flat   it keeps nothing of the depth of what it reads: it looks for members, or reads a flat value of a bounded text
//	fake   it plays somebody in tests and demonstrations
const readers = `
part   : internal/approval internal/backend/catalog internal/backend/mcpclient internal/builtin internal/gate internal/gate/facts internal/gate/view
part   : internal/gateway/mcpserver internal/node internal/node/roleprompt internal/node/spawned internal/policy/arguments
part   : internal/run internal/scan internal/skill internal/rpc internal/config/toolindex internal/agent/screen internal/yamlfile internal/model
own    : internal/agent/journal internal/audit internal/audit/index internal/backend/pin internal/config/accept internal/config/profiles
own    : internal/config/save internal/daemon internal/gate/session internal/hook/door internal/keeper internal/memory internal/node/agentshell
own    : internal/node/agentshell/shim
own    : internal/node/chat internal/node/client internal/node/relocate internal/node/sandboxed internal/node/ungoverned internal/op/failure internal/run/book
own    : internal/sandbox internal/sandbox/jail internal/sandbox/light internal/sandbox/quarantine internal/state internal/swarm/book internal/swarm/notices
own    : internal/swarm/material internal/swarm/worker internal/transcript internal/web/device internal/web/push internal/web/served
own    : internal/agent/slash cmd/myc/internal/agents cmd/myc/internal/approvals cmd/myc/internal/base cmd/myc/internal/demo cmd/myc/internal/engine
own    : cmd/myc/internal/modes cmd/myc/internal/policy cmd/myc/internal/repl cmd/myc/internal/tools
person : internal/code internal/config/fromclaude internal/config/settings internal/hook/install internal/memory/exchange internal/node/talks
person : internal/policy/box internal/swarm/plan
model  : internal/approval/judge internal/agent/structured internal/swarm/proposal
flat   : internal/sandbox/warm
fake   : internal/model/fake
`

// TestReadersOfJSON: whoever decodes a text of others does it with the bound on depth. A new reader uses rawjson, or says here why not.
func TestReadersOfJSON(t *testing.T) {
	known, used := map[string]bool{}, map[string]bool{}
	for line := range strings.Lines(strings.TrimSpace(readers)) {
		_, dirs, _ := strings.Cut(line, ":")
		for _, dir := range strings.Fields(dirs) {
			known[dir] = true
		}
	}
	decoders := []string{"Unmarshal", "UnmarshalRead", "UnmarshalDecode", "NewDecoder"}
	for dir, files := range packages(t) {
		if dir == "internal/rawjson" || !strings.HasPrefix(dir, "internal/") && !strings.HasPrefix(dir, "cmd/") || strings.HasSuffix(dir, "test") {
			continue
		}
		for _, file := range files {
			ast.Inspect(file, func(n ast.Node) bool {
				s, ok := n.(*ast.SelectorExpr)
				if !ok || !slices.Contains(decoders, s.Sel.Name) {
					return true
				}
				if pkg, ok := s.X.(*ast.Ident); ok && (strings.HasSuffix(pkg.Name, "json") || pkg.Name == "jsontext") {
					used[dir] = true
				}
				return true
			})
		}
		if used[dir] && !known[dir] {
			t.Errorf("%s decodes JSON without a bound on its depth: use rawjson.Decode, or say in readers why it need not", dir)
		}
	}
	for dir := range known {
		if !used[dir] {
			t.Errorf("%s does not decode JSON by itself any more: remove it from readers", dir)
		}
	}
}
