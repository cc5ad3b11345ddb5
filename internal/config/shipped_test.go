package config

import (
	"maps"
	"slices"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"mycelium/internal/config/rules"
	"mycelium/internal/config/shipped"
	"mycelium/internal/config/source"
	"mycelium/internal/policy"
	"mycelium/internal/policy/policytest"
	"mycelium/internal/skill"
)

// program is what a program ships in these tests: the skills one and two and the roles guest and dev.
func program(greeting string) *shipped.Files {
	page := func(name string) *fstest.MapFile {
		return &fstest.MapFile{Data: []byte("---\nname: " + name + "\ndescription: d\nallowedRoles: [guest]\n---\n" +
			greeting + "\n")}
	}
	return &shipped.Files{
		Skills: fstest.MapFS{"one/SKILL.md": page("one"), "one/how.txt": {Data: []byte(greeting)}, "two/SKILL.md": page("two")},
		Roles: fstest.MapFS{"guest.yaml": {Data: []byte("allowedSkills: [one, two]\nprompt: " + greeting + "\n")},
			"dev.yaml": {Data: []byte("deny: [files__delete_file]\n")}},
	}
}

// with loads the project as a program with these files does.
func (w *world) with(f *shipped.Files) *Project {
	w.t.Helper()
	p, err := Load(Options{Dir: w.dir, OnDisk: w.trusted, Shipped: f})
	if err != nil {
		w.t.Fatal(err)
	}
	return p
}

// acceptWith accepts the files as a program with these files does.
func (w *world) acceptWith(f *shipped.Files) string {
	w.t.Helper()
	c, err := w.with(f).Candidate()
	if err == nil {
		err = c.Accept(time.Now())
	}
	if err != nil {
		w.t.Fatal(err, lines(c.Why))
	}
	return c.Digest
}

// teaches are the instructions of a skill.
func teaches(p *Project, name string) string {
	i := slices.IndexFunc(p.Skills, func(s skill.Skill) bool { return s.Name == name })
	if i < 0 {
		return "no such skill"
	}
	return strings.TrimSpace(p.Skills[i].Instructions)
}

// prompt is the prompt of a role.
func prompt(p *Project, id string) string {
	for _, r := range p.Roles {
		if r.ID == id {
			return r.Prompt
		}
	}
	return "no such role"
}

// TestShippedIsAccepted: what comes with the program counts once it is accepted, and then without the program. What a newer program ships
// is a change that waits.
func TestShippedIsAccepted(t *testing.T) {
	w := newWorld(t)
	older, newer := program("Good morning"), program("Good evening")
	newer.Skills.(fstest.MapFS)["three/SKILL.md"] = &fstest.MapFile{Data: []byte("---\nname: three\ndescription: d\n---\n")}
	w.write("mycelium.yaml", "shipped: true\n")
	if p := w.with(older); len(p.Skills)+len(p.Roles) > 0 || strings.Join(p.Untrusted, " ") != "mycelium.yaml" {
		t.Errorf("before anybody accepted it: %d skills, %d roles, %q", len(p.Skills), len(p.Roles), p.Untrusted)
	}
	digest := w.acceptWith(older)
	none := &shipped.Files{Skills: fstest.MapFS{}, Roles: fstest.MapFS{}}
	for name, f := range map[string]*shipped.Files{"the same": older, "a newer": newer, "none": none} {
		p := w.with(f)
		if teaches(p, "one") != "Good morning" || prompt(p, "guest") != "Good morning" || len(p.Skills)+len(p.Roles) != 4 || len(p.Problems) > 0 {
			t.Errorf("in force with what %s program ships: %q %q %q", name, teaches(p, "one"), prompt(p, "guest"), lines(p.Problems))
		}
		if text, err := p.Skills[0].Resource("how.txt"); err != nil || string(text) != "Good morning" {
			t.Errorf("its file: %q %v", text, err)
		}
	}
	c, err := w.with(newer).Candidate()
	if err != nil {
		t.Fatal(err)
	}
	want := "roles/guest.yaml (changed, shipped by the program), skills/one/SKILL.md (changed, shipped by the program), " +
		"skills/one/how.txt (changed, shipped by the program), skills/three/SKILL.md (new, shipped by the program), " +
		"skills/two/SKILL.md (changed, shipped by the program)"
	how := c.Changes[2]
	if c.Summary() != want || c.Digest == digest || string(how.Before()) != "Good morning" || string(how.After) != "Good evening" {
		t.Errorf("%s", c.Summary())
	}
	if err := c.Accept(time.Now()); err != nil {
		t.Fatal(err)
	}
	if p := w.with(older); teaches(p, "one") != "Good evening" {
		t.Errorf("accepted, and in force is %q", teaches(p, "one"))
	}
}

// TestEjectChangesNothing: the files that Shipped names, written into the folder, have the digest of what is accepted, also those of an
// older program.
func TestEjectChangesNothing(t *testing.T) {
	w := newWorld(t)
	older, newer := program("Good morning"), program("Good evening")
	w.write("mycelium.yaml", "shipped: true\n")
	digest := w.acceptWith(older)
	p := w.with(newer)
	files, err := p.Shipped(p)
	if err != nil {
		t.Fatal(err)
	}
	if got := slices.Sorted(maps.Keys(files)); strings.Join(got, " ") !=
		"roles/dev.yaml roles/guest.yaml skills/one/SKILL.md skills/one/how.txt skills/two/SKILL.md" {
		t.Errorf("%q", got)
	}
	for name, data := range files {
		w.write(name, string(data))
	}
	p = w.with(newer)
	c, err := p.Candidate()
	if err != nil || c.Digest != digest || len(c.Changes) > 0 {
		t.Errorf("%v %s", err, c.Summary())
	}
	if rest, err := p.Shipped(p); err != nil || len(rest) > 0 {
		t.Errorf("left: %v %v", rest, err)
	}
}

// TestOwnFileWins: a file of the project stands in front of the shipped one of its name, also a broken one. Two skills of one name in two
// folders are left out as ever.
func TestOwnFileWins(t *testing.T) {
	ships := program("shipped")
	for name, c := range map[string]struct {
		files map[string]string
		one   string // what skill one teaches
		guest string // the prompt of the role guest
	}{
		"nothing":         {nil, "shipped", "shipped"},
		"a skill":         {map[string]string{"skills/one/SKILL.md": "---\nname: one\ndescription: d\n---\nmine"}, "mine", "shipped"},
		"a broken skill":  {map[string]string{"skills/one/SKILL.md": "---\nnmae: one\n---\nmine"}, "no such skill", "shipped"},
		"an empty folder": {map[string]string{"skills/one/notes.txt": "x"}, "no such skill", "shipped"},
		"a skill of that name elsewhere": {map[string]string{"skills/uno/SKILL.md": "---\nname: one\ndescription: d\n---\nmine"}, "no such skill",
			"shipped"},
		"a role":                      {map[string]string{"roles/guest.yaml": "prompt: mine\n"}, "shipped", "mine"},
		"a role in .yml":              {map[string]string{"roles/guest.yml": "prompt: mine\n"}, "shipped", "mine"},
		"a broken role":               {map[string]string{"roles/guest.yaml": "promt: mine\n"}, "shipped", "no such role"},
		"an index":                    {map[string]string{"roles/index.yaml": "roles: [{id: guest, prompt: mine}]\n"}, "shipped", "mine"},
		"a role of that id elsewhere": {map[string]string{"roles/host.yaml": "id: guest\nprompt: mine\n"}, "shipped", "mine"},
		"without the line":            {map[string]string{"mycelium.yaml": "{}\n"}, "no such skill", "no such role"},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			w.trust()
			w.write("mycelium.yaml", "shipped: true\n")
			for file, text := range c.files {
				w.write(file, text)
			}
			p := w.with(ships)
			if one, guest := teaches(p, "one"), prompt(p, "guest"); one != c.one || guest != c.guest {
				t.Errorf("skill one teaches %q, role guest has the prompt %q\n%s", one, guest, strings.Join(lines(p.Problems), "\n"))
			}
			if name == "a broken role" && p.Broken.Roles["guest"] == "" {
				t.Error("the broken role denies nothing")
			}
			if n := len(slices.DeleteFunc(slices.Clone(p.Roles), func(r policy.Role) bool { return r.ID != "guest" })); n > 1 {
				t.Errorf("%d roles guest", n)
			}
		})
	}
}

// TestShippedRules: the rules of the program can be read, and their examples hold with a wall and without one, behind those of `myc init`.
// Without policy.wall they are not there.
func TestShippedRules(t *testing.T) {
	f, problems := rules.Parse("rules.yaml", shipped.Rules)
	if f == nil || source.Faulty(problems) || len(f.Rules) != len(ShippedRules()) {
		t.Fatalf("%d rules in force, %v", len(ShippedRules()), problems)
	}
	for _, wall := range []string{policy.NoWall, "project"} {
		all := slices.DeleteFunc(slices.Clone(f.Rules), func(r policy.Rule) bool { return wall == "project" && r.Place == policy.PlaceNoWall })
		pol, problems := policy.New(policy.Source{Rules: all, Wall: wall, Dir: "/p", Home: "/home/dev"})
		if problems = append(problems, policytest.Examples(pol, ReadCommand)...); len(problems) > 0 {
			t.Error(wall, problems)
		}
	}
	p := &Project{}
	if len(p.shippedRules()) != 0 {
		t.Error("the rules count without policy.wall")
	}
	for _, wall := range []string{policy.NoWall, "project"} {
		p.File.Policy.Wall = wall
		if len(p.shippedRules()) == 0 {
			t.Errorf("they do not count with policy.wall: %s", wall)
		}
	}
}
