package config

import (
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"strings"
	"testing"

	"mycelium/internal/config/keys"
	"mycelium/internal/config/source"
)

// TestReferenceNamesEveryKey: the page that lists the keys of mycelium.yaml has each of them; of the sections with a table of their own,
// each under its section's heading.
func TestReferenceNamesEveryKey(t *testing.T) {
	page, err := os.ReadFile("../../docs/reference/files.md")
	if err != nil {
		t.Fatal(err)
	}
	all := map[string]bool{}
	for _, k := range keys.Of(reflect.TypeFor[File]()) {
		if !strings.Contains(k.Path, "NAME") { // of a section with a table of its own
			all[k.Path] = true
		}
	}
	if !all["approval.judge.model"] || !all["session.defaultRole"] || len(all) < 40 {
		t.Fatalf("the keys are not found any more: %v", all)
	}
	_, sections, found := strings.Cut(string(page), "\n### approval\n")
	sections, _, end := strings.Cut(sections, "\n### server\n")
	if !found || !end {
		t.Fatal("approval, agents and spawn do not stand before server")
	}
	for key := range all {
		section, rest, _ := strings.Cut(key, ".")
		text, name := string(page), key[strings.LastIndex(key, ".")+1:]
		if section == "approval" || section == "agents" || section == "spawn" {
			text, name = sections, "`"+rest+"`"
			if webhook := strings.Split(rest, "."); webhook[0] == "notify" && len(webhook) == 3 {
				name = "`notify." + webhook[1] + "`" // one row for both keys
			}
		}
		if !strings.Contains(text, name) {
			t.Errorf("docs/reference/files.md does not name %s", key)
		}
	}
}

// TestCommentedKeysLoad: what `myc init` writes as a comment is good as it stands, once the comment is taken away.
func TestCommentedKeysLoad(t *testing.T) {
	text, err := os.ReadFile(filepath.Join("scaffold", "initial", source.MainFile))
	if err != nil {
		t.Fatal(err)
	}
	_, rest, found := strings.Cut(string(text), "\n# approval:\n")
	if !found {
		t.Fatal("approval is not in the file that init writes")
	}
	opened := regexp.MustCompile(`(?m)^# ?(  .*|[a-z]+:.*|)$`).ReplaceAllString("# approval:\n"+rest, "$1")
	for _, section := range []string{"approval:", "agents:", "spawn:", "limits:", "audit:", "server:", "env:"} {
		if !strings.Contains("\n"+opened, "\n"+section) {
			t.Errorf("%s is not among what is taken out of its comment:\n%s", section, opened)
		}
	}
	t.Setenv("TELEGRAM_BOT_TOKEN", "123456:ABC-DEF_ghi")
	w := newWorld(t)
	w.write(source.MainFile, opened)
	w.trust()
	p := w.load()
	if list := lines(p.Problems); len(list) > 0 {
		t.Errorf("%s\n%s", strings.Join(list, "\n"), opened)
	}
	if p.File.Approval.Telegram == nil || p.File.Agents.Budget.Total == nil || len(p.File.Spawn.SearchPaths) != 1 {
		t.Errorf("not all of it took effect: %+v", p.File)
	}
}
