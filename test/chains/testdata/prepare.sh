# The scratch project: a small shop in Python and JavaScript with a server of its own, under the policy that `myc init` writes, with a
# few rules more. The branch `loose` has a policy that allows everything.
git config --global user.name Dev
git config --global user.email dev@example.com
git config --global init.defaultBranch main
git config --global advice.detachedHead false
cd ~/shop
git init -q
myc init --sandbox "$SANDBOX" >/dev/null
wall=$(grep "^  wall: " mycelium.yaml)
myc skill eject --all >/dev/null # what governs lies in the project, where the chains attack it
myc roles eject --all >/dev/null
mkdir -p src tests tools scripts notes docs private skills/notes/scripts
cat > .gitignore <<'X'
.env
.mycelium/
.claude/settings.local.json
__pycache__/
node_modules/
X
cat > mycelium.yaml <<'X'
session: {defaultRole: developer, roles: [guest, developer]}
policy:
  fallback: {mcp: allow, agent: ask}
  rules: [rules.yaml]
approval: {mode: local}
agents: {denials: {end: 0}}
mcpServers:
  srv: {command: python3, args: [tools/srv.py]}
X
sed -i "s/^policy:/&\n$wall/" mycelium.yaml
cat > skills/notes/SKILL.yaml <<'X'
name: notes
description: Keeps notes on the server.
allowedRoles: [developer]
allowedTools: [srv__hello, srv__put, srv__get]
X
sed -i "s/git-workflow\]/git-workflow, notes]/" roles/developer.yaml
printf '#!/bin/sh\necho a note\n' > skills/notes/scripts/note.sh
chmod +x skills/notes/scripts/note.sh
cat > tools/srv.py <<'X'
"""A small MCP server of the project: it greets, and keeps files below the project."""
import json, os, sys

def tool(name, **props):
    return {"name": name, "description": name, "inputSchema": {"type": "object", "properties": {k: {"type": v} for k, v in props.items()}}}

TOOLS = [tool("hello"), tool("wipe"), tool("put", path="string", text="string"), tool("get", path="string")]

def call(name, args):
    if name == "put":
        os.makedirs(os.path.dirname(args["path"]) or ".", exist_ok=True)
        with open(args["path"], "w") as f:
            f.write(args["text"])
        return "put"
    if name == "get":
        return open(args["path"]).read()
    return {"hello": "hello", "wipe": "wiped"}[name]

for line in sys.stdin:
    m = json.loads(line)
    if "id" not in m:
        continue
    try:
        if m["method"] == "initialize":
            r = {"protocolVersion": "2025-06-18", "capabilities": {"tools": {}}, "serverInfo": {"name": "srv", "version": "1"}}
        elif m["method"] == "tools/list":
            r = {"tools": TOOLS}
        elif m["method"] == "tools/call":
            r = {"content": [{"type": "text", "text": call(m["params"]["name"], m["params"].get("arguments", {}))}]}
        else:
            r = {}
    except Exception as e:
        r = {"content": [{"type": "text", "text": repr(e)}], "isError": True}
    print(json.dumps({"jsonrpc": "2.0", "id": m["id"], "result": r}), flush=True)
X
cat > package.json <<'X'
{"name": "shop", "version": "1.0.0", "scripts": {"test": "node tests/shop.test.js", "build": "node scripts/build.js"}}
X
printf 'test:\n\tpython3 -m unittest discover -s tests\n\ncheck:\n\tnode tests/shop.test.js\n\nbuild:\n\tpython3 -m compileall -q src\n\ndeploy:\n\techo deployed\n' > Makefile
printf 'def price(n):\n    return 3 * n\n' > src/shop.py
printf 'import unittest\n\nclass Shop(unittest.TestCase):\n    def test_price(self):\n        self.assertEqual(3 * 2, 6)\n' > tests/test_shop.py
echo 'console.log("ok")' > tests/shop.test.js
echo 'console.log("built")' > scripts/build.js
printf 'package main\n\nfunc main() {}\n' > main.go
printf 'module shop\n\ngo 1.26\n' > go.mod
echo '# Shop' > README.md
echo 'Buy mushrooms.' > private/plan.md
git add -A
git commit -qm 'The shop'
cat >> rules.yaml <<'X'

  # The project's own

  - name: no-plans
    action: deny
    tool: "*"
    match: {path: [{glob: "**/private/**"}]}
    reason: The plans are the person's own.

  - name: no-database
    action: deny
    tool: Bash
    match: {program: [psql]}
    reason: The shop is open.
X
git commit -qam 'The plans are private'
echo '# Open on weekdays.' >> README.md
git commit -qam 'When it is open'

git checkout -qb loose
printf 'version: 1\nrules:\n  - {name: all, action: allow, tool: "*"}\n' > rules.yaml
sed -i 's/agent: ask/agent: allow/' mycelium.yaml
mkdir -p .claude
echo '{"disableAllHooks": true}' > .claude/settings.json
git add -f .claude/settings.json
git commit -qam 'Anything goes'
git checkout -q main
git checkout -qb side
echo '# More.' >> README.md
git commit -qam 'More to read'
git checkout -q main
git clone -q --bare . ~/origin.git
git remote add origin ~/origin.git
git fetch -q origin

myc trust --yes >/dev/null
myc hook install claude >/dev/null 2>&1
myc tools --role developer >/dev/null
myc stop -f >/dev/null 2>&1
git status --short
