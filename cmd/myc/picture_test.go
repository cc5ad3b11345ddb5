package main

import (
	"encoding/xml"
	"os"
	"regexp"
	"strings"
	"testing"
)

// The picture in README.md shows what the demo prints: the same lines, but for numbers, in the same order.
func TestPictureIsCurrent(t *testing.T) {
	t.Parallel()
	p := newProject(t, nil)
	raw, err := os.ReadFile("../../docs/demo.svg")
	if err != nil {
		t.Fatal(err)
	}
	var picture struct {
		Lines []struct {
			Inner string `xml:",innerxml"`
		} `xml:"text"`
	}
	if err := xml.Unmarshal(raw, &picture); err != nil {
		t.Fatal(err)
	}
	tags, numbers := regexp.MustCompile(`<[^>]*>`), regexp.MustCompile(`[0-9]+`)
	form := func(s string) string { return numbers.ReplaceAllString(strings.TrimSpace(s), "0") }
	entities := strings.NewReplacer("&#39;", "'", "&#34;", `"`, "&lt;", "<", "&gt;", ">", "&amp;", "&")
	var shown, printed []string
	for _, l := range picture.Lines {
		if s := form(entities.Replace(tags.ReplaceAllString(l.Inner, ""))); s != "" {
			shown = append(shown, s)
		}
	}
	for line := range strings.Lines(p.must("demo")) {
		if s := form(line); s != "" {
			printed = append(printed, s)
		}
	}
	const hint = "make picture makes it again"
	if len(shown) < len(printed) {
		t.Fatalf("the picture has %d lines, the demo prints %d: %s", len(shown), len(printed), hint)
	}
	i := 0
	for _, line := range printed { // the terminal wraps a long line
		for got := ""; got != line; i++ {
			if got = strings.TrimSpace(got + shown[min(i, len(shown)-1)]); !strings.HasPrefix(line, got) || got == "" || i >= len(shown) {
				t.Fatalf("the demo prints %q, the picture shows %q: %s", line, got, hint)
			}
		}
	}
}
