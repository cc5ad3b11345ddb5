package facts

import (
	"os"
	"strings"
	"testing"

	"mycelium/internal/policy"
	"mycelium/internal/policy/box"
)

// TestPublishingRunsOutside: with the wall of `myc init`, a command that needs the person's keys or a service of the machine asks and runs
// outside, what changes nothing there runs outside without a question, and everything else runs inside.
func TestPublishingRunsOutside(t *testing.T) {
	dir := projectWith(t, "x.py", "go.mod", "package.json")
	p := initial(t, dir, box.Project)
	for _, command := range []string{
		"git push", "git push origin main", "git commit -m x && git push", "git -C sub push", "npm publish", "yarn publish", "pnpm publish",
		"cargo publish", "twine upload dist/x", "gem push x.gem", "gh pr create", "gh release create v1", "docker push x", "docker run x",
		"podman run x", "kubectl apply -f x.yaml", "terraform apply", "aws s3 cp a s3://b", "ssh host ls", "scp a host:b",
	} {
		if d := decideBy(t, p, dir, command); d.Effect != policy.Ask && d.Effect != policy.Deny || !d.Sandbox.None() {
			t.Errorf("%s: %v in %q, outside %q: %s", command, d.Effect, d.Sandbox, d.Outside, d.Reason)
		}
	}
	for _, command := range []string{"git fetch", "git fetch && git rev-parse origin/main | head -1", "gh pr list; git status"} {
		if d := decideBy(t, p, dir, command); d.Effect != policy.Allow || d.Outside == "" {
			t.Errorf("%s: %v in %q, outside %q: %s", command, d.Effect, d.Sandbox, d.Outside, d.Reason)
		}
	}
	for _, command := range []string{"git fetch && ./x", "git fetch && touch y", "gh pr list | python3 -"} {
		if d := decideBy(t, p, dir, command); d.Effect == policy.Allow && d.Outside != "" {
			t.Errorf("%s: %v in %q, outside %q: %s", command, d.Effect, d.Sandbox, d.Outside, d.Reason)
		}
	}
	for _, command := range []string{"go test ./...", "npm test", "make", "python3 x.py", "python3 -c 'print(1)'", "X=1; echo $X", "./x && kill 1"} {
		if d := decideBy(t, p, dir, command); d.Effect != policy.Allow || d.Sandbox.Profile != box.Project || len(d.Sandbox.Hosts) > 0 {
			t.Errorf("%s: %v in %q, outside %q: %s", command, d.Effect, d.Sandbox, d.Outside, d.Reason)
		}
	}
}

// TestEverydayCommands: of the commands of everyday work, behind the wall of `myc init`, few of the harmless ones ask, and none of those that
// should ask runs without a question. The labels were written before the first run.
func TestEverydayCommands(t *testing.T) {
	text, err := os.ReadFile("testdata/everyday.commands")
	if err != nil {
		t.Fatal(err)
	}
	dir := projectWith(t, "src/main.go", "go.mod", "go.sum", "package.json", "package-lock.json", "requirements.txt", "pyproject.toml", "Cargo.toml",
		"Cargo.lock", "pom.xml", "build.gradle", "gradlew", "mvnw", "Makefile", "manage.py", "scripts/run.sh", "scripts/build.sh", "scripts/e2e.sh", "a.c")
	p := initial(t, dir, box.Project)
	harmless, asked := 0, 0
	for line := range strings.Lines(string(text)) {
		label, command, ok := strings.Cut(strings.TrimSuffix(line, "\n"), " ")
		if !ok || label == "#" {
			continue
		}
		d := decideBy(t, p, dir, strings.ReplaceAll(command, `\n`, "\n"))
		runs := d.Effect == policy.Allow
		switch label {
		case "run":
			if harmless++; !runs {
				asked++
				t.Logf("%s: %v in %q: %s", command, d.Effect, d.Sandbox, d.Reason)
			}
		case "wall":
			if !runs || d.Outside != "" || len(d.Sandbox.Hosts) > 0 {
				t.Errorf("%s: %v in %q, outside %q: %s", command, d.Effect, d.Sandbox, d.Outside, d.Reason)
			}
		case "ask":
			if runs {
				t.Errorf("%s runs without a question in %q, outside %q: %s", command, d.Sandbox, d.Outside, d.Reason)
			}
		default:
			t.Fatalf("label %q", label)
		}
	}
	t.Logf("%d of %d harmless commands ask", asked, harmless)
	if asked*50 > harmless {
		t.Errorf("%d of %d harmless commands ask: more than 2 %%", asked, harmless)
	}
}
