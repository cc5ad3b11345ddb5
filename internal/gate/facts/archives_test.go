package facts

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"mycelium/internal/policy"
)

// packed makes an archive with a command, in a folder that has the files and a link to .claude.
func packed(t *testing.T, to string, command string, files ...string) {
	t.Helper()
	dir := projectWith(t, files...)
	cmd := exec.Command("sh", "-c", command)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "OUT="+to)
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%s: %v\n%s", command, err, out)
	}
}

// TestArchives: the names of the members count as written (W11).
func TestArchives(t *testing.T) {
	dir := projectWith(t, "a.go", "sub/b.go")
	at := func(name string) string { return filepath.Join(dir, name) }
	packed(t, at("code.tgz"), `tar czf "$OUT" .`, "src/a.go", "docs/b.md")
	packed(t, at("hooks.tar"), `tar cf "$OUT" .`, "src/a.go", ".claude/settings.json")
	packed(t, at("hooks.tgz"), `tar czf "$OUT" x`, "x/y/.claude/settings.json", "x/src/a.go")
	packed(t, at("rules.tar"), `tar cf "$OUT" .`, "rules.yaml")
	packed(t, at("strip.tar"), `tar cf "$OUT" v1`, "v1/rules.yaml", "v1/src/a.go")
	packed(t, at("link.tar"), `mv l r; ln -s .claude l; tar cf "$OUT" l; rm l; mv r l; tar rf "$OUT" l`, "l/settings.json")
	packed(t, at("hard.tar"), `ln .env e.txt; tar cf "$OUT" .env e.txt`, ".env")
	packed(t, at("code.zip"), `python3 -m zipfile -c "$OUT" src`, "src/a.go")
	packed(t, at("hooks.zip"), `python3 -m zipfile -c "$OUT" .claude src`, "src/a.go", ".claude/settings.json")
	packed(t, at("code.tar.xz"), `echo no archive > "$OUT"`)
	wants(t, dir, policy.Deny, "tar xf hooks.tar", "tar -xf hooks.tar -C sub", "tar xzf hooks.tgz", "unzip hooks.zip",
		"unzip -d sub hooks.zip",
		"tar xf link.tar", "python3 -m zipfile -e hooks.zip .", "cd sub && tar xf ../hooks.tar", "tar x < hooks.tar", "tar xf hooks.tgz x/y",
		"for f in *.zip; do unzip \"$f\"; done", "7z x hooks.zip", "tar xf hooks.tar --wildcards '*.json'")
	wants(t, dir, policy.Ask, "tar xf rules.tar", "tar xf strip.tar --strip-components=1", "tar xf hard.tar", "tar xf code.tar.xz",
		"tar -C sub -xf rules.tar -C ..")
	wants(t, dir, policy.Allow, "tar xf code.tgz", "tar xzf code.tgz -C sub", "unzip code.zip", "unzip -o code.zip 'src/*' -d sub",
		"tar tf hooks.tar", "tar xf hooks.tgz x/src", "unzip hooks.zip 'src/*'", "tar -xJf code.tar.xz -C sub",
		"tar xf strip.tar -C sub --strip-components=1",
		"tar xf nothing.tar", "tar xf strip.tar")
	wants(t, dir, policy.Deny, "zip -m x.zip rules.yaml", "zip -rm x.zip .claude", "7z a -sdel x.7z mycelium.yaml",
		"tar cf x.tar --remove-files rules.yaml")
}
