package main

import (
	"encoding/json"
	"net"
	"net/netip"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"mycelium/internal/approval"
	"mycelium/internal/model/fake"
	"mycelium/internal/model/fake/faketest"
	"mycelium/internal/registry/registrytest"
)

// morning is a project, and the commands of a morning's work in it, as transcripts of agents have them. A command is followed by a text that
// the model reads. That of a server runs in the background (&). A person is asked about one with a question mark, and says yes.
type morning struct {
	files    map[string]string
	commands [][2]string
}

var mornings = map[string]morning{
	"node": {
		map[string]string{
			"package.json": `{"name": "shop", "version": "1.0.0", "type": "module", "scripts": {"test": "node --test", "build": "node build.mjs",
				"start": "node server.mjs", "postinstall": "node -e 1"}}`,
			"package-lock.json": `{"name": "shop", "version": "1.0.0", "lockfileVersion": 3, "requires": true, "packages": {"": {"name": "shop", "version": "1.0.0"}}}`,
			"server.mjs":        "import {createServer} from 'node:http';\nimport {greet} from './greet.mjs';\ncreateServer((_, r) => r.end(greet('you'))).listen(8124);\n",
			"greet.mjs":         "export const greet = name => `Hello ${name}`;\n",
			"greet.test.mjs":    "import test from 'node:test';\nimport assert from 'node:assert';\nimport {greet} from './greet.mjs';\ntest('greets', () => assert.equal(greet('a'), 'Hello a'));\n",
			"build.mjs":         "import {mkdirSync, copyFileSync} from 'node:fs';\nmkdirSync('dist', {recursive: true});\ncopyFileSync('greet.mjs', 'dist/greet.mjs');\n",
			".gitignore":        "dist\nnode_modules\n",
		},
		[][2]string{
			{"git status && git log --oneline -5", "begin"}, {"ls -la && cat package.json | head -20", "postinstall"}, {"cat greet.mjs greet.test.mjs", "Hello"},
			{"npm ci", ""}, {"npm install frame", "Run the same command again"}, {"?npm install frame", "added 3 packages"},
			{"npm ls --all && npm ci && npm ls --all", "right-pad@1.0.0"}, {"npm test 2>&1 | tail -12", "pass 1"}, {"git checkout -b feature/greet", ""},
			{"sed -i 's/Hello/Hi/' greet.mjs && git diff --stat", "greet.mjs"}, {"npm test 2>&1 | grep -A3 actual", "Hi a"},
			{"sed -i 's/Hello/Hi/' greet.test.mjs && npm test 2>&1 | grep '^# pass\\|pass 1'", "1"}, {"npm run build && ls dist", "greet.mjs"},
			{"node -e \"import('./greet.mjs').then(m => console.log(m.greet('x')))\"", "Hi x"},
			{"cat > notes.md <<'EOF'\n# Notes\nGreets shortly.\nEOF", ""},
			{"for f in *.mjs; do node --check \"$f\" || echo \"bad $f\"; done", ""}, {"grep -rn greet --include='*.mjs' . | wc -l", ""},
			{"(node server.mjs & echo $! > server.pid); until curl -sf http://127.0.0.1:8124/; do sleep 0.1; done; kill $(cat server.pid); rm server.pid", "Hi you"},
			{"&npm start", ""}, {"until curl -sf http://localhost:8124/; do sleep 0.1; done", "Hi you"},
			{"git add -A && git commit -qm 'Greet shortly' && git log --oneline | head -3", "Greet shortly"}, {"git fetch -q origin", ""},
			{"?git push -q origin HEAD", ""},
		},
	},
	"python": {
		map[string]string{
			"shop/__init__.py": "", "shop/greet.py": "def greet(name):\n    return f'Hello {name}'\n",
			"tests/__init__.py":   "",
			"tests/test_greet.py": "import unittest\nfrom shop.greet import greet\n\nclass T(unittest.TestCase):\n    def test(self):\n        self.assertEqual(greet('a'), 'Hello a')\n",
			"Makefile":            "test:\n\tpython3 -m unittest -q\n",
			"requirements.txt":    "\n", ".gitignore": ".venv\nlib\n__pycache__\n",
		},
		[][2]string{
			{"git status --short; git log --oneline -3", "begin"}, {"find . -name '*.py' -not -path './.venv/*' | xargs wc -l | tail -1", "total"},
			{"python3 -m venv --without-pip .venv && . .venv/bin/activate && python -V", "Python 3"}, {"python3 -m unittest -q 2>&1 | tail -3", "OK"},
			{"pip3 install -q --target lib frame", "Run the same command again"}, {"?pip3 install -q --target lib frame", ""},
			{"PYTHONPATH=lib python3 -c 'import rightpad; print(\"pad\", rightpad.rightpad)'; echo frame==1.0.0 >> requirements.txt", "pad 1"},
			{"make test", ""}, {"git switch -c fix/greet", ""}, {"python3 - <<'EOF'\nimport pathlib, re\np = pathlib.Path('shop/greet.py')\np.write_text(p.read_text().replace('Hello', 'Hi'))\nEOF", ""},
			{"git diff | cat", "+    return f'Hi {name}'"}, {"python3 -m unittest 2>&1 | tail -5; echo code $?", "FAILED"},
			{"sed -i 's/Hello/Hi/' tests/test_greet.py && .venv/bin/python -m unittest -q 2>&1 | tail -1", "OK"},
			{"python3 -c 'from shop.greet import greet; print(greet(\"x\"))' | tee out.txt", "Hi x"}, {"timeout 20 python3 -m compileall -q shop && echo compiled", "compiled"},
			{"python3 -m cProfile -s cumtime -m unittest 2>&1 | head -3; rm -rf build dist *.egg-info", ""}, {"&python3 -m http.server 8125", ""},
			{"until curl -sf http://localhost:8125/out.txt; do sleep 0.1; done", "Hi x"},
			{"echo 'print(1)' > scratch.py && python3 scratch.py && rm scratch.py", "1"}, {"bash -c 'set -e; ls shop; test -f Makefile && echo there'", "there"},
			{"git stash -q && git stash pop -q && git add -A && git commit -qm 'Greet shortly' && git show --stat | tail -3", "changed"},
			{"git rebase -q main && git commit --amend -q --no-edit && git log --oneline | head -1", "Greet shortly"}, {"?git push -q origin HEAD", ""},
		},
	},
}

// TestMorning: the commands of a morning's work of the real Claude Code behind the walls of `myc init` do what they do without them, and ask
// twice: about a package that is new, and about the push.
func TestMorning(t *testing.T) {
	door := agentDoors[0] // the newest waits at its end for its servers in the background
	_, err := door.find("../..", "claude")
	needed(t, err, "Claude Code, "+door.name)
	if !withoutNetwork(t, faketest.OwnMounts) {
		return
	}
	folder := t.TempDir()
	if err := faketest.OwnHosts(folder, netip.MustParseAddr(registrytest.Address), registrytest.Hosts()); err != nil {
		t.Fatal(err)
	}
	l, err := net.Listen("tcp", registrytest.Address+":443")
	if err != nil {
		t.Fatal(err)
	}
	cert, _ := registrytest.New(t).Serve(t, l)
	roots := filepath.Join(folder, "roots.pem")
	if err := os.WriteFile(roots, registrytest.PEM(cert), 0o600); err != nil {
		t.Fatal(err)
	}
	for name, m := range mornings {
		t.Run(name, func(t *testing.T) { m.works(t, door, roots) })
	}
}

func (m morning) works(t *testing.T, door agentDoor, roots string) {
	p := newProject(t, nil)
	p.write("../.gitconfig", "[user]\n\tname = Ada\n\temail = ada@example.com\n[init]\n\tdefaultBranch = main\n")
	for file, text := range m.files {
		p.write(file, text)
	}
	p.must("init")
	p.git("init", "-q", "-b", "main")
	p.git("add", ".")
	p.git("commit", "-qm", "begin")
	bare := filepath.Join(p.home, "bare.git")
	p.git("init", "-q", "--bare", bare)
	p.git("remote", "add", "origin", bare)
	p.git("push", "-q", "origin", "main")
	var steps []fake.Step
	var asked []approval.Request
	for _, c := range m.commands {
		kind, command := c[0][:1], strings.TrimLeft(c[0], "&?")
		steps = append(steps, fake.Step{Func: func(fake.Request) fake.Step {
			mode := "local" // nobody can be asked, so that a question is a refusal
			if kind == "?" {
				mode = "remote"
			}
			p.must("approvals", "mode", mode)
			if kind == "?" {
				go func() {
					r := p.next("")
					asked = append(asked, r)
					if _, stderr, err := p.run("approvals", "approve", r.ID, "--sure"); err != nil {
						t.Errorf("approve: %v\n%s", err, stderr)
						_, _, _ = p.run("approvals", "deny", r.ID)
					}
				}()
			}
			step := bashStep(command)
			if kind == "&" {
				step.ToolUses[0].Input = map[string]any{"command": command, "description": "x", "run_in_background": true}
			}
			return step
		}})
	}
	for i, told := range p.shellRunWith(t, door, []string{"SSL_CERT_FILE=" + roots}, steps...) {
		if c := m.commands[i]; !strings.Contains(told, c[1]) || strings.Contains(told, "Mycelium") && !strings.Contains(c[1], "again") {
			t.Errorf("%s: the model reads %q, want %q", c[0], told, c[1])
		}
	}
	if len(asked) != 2 || !strings.Contains(string(asked[0].Args), "frame") || !strings.Contains(string(asked[1].Args), "push") {
		t.Errorf("the questions are %+v", asked)
	}
	var entries []json.RawMessage
	if p.decode(&entries, "audit", "query", "--effect", "deny"); len(entries) != 1 || !strings.Contains(string(entries[0]), ":frame in the sandbox") {
		t.Errorf("refused: %s", entries)
	}
	if got, want := p.git("--git-dir", bare, "rev-parse", strings.TrimSpace(p.git("branch", "--show-current"))), p.git("rev-parse", "HEAD"); got != want {
		t.Errorf("origin has %s, want %s", got, want)
	}
}
