package page

import (
	"os"
	"strings"
	"testing"
	"time"

	"golang.org/x/net/html"
)

// injections are texts that would be something else than text if they were not escaped.
var injections = []string{
	`<script>alert(1)</script>`, `<img src=x onerror=alert(1)>`, `<svg/onload=alert(1)>`, `<iframe src="https://example.com"></iframe>`,
	`"><script>alert(1)</script>`, `'><img src=https://example.com/x>`, `</p></article></main><form action=https://example.com><button>`,
	`</title><script>alert(1)</script>`, `</style><script>alert(1)</script>`, `<!-- <script> -->`, `--><script>alert(1)</script>`,
	`<![CDATA[<script>alert(1)</script>]]>`, `<a href="javascript:alert(1)">x</a>`, `[x](javascript:alert(1))`,
	`![x](https://example.com/t.png)`,
	`<base href="https://example.com/">`, `<meta http-equiv="refresh" content="0;url=https://example.com">`,
	`<link rel="stylesheet" href="https://example.com/x.css">`, `<object data="https://example.com"></object>`, `<embed src=x>`,
	`<style>@import "https://example.com"</style>`, `" onmouseover="alert(1)`, `&lt;script&gt;alert(1)&lt;/script&gt;`, `&#60;script&#62;`,
	"```\n</code></pre><script>alert(1)</script>\n```", "`</code><script>alert(1)</script>`", "```\n<script>never closed", "\u202e<script>",
	"\x00<script>\x00", "<scr\u200bipt>", "<textarea></textarea><script>", "<details open ontoggle=alert(1)>", "<math><mi xlink:href=\"x\">",
	"<template><script>alert(1)</script></template>", "<plaintext>", "\xff\xfe<script>", "{{template}} ${x} <%= x %>",
	"   ~~~\n```\n   ~~~\n<script>alert(1)</script>",
}

// hostile has an injection in every place.
func hostile(s string) *Conversation {
	return &Conversation{Title: s, Tags: []string{s}, Facts: []Fact{{"Model", s}}, Messages: []Message{
		{Role: "user", Text: s, Time: time.Unix(0, 0)}, {Role: s, Text: "before " + s, Thinking: s, Summary: true},
		{Role: "assistant", Text: "x", Calls: []Call{{Name: s, Input: s, Output: s, Failed: true}}},
	}}
}

var everything = Options{Calls: true, Thinking: true, Metadata: true}

// attributes are the elements of a page with the attributes that they may have.
var attributes = map[string]string{"html": "lang", "head": "", "meta": "charset http-equiv content name", "title": "", "style": "",
	"body": "", "main": "", "header": "", "p": "class dir", "h1": "dir", "h2": "", "dl": "", "div": "", "dt": "", "dd": "dir", "ul": "class",
	"li":      "dir",
	"article": "class", "time": "datetime", "details": "class", "summary": "", "pre": "tabindex", "code": "", "span": "class"}

// TestInjections parses each page as a browser does: it has the elements of an innocent page, and no other; and what was said is its text.
func TestInjections(t *testing.T) {
	if len(injections) < 20 {
		t.Fatal("too few")
	}
	shape, _ := parse(t, HTML(hostile("innocent"), everything))
	for _, s := range injections {
		got, said := parse(t, HTML(hostile(s), everything))
		for _, tag := range got {
			if tag != "p" && tag != "pre" && tag != "code" && strings.Count(strings.Join(got, " ")+" ", tag+" ") !=
				strings.Count(strings.Join(shape, " ")+" ", tag+" ") {
				t.Errorf("%q: the page has other elements: %v", s, got)
				break
			}
		}
		if strings.Contains(s, "alert(1)") && strings.Count(said, "alert(1)") < 8 {
			t.Errorf("%q: it is not shown as text everywhere: %q", s, said)
		}
	}
}

// parse returns the elements of a page, in order, and its text. It checks the attributes.
func parse(t *testing.T, page string) (tags []string, said string) {
	t.Helper()
	doc, err := html.Parse(strings.NewReader(page))
	if err != nil {
		t.Fatal(err)
	}
	for n := range doc.Descendants() {
		switch {
		case n.Type == html.ElementNode:
			allowed, ok := attributes[n.Data]
			if !ok {
				t.Errorf("the page has an element %s", n.Data)
			}
			for _, a := range n.Attr {
				if !strings.Contains(" "+allowed+" ", " "+a.Key+" ") {
					t.Errorf("%s has an attribute %s=%q", n.Data, a.Key, a.Val)
				}
			}
			tags = append(tags, n.Data)
		case n.Type == html.CommentNode:
			t.Errorf("the page has a comment: %q", n.Data)
		case n.Type == html.TextNode && n.Parent.Data != "style":
			said += n.Data
		}
	}
	return tags, said
}

// TestLoadsNothing: the style has no address, and the page forbids to load anything.
func TestLoadsNothing(t *testing.T) {
	page := HTML(hostile("x"), everything)
	for _, word := range []string{"url(", "@import", "http:", "https:", "//", "src=", "href=", "<script"} {
		if strings.Contains(strings.ReplaceAll(page, "x", ""), word) {
			t.Errorf("the page has %q", word)
		}
	}
	if !strings.Contains(page, "default-src 'none'") || !strings.Contains(page, "prefers-color-scheme: dark") {
		t.Error("the page lacks its policy, or the dark style")
	}
}

// TestMarkdown: in Markdown too a message cannot begin another, and has neither HTML nor images outside of code.
func TestMarkdown(t *testing.T) {
	for _, s := range append(injections, "x\n## User\n\nforged", "```\ncode\n````\n## User") {
		for line := range strings.Lines(Markdown(hostile(s), Options{Metadata: true})) {
			if strings.HasPrefix(line, "> ") {
				continue
			}
			if strings.HasPrefix(line, "## ") && line != "## User\n" && line != "## Assistant\n" && line != "## Summary\n" {
				t.Errorf("%q: a heading %q", s, line)
			}
			if strings.Contains(strings.ReplaceAll(line, `\<`, ""), "<") || strings.Contains(line, "![") {
				t.Errorf("%q: %q is not escaped", s, line)
			}
		}
	}
	c := &Conversation{Title: "きのこ *x*", Tags: []string{"a"}, Facts: []Fact{{"Role", "guest"}}, Messages: []Message{
		{Role: "user", Text: "See <b>\r\n```\n<b>\n```\n![x](y)", Time: time.Date(2026, 11, 25, 1, 2, 3, 0, time.UTC)},
		{Role: "assistant", Text: "", Thinking: "hidden", Calls: []Call{{Name: "sh", Input: "{\"a\":\"```\"}", Output: "out\n"}}}}}
	const short = "# きのこ \\*x\\*\n\n## User\n\n> See &lt;b>\n> ```\n> <b>\n> ```\n> !\\[x](y)\n"
	if got := Markdown(c, Options{}); got != short {
		t.Errorf("%q", got)
	}
	const long = "\n## Assistant\n\nReasoning:\n\n> hidden\n\nTool sh\n\n````json\n{\"a\":\"```\"}\n````\n\n```text\nout\n```\n"
	if got := Markdown(c, everything); !strings.HasSuffix(got, long) || !strings.Contains(got, "- Role: guest\n- Tags: a\n") ||
		!strings.Contains(got, "*2026-11-25 01:02:03*") {
		t.Errorf("%q", got)
	}
	if got := Markdown(hostile("   ~~~\n```\n   ~~~\n<script>"), Options{}); strings.Contains(got, "> <script>") {
		t.Errorf("HTML after a fence that may have ended: %q", got)
	}
}

// TestSample writes the page of a conversation for a look at it, where PAGE names a file.
func TestSample(t *testing.T) {
	at := time.Date(2026, 11, 25, 9, 30, 0, 0, time.UTC)
	c := &Conversation{Title: "Why the build of きのこ図鑑 fails", Tags: []string{"build", "野生"}, Facts: []Fact{{"Role", "developer"},
		{"Agent", "claude"}, {"Model", "claude-opus-4-8"}, {"Began", "2026-11-25 09:30:00 UTC"}, {"Length", "5 messages, about 1840 tokens"}},
		Messages: []Message{
			{Role: "system", Summary: true, Text: "Summary of 12 messages that came before:\n\n- user: The build fails " +
				"since yesterday.\n- assistant: The module was renamed, and one import has the old name.", Time: at},
			{Role: "user", Text: "Please mend the import, and tell me in one sentence what was wrong.\n\n" +
				"テストも実行してください。", Time: at.Add(time.Minute)},
			{Role: "assistant", Thinking: "The import in cmd/list.go has the old path. One edit, then the tests.", Time: at.Add(2 * time.Minute),
				Text: "One file imported `kinoko/old`, which is now `kinoko/list`. I changed this line:\n\n```go\nimport \"kinoko/list\"\n```\n" +
					"\nAll 42 tests pass.",
				Calls: []Call{{Name: "Edit", Input: `{"file_path":"cmd/list.go","old_string":"old","new_string":"list"}`, Output: "done"},
					{Name: "Bash", Input: `{"command":"go test ./..."}`, Output: "ok  kinoko/list 0.4s", Failed: true}}},
			{Role: "user", Text: "<script>alert('text')</script> stays text?", Time: at.Add(3 * time.Minute)},
			{Role: "assistant", Text: "Yes: what is written here is text, whoever wrote it.", Time: at.Add(4 * time.Minute)},
		}}
	page := HTML(c, everything)
	if strings.Count(page, "<article") != 5 || strings.Count(page, "<details") != 3 || !strings.Contains(page, "<code>kinoko/old</code>") {
		t.Error("the page lacks a part")
	}
	if path := os.Getenv("PAGE"); path != "" {
		if err := os.WriteFile(path, []byte(page), 0o600); err != nil {
			t.Fatal(err)
		}
	}
}
