package main

import (
	"encoding/base64"
	"fmt"
	"os"
	"strings"
	"testing"
)

const badDoc = "../../docs/proofs/bad-input.md"

// checkBadDoc wants docs/proofs/bad-input.md to show the tables as they are.
func checkBadDoc(t *testing.T, tables []*badTable) {
	t.Helper()
	var b strings.Builder
	rows := 0
	for _, tab := range tables {
		rows += len(tab.rows)
	}
	fmt.Fprintf(&b, "# Bad input\n\nThis page lists malformed input, the place where it can arrive, and the exact answer: %d rows. "+
		"`TestBadInput` plays each\nrow against the real program (`cmd/myc/testdata/badinput`). It also checks that no file is written, that no "+
		"session is made or\nwidened, that the next good message is answered, and that the log verifies. "+
		"`go test ./cmd/myc -run TestBadInput -update` writes\nthis page.\n\nIn the rows, \"…\" stands for any text, `{{5000x a}}` for 5000 "+
		"times a, `{{hex ff}}` for bytes, ⏎ for a line end, and `{{meta}}` for the\n`_meta` that a message of MCP 2026-07-28 carries in "+
		"`params` (it is empty for older revisions).\n", rows)
	for _, tab := range tables {
		fmt.Fprintf(&b, "\n## %s\n\n", tab.title)
		for line := range strings.Lines(tab.intro + "\n") {
			if !strings.HasPrefix(line, "values: ") {
				b.WriteString(line)
			}
		}
		b.WriteString("\n| What | Input and answer |\n| --- | --- |\n")
		for _, r := range tab.rows {
			var cells []string
			for _, line := range r.lines {
				cells = append(cells, codeCell(line))
			}
			fmt.Fprintf(&b, "| %s | %s |\n", strings.ReplaceAll(r.name, "|", `\|`), strings.Join(cells, "<br>"))
		}
	}
	if *updateBadInput {
		if err := os.WriteFile(badDoc, []byte(b.String()), 0o600); err != nil {
			t.Fatal(err)
		}
		return
	}
	if have, err := os.ReadFile(badDoc); err != nil || string(have) != b.String() {
		t.Errorf("docs/proofs/bad-input.md is not what the tables say (%v): run go test ./cmd/myc -run TestBadInput -update", err)
	}
}

// codeCell is code in a cell of a Markdown table.
func codeCell(s string) string {
	s = strings.ReplaceAll(s, "|", `\|`)
	if strings.Contains(s, "`") {
		return "`` " + s + " ``"
	}
	return "`" + s + "`"
}

// encodedHeader is a value as a header carries it (SEP-2243).
func encodedHeader(v string) string {
	for i := range len(v) {
		if v[i] < 0x21 || v[i] > 0x7e {
			return "=?base64?" + base64.StdEncoding.EncodeToString([]byte(v)) + "?="
		}
	}
	if v == "" {
		return "=?base64??="
	}
	return v
}
