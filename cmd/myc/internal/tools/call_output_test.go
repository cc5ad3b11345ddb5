package tools

import (
	"testing"
)

// TestResultText: envelopes that hold nothing but another result are unwrapped where people read (A18), anything else is shown as it is.
func TestResultText(t *testing.T) {
	for _, c := range []struct{ name, result, want string }{
		{"plain", `{"content":[{"type":"text","text":"こんにちは"}]}`, "こんにちは"},
		{"envelope", `{"content":[{"type":"text","text":"{\"content\":[{\"type\":\"text\",\"text\":\"inner\"}]}"}]}`, "inner"},
		{"two envelopes", `{"content":[{"type":"text","text":"{\"content\":[{\"type\":\"text\",` +
			`\"text\":\"{\\\"content\\\":[{\\\"type\\\":\\\"text\\\",\\\"text\\\":\\\"deep\\\"}]}\"}]}"}]}`, "deep"},
		{"JSON that is no result", `{"content":[{"type":"text","text":"{\"content\":\"no list\"}"}]}`, `{"content":"no list"}`},
		{"text that is not JSON", `{"content":[{"type":"text","text":"{content"}]}`, "{content"},
		{"an envelope beside another block stays", `{"content":[{"type":"text","text":"{\"content\":[{\"type\":\"text\",\"text\":\"x\"}]}"},` +
			`{"type":"text","text":"b"}]}`, `{"content":[{"type":"text","text":"x"}]}` + "\nb"},
		{"other blocks", `{"content":[{"type":"image","mimeType":"image/png","data":"AA=="},{"type":"text","text":"a"}]}`,
			"[image image/png]\na"},
		{"no content", `{"structuredContent":{"a":1}}`, `{"structuredContent":{"a":1}}`},
	} {
		if got := resultText([]byte(c.result)); got != c.want {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
	}
}
