package roles

import (
	"errors"
	"net/url"
	"testing"
	"time"

	"mycelium/internal/config/meaning"
	"mycelium/internal/node/api"
	"mycelium/internal/node/replay"
	"mycelium/internal/policy"
	"mycelium/internal/web/site"
	"mycelium/internal/web/webtest"
)

// TestInjections has a text of an agent, a server or a file in each place of the room that one can write to.
func TestInjections(t *testing.T) {
	t.Parallel()
	s := webtest.Site(t, Room())
	webtest.HoldsText(t, func(x string) map[string]string {
		all := []string{x}
		list := roleList{Projects: []site.Choice{{Value: "p", Text: x}}, Key: "p", Problem: x, Done: x, Gone: x,
			Roles: []row{rowOf(api.Role{ID: x, Name: x + x, Description: x, Skills: all, Missing: all, Inherits: all, Files: all, Locked: x,
				Broken: x, Sessions: 1})}}
		diff := site.Lines(x, true)
		gone := past{Key: "p", ID: x, Address: "/roles/a", Problem: x, References: all}
		old := past{Key: "p", ID: x, Address: "/roles/a", Problem: x, File: x, Versions: []version{{Number: 1, Time: time.Unix(0, 0), By: x,
			Kept: true, Diff: diff}}}
		return map[string]string{"roles": webtest.Show(s, "roles", x, list), "role-delete": webtest.Show(s, "role-delete", x, gone),
			"role-history": webtest.Show(s, "role-history", x, old), "role": webtest.Show(s, "role", x, editorWith(x))}
	})
}

// editorWith is an editor with a text in each of its places.
func editorWith(x string) editor {
	diff := site.Lines(x, true)
	d := api.RoleDetail{Role: api.Role{ID: x}, Entries: []api.ToolEntry{{ID: x, Why: x}, {ID: x, Tools: []string{x, x}}},
		Sees: []api.RoleSees{{Tool: x, Title: x, Description: x, Category: "c", Sees: true, Skills: []string{x}},
			{Tool: x, Category: "c", Why: x}}}
	temperature := 0.5
	f := api.RoleFields{Name: x, Description: x, Prompt: x, Model: &policy.Model{Provider: x, Model: x, Temperature: &temperature}}
	e := filled{editor: editor{Key: "p", ID: x, Address: "/roles/a", File: x, Locked: x, Problem: x, Done: x, Further: []string{x},
		References: []string{x}, Fields: formOf(f), Theirs: diff, Mine: diff, Unseen: diff,
		Skills: []choice{{Value: x, Text: x, About: x, Note: x}},
		Roles:  []site.Choice{{Value: x, Text: x}}}, names: []api.ToolCategory{{ID: "c", Name: x}}}
	e.tools(d, f)
	p := &preview{Fault: x}
	p.sees(d.Sees, []api.RoleSkill{{Skill: x, Description: x, Open: true}, {Skill: x, Why: x}}, e.names)
	p.changes(api.RoleTried{Sessions: []api.ToolsChange{{ID: x, Name: x, Role: x, Gains: []string{x}, Loses: []string{x}}},
		Others: []api.ToolsChange{{ID: x, Gains: []string{x}, Loses: []string{x}}}})
	p.checked(api.FilesChecked{Problems: []api.FileProblem{{Problem: policy.Problem{File: x, Message: x, Hint: x}, Blocks: true}},
		Means: []meaning.Change{{Mark: meaning.Mark("widens"), Text: x}}, Diffs: []api.FileDiff{{Name: x, Diff: x}}})
	p.replayed(replay.Report{Calls: 1, Changes: []replay.Group{{Role: x, Tool: x, From: x, To: x, Rule: x,
		Example: replay.Example{Args: []byte(x)}}}}, nil)
	e.Preview = p
	return e.editor
}

// TestFields: a form becomes the fields of a role, and what it cannot be is said.
func TestFields(t *testing.T) {
	t.Parallel()
	d := api.RoleDetail{Role: api.Role{ID: "a"}, Fields: api.RoleFields{Description: "two\nlines\n", Prompt: "p\n"}}
	form := url.Values{"name": {"a"}, "description": {"two\r\nlines"}, "prompt": {"p"}, "ceiling": {"only"}, "skill": {"s"}, "tool": {"t"},
		"temperature": {"0.5"}, "maxTokens": {"9"}}
	f, problem := fieldsOf(form, d)
	if problem != "" || f.Name != "" || f.Description != "two\nlines\n" || f.Prompt != "p\n" || !f.Bounded || len(f.Skills) != 1 ||
		len(f.ToolIDs) != 1 || f.Model == nil || *f.Model.Temperature != 0.5 || f.Model.MaxTokens != 9 {
		t.Errorf("%+v %q", f, problem)
	}
	for key, value := range map[string]string{"name": " ", "temperature": "hot", "maxTokens": "-1"} {
		wrong := url.Values{"name": {"a"}}
		wrong.Set(key, value)
		if _, problem := fieldsOf(wrong, d); problem == "" {
			t.Errorf("%s %q is taken", key, value)
		}
	}
}

// TestReplayFails: a log that cannot be read is said, and is not taken for a log in which nothing changes.
func TestReplayFails(t *testing.T) {
	t.Parallel()
	var p preview
	if p.replayed(replay.Report{}, errors.New("damaged")); p.Replay.Problem == "" {
		t.Error("nothing is said")
	}
}
