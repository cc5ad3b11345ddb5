package meaning

import (
	"reflect"
	"slices"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"mycelium/internal/approval/judge"
	"mycelium/internal/backend"
	"mycelium/internal/config"
	"mycelium/internal/policy"
	"mycelium/internal/skill"
)

// silent are the fields that mean nothing for those whom the files govern. Every other field must be told of when it changes.
var silent = map[string]string{
	"Project.UserDir": "where the user's files lie", "Project.File": "below", "Project.ServersFrom": "the servers themselves are compared",
	"Project.LeftOut": "what has no effect", "Project.Problems": "what broke anything is in Broken", "Project.Trusted": "who asks",
	"Project.Untrusted": "likewise", "Project.Damaged": "likewise", "Project.User": "likewise", "Project.State": "where our state is",
	"Project.Sources": "places", "Project.Skills": "below", "Project.Roles": "below",
	"Project.Rules": "below", "Project.Servers": "below", "Project.Policies": "below", "Project.Broken": "below",
	"File.MCPServers": "Project.Servers", "File.Policy.Rules": "the names of the files", "File.Limits": "for roles that exist, below",
	"File.Approval.AskVia2": "", // it is told of like any other
	"Role.CreatedAt":        "a date", "Role.UpdatedAt": "a date",
	"Rule.File": "a place", "Rule.Line": "a place", "Rule.Examples": "they are checked before", "Rule.Checked": "a form of When",
	"Rule.Fault": "a problem, which follows from the rest", "Server.Walls": "the profile, which is told of by itself",
	"Skill.File": "a place", "Skill.Dir": "below",
	"Policy.CreatedAt": "a date", "Policy.ID": "it is another policy then, which is told twice",
}

// fields calls f with each exported field of a struct, and of the structs in it.
func fields(at reflect.Value, name string, f func(name string, field reflect.Value)) {
	for i := range at.NumField() {
		sf, field := at.Type().Field(i), at.Field(i)
		if !sf.IsExported() {
			continue
		}
		full := name + "." + sf.Name
		if _, known := silent[full]; known && silent[full] != "" {
			continue
		}
		if field.Kind() == reflect.Struct && field.Type() != reflect.TypeFor[time.Time]() {
			if sf.Anonymous {
				full = name
			}
			fields(field, full, f)
			continue
		}
		f(full, field)
	}
}

// other is a value of a type that differs from v.
func other(v reflect.Value) reflect.Value {
	out := reflect.New(v.Type()).Elem()
	switch v.Kind() {
	case reflect.String:
		out.SetString(v.String() + "x")
	case reflect.Bool:
		out.SetBool(!v.Bool())
	case reflect.Int, reflect.Int64:
		out.SetInt(v.Int() + 3)
	case reflect.Float64:
		out.SetFloat(v.Float()/2 + 0.25)
	case reflect.Pointer:
		if v.IsNil() {
			out.Set(reflect.New(v.Type().Elem()))
			out.Elem().Set(other(out.Elem()))
		}
	case reflect.Slice:
		e := reflect.New(v.Type().Elem()).Elem()
		out.Set(reflect.Append(v, other(e)))
	case reflect.Map:
		out.Set(reflect.MakeMap(v.Type()))
		e := reflect.New(v.Type().Elem()).Elem()
		out.SetMapIndex(other(reflect.New(v.Type().Key()).Elem()), other(e))
	case reflect.Struct:
		for i := range out.NumField() {
			if out.Type().Field(i).IsExported() {
				out.Field(i).Set(other(out.Field(i)))
			}
		}
	case reflect.Interface:
		if v.Type() == reflect.TypeFor[any]() {
			out.Set(reflect.ValueOf("x"))
		}
	default:
		panic(v.Type().String())
	}
	return out
}

// whole is a project that has something in every part.
func whole() *config.Project {
	glob := "src/**"
	p := config.Empty(&config.Project{Dir: "/p", Home: "/home/a"})
	p.Trusted = true
	p.Roles = []policy.Role{{ID: "dev", AllowedSkills: []string{"s"}, ToolIDs: []string{"files__read_file"}, Deny: []string{"db__*"}}}
	p.Rules = []policy.Rule{{Name: "r", Action: "deny", Tool: policy.Names{"Bash"}, Match: map[string]policy.Values{"path": {{Glob: &glob}}}}}
	p.Skills = []skill.Skill{{Grant: policy.Grant{Name: "s", AllowedRoles: []string{"dev"}, AllowedTools: []string{"agent__Read"}},
		Description: "d", Source: "project", File: "skills/s/SKILL.md",
		Dir: fstest.MapFS{"run.sh": {Data: []byte("echo"), Mode: 0o755}, "SKILL.md": {Data: []byte("x")}}}}
	p.Servers = []backend.Server{{Name: "fs", Type: "stdio", Command: "fs"}}
	p.Policies = []judge.Policy{{ID: "pol_1", Description: "no"}}
	p.File.Limits = map[string]policy.Limit{"dev": {}}
	return p
}

// The reflection test: whatever field of whatever part changes, a change is told, and a field that somebody adds is so, too.
func TestEveryKeyIsToldOf(t *testing.T) {
	if got := Compare(whole(), whole(), skill.Catalog{}, nil); len(got) != 0 {
		t.Fatalf("nothing changed, and it says %v", got)
	}
	limit := func(p *config.Project) reflect.Value {
		l := p.File.Limits["dev"]
		return reflect.ValueOf(&l).Elem()
	}
	n := 0
	for name, part := range map[string]func(p *config.Project) reflect.Value{
		"Project": func(p *config.Project) reflect.Value { return reflect.ValueOf(p).Elem() },
		"File":    func(p *config.Project) reflect.Value { return reflect.ValueOf(&p.File).Elem() },
		"Role":    func(p *config.Project) reflect.Value { return reflect.ValueOf(&p.Roles[0]).Elem() },
		"Rule":    func(p *config.Project) reflect.Value { return reflect.ValueOf(&p.Rules[0]).Elem() },
		"Skill":   func(p *config.Project) reflect.Value { return reflect.ValueOf(&p.Skills[0]).Elem() },
		"Server":  func(p *config.Project) reflect.Value { return reflect.ValueOf(&p.Servers[0]).Elem() },
		"Policy":  func(p *config.Project) reflect.Value { return reflect.ValueOf(&p.Policies[0]).Elem() },
		"Broken":  func(p *config.Project) reflect.Value { return reflect.ValueOf(&p.Broken).Elem() },
		"Limit":   limit,
	} {
		var paths []string
		fields(part(whole()), name, func(path string, _ reflect.Value) { paths = append(paths, path) })
		for i, path := range paths {
			n++
			p, at := whole(), 0
			target := part(p)
			fields(target, name, func(_ string, f reflect.Value) {
				if at == i {
					f.Set(other(f))
				}
				at++
			})
			if name == "Limit" {
				p.File.Limits["dev"] = target.Interface().(policy.Limit)
			}
			if got := Compare(whole(), p, skill.Catalog{}, nil); len(got) == 0 {
				t.Errorf("%s changed, and nothing is told", path)
			}
			if got := Compare(p, whole(), skill.Catalog{}, nil); len(got) == 0 {
				t.Errorf("%s changed back, and nothing is told", path)
			}
		}
	}
	if n < 120 {
		t.Errorf("only %d fields were tried", n)
	}
}

// Every key of the table exists, so that a key that is renamed does not keep the rule of its old name.
func TestKeyRulesNameKeys(t *testing.T) {
	var known []string
	var walk func(at reflect.Type, key string)
	walk = func(at reflect.Type, key string) {
		if at.Kind() == reflect.Pointer {
			at = at.Elem()
		}
		known = append(known, key)
		for i := 0; at.Kind() == reflect.Struct && i < at.NumField(); i++ {
			walk(at.Field(i).Type, strings.TrimPrefix(key+"."+keyOf(at.Field(i)), "."))
		}
	}
	walk(reflect.TypeFor[config.File](), "")
	for key := range keyRules {
		if !slices.Contains(known, key) {
			t.Errorf("there is no key %s", key)
		}
	}
}

// The files that no key speaks of are unclear, whatever their names are.
func TestOtherFiles(t *testing.T) {
	with := func(f func(fstest.MapFS)) *config.Project {
		p := whole()
		p.Servers[0].Args = []string{"tools/srv.py"}
		f(p.Skills[0].Dir.(fstest.MapFS))
		return p
	}
	old := with(func(fstest.MapFS) {})
	for name, f := range map[string]func(fstest.MapFS){
		"its file run.sh changed":  func(m fstest.MapFS) { m["run.sh"] = &fstest.MapFile{Data: []byte("curl")} },
		"its file new.py changed":  func(m fstest.MapFS) { m["new.py"] = &fstest.MapFile{Data: []byte("x")} },
		"its file big changed":     func(m fstest.MapFS) { m["big"] = &fstest.MapFile{Data: make([]byte, skill.MaxResource+1)} },
		"its file run.sh changed ": func(m fstest.MapFS) { delete(m, "run.sh") },
	} {
		fresh := with(f)
		got := Compare(old, fresh, skill.Catalog{}, SkillFiles(old, fresh))
		if len(got) != 1 || got[0].Text != "skill s: "+strings.TrimSpace(name) || got[0].Mark != Unclear {
			t.Errorf("%s: %v", name, got)
		}
	}
	got := Compare(old, old, skill.Catalog{}, []string{"tools/srv.py", "workflows/w.yaml", "skills/s/SKILL.md", "skills/s/sub/SKILL.md"})
	if len(got) != 3 || got[1].Text != "server fs runs tools/srv.py, which changed" || got[2].Text != "workflows/w.yaml changed" ||
		got[0].Text != "skill s: its file sub/SKILL.md changed" || OnlyNarrows(got) {
		t.Errorf("%v", got)
	}
}
