package roles

import (
	"errors"
	"strings"

	"mycelium/internal/config/toolindex"
	"mycelium/internal/node/api"
	"mycelium/internal/node/project"
	"mycelium/internal/node/replay"
	"mycelium/internal/text"
	"mycelium/internal/web/site"
)

// errNoProject means that the address names no project of the user.
var errNoProject = errors.New("there is no such project")

// preview is what a role sees, or would see, and what a change would do.
type preview struct {
	Now      bool // nothing changes: it is what the role sees
	Fault    string
	Problems []problem
	Means    []meant
	Diff     []site.Line
	Tools    int
	Groups   []seenGroup
	Hidden   []seen
	Open     []choice
	Closed   []choice
	Sessions []changed
	Others   []changed
	Replay   *replayed

	edit api.FileEdit
	id   string
}

// problem is something that is wrong with the files as they would be.
type problem struct {
	Text   string
	Blocks bool // it cannot be saved
}

// meant is a change in words.
type meant struct{ Mark, Text string }

// seenGroup is the tools of a category that the role sees.
type seenGroup struct {
	Name  string
	Tools []seen
}

// seen is a tool that the role sees, or not.
type seen struct {
	Name, Description, Does string
	Mutates                 bool
	From                    string // where it comes from
	Why                     string // it is not seen
}

// changed is a session, or a role, that sees other tools.
type changed struct {
	Name, Role   string
	Gains, Loses []string
}

// replayed is what of the last recorded calls would be decided otherwise.
type replayed struct {
	Problem          string
	Calls, Differ    int
	Skipped, Partial int
	Changes          []decided
}

// decided are calls that would be decided otherwise.
type decided struct {
	Calls                          int
	Role, Tool, From, To, By, Call string
}

// sees takes in which tools the role sees, by category.
func (p *preview) sees(all []api.RoleSees, skills []api.RoleSkill, names []api.ToolCategory) {
	for _, c := range names {
		g := seenGroup{Name: text.OneLine(c.Name)}
		for _, t := range all {
			if t.Category == c.ID && t.Sees {
				g.Tools = append(g.Tools, seenOf(t))
			}
		}
		if p.Tools += len(g.Tools); len(g.Tools) > 0 {
			p.Groups = append(p.Groups, g)
		}
	}
	for _, t := range all {
		if !t.Sees {
			p.Hidden = append(p.Hidden, seenOf(t))
		}
	}
	for _, k := range skills {
		c := choice{Text: text.OneLine(k.Skill), About: text.OneLine(k.Description), Note: text.Visible(k.Why)}
		switch {
		case !k.Open:
			p.Closed = append(p.Closed, c)
		case k.Start:
			c.Note = "active when a session begins"
			p.Open = append(p.Open, c)
		default:
			c.Note = "a session may activate it"
			p.Open = append(p.Open, c)
		}
	}
}

// seenOf returns what a page shows of a tool for a role.
func seenOf(t api.RoleSees) seen {
	from := "toolIds of the role"
	if len(t.Skills) > 0 {
		from = "skill " + strings.Join(lines(t.Skills), ", ")
	}
	return seen{Name: text.OneLine(t.Tool), Description: text.OneLine(t.Description), Does: toolindex.Does(t.Mutates, t.SaysReads),
		Mutates: t.Mutates, From: from, Why: text.Visible(t.Why)}
}

// changes takes in which sessions and other roles would see other tools.
func (p *preview) changes(t api.RoleTried) {
	for _, c := range t.Sessions {
		name := c.ID
		if c.Name != "" {
			name = c.Name + " (" + c.ID + ")"
		}
		p.Sessions = append(p.Sessions, changed{text.OneLine(name), text.OneLine(c.Role), lines(c.Gains), lines(c.Loses)})
	}
	for _, c := range t.Others {
		p.Others = append(p.Others, changed{text.OneLine(c.ID), text.OneLine(c.Role), lines(c.Gains), lines(c.Loses)})
	}
}

// checked takes in what is wrong with the files, what the change means and how the file changes.
func (p *preview) checked(c api.FilesChecked) {
	p.Problems, p.Means, p.Diff = nil, nil, nil
	for _, f := range c.Problems {
		p.Problems = append(p.Problems, problem{text.Visible(project.ProblemText(f.Problem)), f.Blocks})
	}
	for _, m := range c.Means {
		p.Means = append(p.Means, meant{text.OneLine(string(m.Mark)), text.OneLine(m.Text)})
	}
	for _, d := range c.Diffs {
		p.Diff = append(p.Diff, site.Lines(text.Visible(d.Diff), true)...)
	}
}

// replayed takes in what of the last recorded calls would be decided otherwise.
func (p *preview) replayed(r replay.Report, err error) {
	out := &replayed{Calls: r.Calls, Differ: r.Calls - r.Unchanged, Skipped: r.Skipped, Partial: r.Partial}
	if err != nil {
		out.Problem = text.Visible(text.Describe(err))
	}
	for _, g := range r.Changes {
		out.Changes = append(out.Changes, decided{g.Calls, text.OneLine(g.Role), text.OneLine(g.Tool), text.OneLine(g.From), text.OneLine(g.To),
			text.OneLine(g.Rule), text.TruncateRunes(text.OneLine(string(g.Example.Args)), 120)})
	}
	p.Replay = out
}
