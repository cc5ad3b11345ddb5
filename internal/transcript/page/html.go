package page

import (
	_ "embed"
	"fmt"
	"strings"
	"time"

	"mycelium/internal/text"
)

//go:embed page.css
var style string

// policy is the page's own limit: even if an element got into it, no script would run and nothing would be loaded.
const policy = `default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'`

// HTML writes a conversation as one page, dark or light as the reader prefers. It has no script and loads nothing.
func HTML(c *Conversation, o Options) string {
	var b strings.Builder
	title := escape(text.Flatten(c.Title))
	fmt.Fprintf(&b, `<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="%s">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta name="referrer" content="no-referrer">
<title>%s</title>
<style>
%s</style>
</head>
<body>
<main>
<header>
<p class="kind">Conversation</p>
<h1 dir="auto">%s</h1>
`, policy, title, style, title)
	if o.Metadata {
		facts(&b, c)
	}
	b.WriteString("</header>\n")
	for i := range c.Messages {
		if m := &c.Messages[i]; m.shown(o) {
			m.html(&b, o)
		}
	}
	b.WriteString("</main>\n</body>\n</html>\n")
	return b.String()
}

// escape writes a text for an element or a quoted attribute. Hidden characters, such as those that turn the direction of writing, are
// shown.
func escape(s string) string {
	// Package html does the same, and costs every start of the program its tables.
	return strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;", `"`, "&#34;", "'", "&#39;").Replace(text.Visible(s))
}

func facts(b *strings.Builder, c *Conversation) {
	b.WriteString("<dl>\n")
	for _, f := range c.Facts {
		fmt.Fprintf(b, "<div><dt>%s</dt><dd dir=\"auto\">%s</dd></div>\n", escape(f.Name), escape(text.Flatten(f.Value)))
	}
	b.WriteString("</dl>\n")
	if len(c.Tags) > 0 {
		b.WriteString("<ul class=\"tags\">")
		for _, tag := range c.Tags {
			fmt.Fprintf(b, "<li dir=\"auto\">%s</li>", escape(text.Flatten(tag)))
		}
		b.WriteString("</ul>\n")
	}
}

// class is the class of a message.
func (m *Message) class() string {
	switch {
	case m.Summary:
		return "summary"
	case m.Role == "user", m.Role == "assistant":
		return m.Role
	}
	return "system"
}

func (m *Message) html(b *strings.Builder, o Options) {
	fmt.Fprintf(b, "<article class=\"%s\">\n<h2>%s", m.class(), m.who())
	if o.Metadata && !m.Time.IsZero() {
		at := m.Time.UTC()
		fmt.Fprintf(b, " <time datetime=\"%s\">%s</time>", at.Format(time.RFC3339), at.Format("2 Jan 2006, 15:04"))
	}
	b.WriteString("</h2>\n")
	if o.Thinking && strings.TrimSpace(m.Thinking) != "" {
		b.WriteString("<details class=\"thinking\"><summary>Reasoning</summary>\n")
		body(b, m.Thinking)
		b.WriteString("</details>\n")
	}
	if strings.TrimSpace(m.Text) != "" {
		body(b, m.Text)
	}
	if o.Calls {
		for i := range m.Calls {
			m.Calls[i].html(b)
		}
	}
	b.WriteString("</article>\n")
}

func (k *Call) html(b *strings.Builder) {
	class, failed := "call", ""
	if k.Failed {
		class, failed = "call failed", " <span class=\"mark\">failed</span>"
	}
	fmt.Fprintf(b, "<details class=\"%s\"><summary><code>%s</code>%s</summary>\n", class, escape(text.Flatten(k.Name)), failed)
	for _, part := range []struct{ name, said string }{{"Input", k.Input}, {"Output", k.Output}} {
		if strings.TrimSpace(part.said) != "" {
			fmt.Fprintf(b, "<p class=\"part\">%s</p>\n<pre tabindex=\"0\"><code>%s</code></pre>\n", part.name, escape(unix(part.said)))
		}
	}
	b.WriteString("</details>\n")
}

// body writes a text as paragraphs, and what stands between fences of Markdown as code. Nothing else of Markdown is read.
func body(b *strings.Builder, s string) {
	var prose, code []string
	fence := ""
	endProse := func() {
		for paragraph := range strings.SplitSeq(strings.Join(prose, "\n"), "\n\n") {
			if strings.TrimSpace(paragraph) != "" {
				fmt.Fprintf(b, "<p dir=\"auto\">%s</p>\n", inline(strings.Trim(paragraph, "\n")))
			}
		}
		prose = prose[:0]
	}
	endCode := func() {
		fmt.Fprintf(b, "<pre tabindex=\"0\"><code>%s</code></pre>\n", escape(strings.Join(code, "\n")))
		code, fence = code[:0], ""
	}
	for line := range strings.SplitSeq(unix(s), "\n") {
		mark := strings.TrimLeft(line, " ")
		run := fenceOf(mark)
		switch {
		case fence == "" && run != "":
			endProse()
			fence = run
		case fence != "" && strings.HasPrefix(run, fence) && strings.TrimSpace(mark[len(run):]) == "":
			endCode()
		case fence != "":
			code = append(code, line)
		default:
			prose = append(prose, line)
		}
	}
	if fence != "" {
		endCode()
	}
	endProse()
}

// inline writes a paragraph. What stands between two marks of code is code.
func inline(s string) string {
	var b strings.Builder
	for s != "" {
		before, rest, ok := strings.Cut(s, "`")
		b.WriteString(escape(before))
		if !ok {
			break
		}
		code, after, ok := strings.Cut(rest, "`")
		if !ok || code == "" || strings.Contains(code, "\n") {
			b.WriteString("`")
			s = rest
			continue
		}
		fmt.Fprintf(&b, "<code>%s</code>", escape(code))
		s = after
	}
	return b.String()
}

// unix returns a text with the line ends of Unix.
func unix(s string) string { return strings.Trim(strings.ReplaceAll(s, "\r\n", "\n"), "\n") }
