package facts

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"mycelium/internal/policy"
)

// token is a made-up token of npm. It is in two parts, so that no scanner takes this file for a leak.
const token = "npm" + "_q7Rk2TvLx9VbN4sMpZ8cYd3FhJ6gQa1eUo5i"

// privateKey is a made-up private key.
const privateKey = "-----BEGIN " + "PRIVATE KEY-----\nMIIEvQIBADANBgkqhkiG9w0BAQEFAASC\nBKcwggSjAgEAAoIBAQC7VJTUt9Us8cKj\n-----END " +
	"PRIVATE KEY-----\n"

// secretFiles are files with secrets, with what is in each.
var secretFiles = map[string]string{
	".env": "A=1\n", ".env.staging": "A=1\n", ".env.prod": "A=1\n", ".env.vercel": "A=1\n", ".env.dev": "A=1\n", ".env.bak": "A=1\n",
	".npmrc":  "registry=https://registry.npmjs.org/\n//registry.npmjs.org/:_authToken=" + token + "\n",
	".pypirc": "[pypi]\npassword = x\n", ".boto": "[Credentials]\n", "terraform.tfvars": "a = 1\n", "serviceAccountKey.json": "{}\n",
	"kubeconfig": "users: []\n", "id_ecdsa": privateKey, ".secrets": "A=1\n", ".docker/config.json": "{}\n", ".htpasswd": "u:x\n",
	"token.json": "{}\n", "deploy/notes.txt": "the token is " + token + "\n", "deploy/old.txt": privateKey, "deploy/server.pem": privateKey,
	"app.env": "DB_PASSWORD=hunter2x\n", "auth.json": `{"http-basic": {"repo.example.org": {"username": "u", "password": "p4ssw0rd"}}}`,
	"deploy/prod.tfvars": "db_password = \"hunter2x\"\n",
}

// harmlessFiles are files whose names are like those of files with secrets.
var harmlessFiles = map[string]string{
	".env.example": "API_KEY=\n", ".env.sample": "A=\n", ".env.template": "A=\n", ".env.prod.dist": "A=\n",
	"web/.npmrc": "registry=https://registry.npmjs.org/\n//registry.npmjs.org/:_authToken=${NPM_TOKEN}\n", "web/.envrc": "use flake\n",
	"ca.pem":          "-----BEGIN CERTIFICATE-----\nMIIB\n-----END CERTIFICATE-----\n",
	"lang/auth.json":  `{"password": "The password is incorrect.", "failed": "No such user."}`,
	"build.gradle":    "x\n",
	"web/notes.txt":   "use npm_xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx as the token\n",
	"web/compose.yml": "url: postgres://postgres:postgres@localhost/db\n",
	"dev.tfvars":      "region = \"eu\"\n", "testdata/key.txt": privateKey,
}

func secretProject(t *testing.T) string {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	for _, files := range []map[string]string{secretFiles, harmlessFiles} {
		for name, text := range files {
			writeFile(t, text, dir, name)
		}
	}
	return dir
}

// ways are commands that show what is in a file, or take it along.
var ways = []string{"cat %s", "head -3 %s", "cp %s x", "mv %s x", "tar cf x.tar %s", "base64 %s", "git hash-object -w %s", ". ./%s",
	"source ./%s", "wc -l --files0-from=%s", "tr a b < %s", "while read l; do echo $l; done < %s", "grep -r . %s", "sed -n p %s", "awk 1 %s",
	"ln -s %s l && cat l", "git diff --no-index /dev/null %s", "python3 -m json.tool %s", "curl -T %s http://localhost/", "diff %s x",
	"xxd %s", "sort %s", "file -m %s x", "git add -f %s", "f=%s; cat $f", "echo $(<%s)", "cat ./x/../%s", "find . -path ./%[1]s -exec cat {} +"}

// TestFilesWithSecrets: each file with secrets is refused by each way that opens it.
func TestFilesWithSecrets(t *testing.T) {
	dir := secretProject(t)
	p := shipped(t, dir)
	who := policy.Scope{Principal: policy.Principal{ID: "x", Role: "developer"}, Skills: []string{"coding-agent"}}
	decide := func(it policy.Item, args policy.Args) policy.Decision {
		f, err := Of(it, nil, args, At(p, dir, "/home/u", nil))
		if err != nil {
			t.Fatal(err)
		}
		return p.Decide(policy.Call{Scope: who, Item: it, Args: args, Facts: f})
	}
	bash := func(command string) policy.Decision { return decide(bashTool, policy.Args{"command": command}) }
	for name := range secretFiles {
		for _, way := range ways {
			if d := bash(fmt.Sprintf(way, name)); d.Effect == policy.Allow {
				t.Errorf(way+": allowed", name)
			} else if d.Effect == policy.Ask && way == "cat %s" {
				t.Errorf(way+": asks: %s", name, d.Reason)
			}
		}
		for _, tool := range []string{"Read", "Grep"} {
			key := map[string]string{"Read": "file_path", "Grep": "path"}[tool]
			d := decide(policy.Item{Server: policy.AgentServer, Name: tool}, policy.Args{key: filepath.Join(dir, name), "pattern": "."})
			if d.Effect != policy.Deny {
				t.Errorf("%s %s: %v (%s)", tool, name, d.Effect, d.Rule)
			}
		}
	}
	for _, command := range []string{"cat .env*", "cat .env.*", "cat .env.[a-z]*", "cat *.json", "cat *", "cat deploy/*", "cat */server.pem",
		"cat *.env", "cat .npm*", "grep -r . .", "tar czf x.tgz .", "cat .*"} {
		if d := bash(command); d.Effect == policy.Allow {
			t.Errorf("%s: allowed", command)
		}
	}
	for name := range harmlessFiles {
		if d := bash("cat " + name); d.Effect != policy.Allow {
			t.Errorf("cat %s: %v (%s: %s)", name, d.Effect, d.Rule, d.Reason)
		}
	}
}

// TestLookingAtFilesWithSecrets: a command that names a file with secrets, and does not open it, is allowed.
func TestLookingAtFilesWithSecrets(t *testing.T) {
	dir := secretProject(t)
	wants(t, dir, policy.Allow, "ls -la .env", "ls .env*", "ls -la", "test -f .env", "[ -f .env ] && echo yes", "[[ -e .env.local ]]",
		"stat .env", "stat -c %s id_ecdsa", "wc -c .env", "wc -l < .env", "git check-ignore .env*", "git check-ignore -v .env",
		"find . -name .env", "find . -name '.env*' -newer go.mod", "du -h .env", "file .env", "git ls-files .env", "git status .env",
		"git status --short .env.staging", "echo .env", "chmod 600 .env", "chmod go-rwx .env", "realpath .env", "readlink -f .env",
		"basename .env", "dirname .env", "git rm --cached .env", "echo .env >> .gitignore", "tree -a", "ls .secrets .docker/config.json",
		"touch .env.new", "touch .env.local", "cp .env.example .env.new", "cp .env.example .env.local", "test -f .env.new || cp .env.example .env.new")
	// A copy over any file that exists asks. Nothing of it is lost with -n, so it is no denial.
	wants(t, dir, policy.Ask, "cp -n .env.example .env", "cp --no-clobber .env.example .env")
	wants(t, dir, policy.Deny, "touch .env", "cp .env.example .env", "cp .env.staging .env.new", "cp -n .env.staging .env.new", "rm .env",
		"mv .env .env.old", "echo x > .env", "tee .env.local < x", "sed -i s/a/b/ .env", "git status -v .env", "sha256sum .env",
		"chmod 644 .env", "cp ca.pem .env", "cp -s .env.example .env", "echo A=1 > .env.new", "ln -s .env notes && cat notes")
	// The folder of keys stays closed, its names too.
	wants(t, dir, policy.Deny, "ls ~/.ssh", "stat ~/.ssh/id_rsa", "test -f ~/.aws/credentials")
	if err := os.Symlink(".env.gone", filepath.Join(dir, ".env.link")); err != nil {
		t.Fatal(err)
	}
	wants(t, dir, policy.Deny, "touch .env.link", "cp .env.example .env.link")
}
