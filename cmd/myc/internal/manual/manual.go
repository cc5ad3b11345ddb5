// Package manual is the command myc man: the manual page of the program, made from its tree of commands.
//
// The page is written here and not by cobra/doc, which would link a Markdown parser and a second YAML library into the program.
package manual

import (
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"mycelium/cmd/myc/internal/base"
)

// Command is myc man.
func Command(a *base.App) *cobra.Command {
	return &cobra.Command{Use: "man", Short: "Print the manual page, for man -l -", Args: base.NoArgs,
		Long: "Prints one manual page with every command and flag, in the language of man(1).",
		Example: "  myc man | man -l -\n" +
			"  myc man > /usr/local/share/man/man1/myc.1",
		RunE: func(c *cobra.Command, _ []string) error { return write(a.Out, c.Root(), base.BuildOf()) }}
}

// closing is what stands below the commands. The exit codes are those of every command.
const closing = `.SH EXIT STATUS
.TP
.B 0
The command did what it was told.
.TP
.B 1
It failed.
.TP
.B 2
It was used in a wrong way, or it needs a project and found none.
.TP
.B 3
The policy denied the call.
.TP
.B 4
The configuration is invalid.
.SH FILES
.TP
.I mycelium.yaml, skills/, roles/, rules.yaml
What governs the agents of a project.
.TP
.I ~/.config/mycelium/
The same files for every project of this user.
.TP
.I ~/.local/state/mycelium/
The log, its key, and what was accepted.
.SH SEE ALSO
.BR claude (1),
.BR git (1),
.BR tmux (1)
`

// write writes the page of a tree.
func write(w io.Writer, root *cobra.Command, build base.Build) error {
	p := &page{w: w}
	day := ""
	if t, err := time.Parse(time.RFC3339, build.Date); err == nil {
		day = t.UTC().Format(time.DateOnly)
	}
	p.line(`.TH MYC 1 "%s" "Mycelium %s" "User Commands"`, day, base.Release)
	p.line(".SH NAME")
	p.line(`myc \- %s`, quote(strings.ToLower(root.Short[:1])+root.Short[1:]))
	p.line(".SH SYNOPSIS\n.B myc\n[\\fIflags\\fR] \\fIcommand\\fR [\\fIargument\\fR ...]")
	p.line(".SH DESCRIPTION\n%s", quote(root.Long))
	p.line(".SH OPTIONS\nThese hold for every command.")
	root.PersistentFlags().VisitAll(p.flag)
	p.line(".SH COMMANDS")
	p.commands(root)
	p.line("%s", strings.TrimSuffix(closing, "\n"))
	return p.err
}

// page writes lines of a manual page and keeps the first error.
type page struct {
	w   io.Writer
	err error
}

func (p *page) line(format string, args ...any) {
	if p.err == nil {
		_, p.err = fmt.Fprintf(p.w, format+"\n", args...)
	}
}

// commands writes every visible command below c that does something, a section each.
func (p *page) commands(c *cobra.Command) {
	for _, sub := range c.Commands() {
		if !sub.IsAvailableCommand() {
			continue
		}
		if sub.Runnable() {
			p.command(sub)
		}
		p.commands(sub)
	}
}

func (p *page) command(c *cobra.Command) {
	p.line(".SS %s", quote(c.UseLine()))
	words := c.Short
	if c.Long != "" {
		words = c.Long
	}
	p.line("%s", quote(strings.TrimSuffix(words, ".")+"."))
	c.LocalNonPersistentFlags().VisitAll(p.flag)
	if c.Example != "" {
		p.line(".PP\n.nf\n%s\n.fi", quote(c.Example))
	}
}

func (p *page) flag(f *pflag.Flag) {
	if f.Hidden {
		return
	}
	name := `\fB\-\-` + quote(f.Name) + `\fR`
	if f.Shorthand != "" {
		name = `\fB\-` + quote(f.Shorthand) + `\fR, ` + name
	}
	kind, words := pflag.UnquoteUsage(f)
	if kind != "" {
		name += ` \fI` + quote(kind) + `\fR`
	}
	p.line(".TP\n%s\n%s", name, quote(words))
}

// quote makes text safe in a page: a backslash is the escape, a leading dot or quote would begin a request, and a plain hyphen is no
// minus that can be copied.
func quote(s string) string {
	s = strings.NewReplacer(`\`, `\e`, "-", `\-`).Replace(s)
	lines := strings.Split(s, "\n")
	for i, l := range lines {
		if strings.HasPrefix(l, ".") || strings.HasPrefix(l, "'") {
			lines[i] = `\&` + l
		}
	}
	return strings.Join(lines, "\n")
}
