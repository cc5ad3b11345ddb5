package gate

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"mycelium/internal/audit"
	"mycelium/internal/gate/control"
	"mycelium/internal/gate/session"
	"mycelium/internal/gate/view"
	"mycelium/internal/policy"
	"mycelium/internal/rawjson"
	"mycelium/internal/skill"
)

func TestControlDefinitions(t *testing.T) {
	want := []string{
		"mycelium-router__set_role", "mycelium-router__list_roles", "mycelium-router__get_context", "mycelium-router__set_active_skills",
		"mycelium-router__get_active_skills", "mycelium-router__find_tool", "mycelium-router__suggest_skills",
		"mycelium-router__spawn_sub_agent", "mycelium-router__report_confidence", "mycelium-router__set_thinking",
		"mycelium-skills__list_skills", "mycelium-skills__get_skill", "mycelium-skills__list_resources", "mycelium-skills__get_resource",
		"mycelium-skills__reload_skills", "mycelium-skills__list_commands", "mycelium-skills__run_script",
	}
	var got []string
	for _, d := range control.Definitions() {
		got = append(got, d.Item.String())
		var def struct {
			Name, Title, Description string
			InputSchema              struct {
				Type                 string
				Properties           map[string]struct{ Type, Description string }
				AdditionalProperties *bool
			}
			Annotations struct{ ReadOnlyHint *bool }
		}
		if err := json.Unmarshal(d.Raw, &def); err != nil {
			t.Fatal(err)
		}
		if def.Name != d.Item.Name || def.Title == "" || def.Description == "" || def.InputSchema.Type != "object" ||
			def.Annotations.ReadOnlyHint == nil {
			t.Errorf("%s: %s", d.Item, d.Raw)
		}
		for name, p := range def.InputSchema.Properties {
			if p.Description == "" || !slices.Contains([]string{"string", "array", "boolean", "integer", "object"}, p.Type) {
				t.Errorf("%s: argument %s: %+v", d.Item, name, p)
			}
			if strings.Contains(strings.ToLower(name), "session") {
				t.Errorf("%s names a session", d.Item)
			}
		}
	}
	if !slices.Equal(got, want) {
		t.Errorf("tools %v", got)
	}
}

// TestWrongArguments: every control tool says what is wrong, and nothing happens.
func TestWrongArguments(t *testing.T) {
	h := build(t, three())
	s := h.enter("guest", "developer")
	before := s.Scope()
	for _, c := range []struct{ tool, args, want string }{
		{"mycelium-router__set_role", `{}`, "role_id is required"},
		{"mycelium-router__set_role", `{"role_id":1}`, "role_id must be a string"},
		{"mycelium-router__set_role", `{"role_id":null}`, "role_id is required"},
		{"mycelium-router__set_role", `{"role_id":"developer","role":"guest"}`, "different roles"},
		{"mycelium-router__set_role", `{"role_id":"developer","session":"x"}`, "Unknown argument: session"},
		{"mycelium-router__set_role", `{"Role_id":"developer"}`, "Unknown argument: Role_id"},
		{"mycelium-router__set_role", `{"role_id":"developer","includeToolDescriptions":"yes"}`,
			"includeToolDescriptions must be a boolean"},
		{"mycelium-router__set_role", `{"role_id":"admin"}`, "Unknown role: admin"},
		{"mycelium-router__list_roles", `{"all":true}`, "takes none"},
		{"mycelium-router__get_context", `{"session":"other"}`, "Unknown argument: session"},
		{"mycelium-router__set_active_skills", `{}`, "skills is required"},
		{"mycelium-router__set_active_skills", `{"skills":"reader"}`, "skills must be an array of strings"},
		{"mycelium-router__set_active_skills", `{"skills":["reader",1]}`, "skills must be an array of strings"},
		{"mycelium-router__set_active_skills", `{"skills":[],"add":["reader"]}`, "either"},
		{"mycelium-router__set_active_skills", `{"skills":["editor"]}`, "Unknown skill: editor"},
		{"mycelium-router__suggest_skills", `{}`, "intent is required"},
		{"mycelium-skills__list_skills", `{"role":"admin"}`, "Unknown role: admin"},
		{"mycelium-skills__list_skills", `{"role":"nobody"}`, "Unknown role: nobody"},
		{"mycelium-skills__list_commands", `{"role":"admin"}`, "Unknown role: admin"},
		{"mycelium-skills__get_skill", `{}`, "id is required"},
		{"mycelium-skills__get_skill", `{"id":"keeper"}`, "Unknown skill: keeper"},
		{"mycelium-skills__get_skill", `{"id":"nosuch"}`, "Unknown skill: nosuch"},
		{"mycelium-skills__list_resources", `{"skillId":"editor"}`, "Unknown skill: editor"},
		{"mycelium-skills__get_resource", `{"skillId":"reader"}`, "resourcePath is required"},
		{"mycelium-skills__get_resource", `{"skillId":"keeper","resourcePath":"guide.md"}`, "Unknown skill: keeper"},
	} {
		answer, failed := h.ask(s, c.tool, c.args)
		if !strings.Contains(failed, c.want) {
			t.Errorf("%s %s: answered %v %q, want %q", c.tool, c.args, answer, failed, c.want)
		}
		outcome := "error"
		if strings.HasPrefix(c.want, "Unknown role") || strings.HasPrefix(c.want, "Unknown skill") {
			outcome = "denied"
		}
		h.ended(c.tool+c.args, outcome, failed)
	}
	if fmt.Sprint(s.Scope()) != fmt.Sprint(before) {
		t.Errorf("something happened: %+v", s.Scope())
	}
}

// ended checks the outcome of the last call in the log. What was denied has a decision that denies, with its reason.
func (h *house) ended(what, outcome, reason string) {
	h.t.Helper()
	if o := h.last(audit.Outcome); o["outcome"] != outcome {
		h.t.Errorf("%s ended as %v, want %s", what, o["outcome"], outcome)
	}
	d := h.last(audit.Decided)
	if outcome == "denied" && (d["effect"] != "deny" || d["reason"] != reason || d["rule"] != sessionRule || d["decidedBy"] != "policy") {
		h.t.Errorf("%s was decided as %v", what, d)
	}
	if outcome == "error" && d["effect"] != "allow" {
		h.t.Errorf("%s was decided as %v, and it only had a mistake", what, d)
	}
}

// TestControlToolsRefuse: what a session may not do with itself is denied in the log, whichever control tool was asked, and the policy that
// allowed the tool is not blamed for an error. A file that is not there is an error.
func TestControlToolsRefuse(t *testing.T) {
	manual := three()
	manual.start, manual.promote = []string{"reader"}, "manual"
	h := build(t, manual)
	s := h.enter("admin")
	for _, c := range []struct{ tool, args, outcome, says string }{
		{"mycelium-router__set_active_skills", `{"add":["editor"]}`, "denied", "activated by your operator only"},
		{"mycelium-router__set_active_skills", `{"remove":["reader"]}`, "denied", "start set"},
		{"mycelium-router__set_active_skills", `{"add":["nosuch"]}`, "denied", "Unknown skill"},
		{"mycelium-skills__get_resource", `{"skillId":"reader","resourcePath":"absent.md"}`, "error", "Unknown resource"},
	} {
		_, said := h.ask(s, c.tool, c.args)
		if !strings.Contains(said, c.says) {
			t.Errorf("%s: %q, want %q", c.args, said, c.says)
		}
		h.ended(c.args, c.outcome, said)
	}
	r := request("mycelium-router__set_active_skills", `{"add":["reader"]}`)
	r.Child = &session.Child{ID: "a1", Roles: []string{"admin"}}
	reply, err := h.Call(t.Context(), s, r)
	if err != nil || !strings.Contains(string(reply.Result), "A subagent does not change") {
		t.Errorf("%s %v", reply.Result, err)
	}
	h.ended("a subagent", "denied", "A subagent does not change the role or the skills of the session that it belongs to")
}

func TestSetRoleTool(t *testing.T) {
	h := build(t, three())
	s := h.enter("guest", "developer")
	answer, _ := h.ask(s, "mycelium-router__set_role", `{"role_id":"list"}`)
	if got := fmt.Sprint(answer["roles"]); strings.Contains(got, "admin") || !strings.Contains(got, "developer") {
		t.Errorf("roles %v", got)
	}
	listed, _ := h.ask(s, "mycelium-router__list_roles", ``)
	if fmt.Sprint(listed) != fmt.Sprint(answer) {
		t.Errorf("list_roles %v, set_role list %v", listed, answer)
	}
	m, failed := h.ask(s, "mycelium-router__set_role", `{"role_id":"developer"}`)
	if failed != "" {
		t.Fatal(failed)
	}
	for _, key := range []string{"role", "systemInstruction", "availableTools", "availableServers", "activeSkills", "added", "removed",
		"metadata"} {
		if m[key] == nil {
			t.Errorf("the manifest has no %s: %v", key, m)
		}
	}
	if text := m["systemInstruction"].(string); !strings.Contains(text, "You work on this repository.") || !strings.Contains(text,
		"Write small changes.") {
		t.Errorf("instruction %q", text)
	}
	if got := fmt.Sprint(m); strings.Contains(got, "database") || strings.Contains(got, "keeper") {
		t.Errorf("the manifest names what is hidden: %s", got)
	}
	if !strings.Contains(fmt.Sprint(m["availableTools"]), "Does write_file.") {
		t.Errorf("no descriptions: %v", m["availableTools"])
	}
	m, _ = h.ask(s, "mycelium-router__set_role", `{"role":"guest","includeToolDescriptions":false}`)
	if got := fmt.Sprint(m["availableTools"]); strings.Contains(got, "Does") || m["role"] != "guest" {
		t.Errorf("manifest %v", m)
	}
	// Where there is nothing to take there is no set_role, and the rest says so too.
	alone := h.enter("guest")
	if slices.ContainsFunc(alone.List(policy.Tool), func(l view.Listed) bool { return l.Item == setRole }) {
		t.Error("set_role is listed")
	}
	_, err := h.Call(t.Context(), alone, request("mycelium-router__set_role", `{"role_id":"guest"}`))
	if d := denied(t, err); d.Error() != "Unknown tool: mycelium-router__set_role" {
		t.Errorf("%+v", d)
	}
	answer, _ = h.ask(alone, "mycelium-router__get_context", `{}`)
	if strings.Contains(fmt.Sprint(answer), "set_role") || strings.Contains(h.Instructions(alone), "set_role") {
		t.Errorf("context %v, instructions %q", answer, h.Instructions(alone))
	}
}

// TestDeniedControlTools: a role's deny hides a control tool like any other.
func TestDeniedControlTools(t *testing.T) {
	p := three()
	p.roles = append(p.roles[:1:1], policy.Role{ID: "guest", Deny: []string{"mycelium-router__*", "mycelium-skills__*"}})
	p.skills[0].Instructions = strings.Repeat("long ", control.MaxInstructions)
	h := build(t, p)
	s := h.enter("guest", "developer")
	if text := h.Instructions(s); strings.Contains(text, "mycelium-") || !strings.Contains(text, "ask your operator") {
		t.Errorf("instructions name what is hidden: %q", text)
	}
	for _, l := range s.List(policy.Tool) {
		if l.Item == setRole || l.Item.Server == policy.SkillsServer {
			t.Errorf("%s is listed", l.Item)
		}
	}
	_, err := h.Call(t.Context(), s, request("mycelium-router__set_role", `{"role_id":"developer"}`))
	if d := denied(t, err); d.Error() != "Unknown tool: mycelium-router__set_role" {
		t.Errorf("%+v", d)
	}
}

func TestSetActiveSkillsTool(t *testing.T) {
	p := three()
	p.start = []string{"reader"}
	h := build(t, p)
	s := h.enter("developer", "guest")
	answer, failed := h.ask(s, "mycelium-router__set_active_skills", `{"skills":["editor"]}`)
	if failed != "" {
		t.Fatal(failed)
	}
	if got := fmt.Sprint(answer["activeSkills"], answer["activated"], answer["kept"],
		answer["addedTools"]); got != "[editor reader] [editor] [reader] [files__write_file]" {
		t.Errorf("answer %v", answer)
	}
	if !strings.Contains(fmt.Sprint(answer["instructions"]), "Write small changes.") {
		t.Errorf("no instructions: %v", answer)
	}
	got, _ := h.ask(s, "mycelium-router__get_active_skills", ``)
	if fmt.Sprint(got) != "map[activeSkills:[editor reader] availableSkills:[] protectedSkills:[reader]]" {
		t.Errorf("active %v", got)
	}
	answer, _ = h.ask(s, "mycelium-router__set_active_skills", `{"skills":[]}`)
	if fmt.Sprint(answer["activeSkills"], answer["deactivated"], answer["removedTools"],
		answer["instructions"]) != "[reader] [editor] [files__write_file] []" {
		t.Errorf("answer %v", answer)
	}
	answer, _ = h.ask(s, "mycelium-router__set_active_skills", `{"add":["editor"]}`)
	if fmt.Sprint(answer["activated"]) != "[editor]" {
		t.Errorf("answer %v", answer)
	}
	answer, _ = h.ask(s, "mycelium-router__get_context", ``)
	if events := answer["skillHistory"].([]any); len(events) != 4 { // reader at the start, editor up, down, up
		t.Errorf("history %v", events)
	}
}

func TestSuggestNamesOpenSkillsOnly(t *testing.T) {
	h := build(t, three())
	guest, admin := h.enter("guest"), h.enter("admin")
	intent := `{"intent":"read the database and fix it"}`
	answer, _ := h.ask(guest, "mycelium-router__suggest_skills", intent)
	if got := fmt.Sprint(answer); strings.Contains(got, "keeper") || strings.Contains(got, "editor") || !strings.Contains(got, "reader") {
		t.Errorf("guest: %s", got)
	}
	answer, _ = h.ask(admin, "mycelium-router__suggest_skills", intent)
	if got := fmt.Sprint(answer); !strings.Contains(got, "keeper") || !strings.Contains(got, "score") {
		t.Errorf("admin: %s", got)
	}
}

// TestInactiveSkillsAreCheap: with 60 skills, each with a description of 250 bytes, a session is told of no inactive one at its start, and
// the list of all of them has less than 2,000 tokens, at four bytes a token: 1 % of a window of 200,000.
func TestInactiveSkillsAreCheap(t *testing.T) {
	p := three()
	for i := range 60 {
		p.skills = append(p.skills, skill.Skill{Grant: policy.Grant{Name: fmt.Sprintf("release-helper-%02d", i), AllowedRoles: []string{"guest"}},
			DisplayName: "Release helper", Description: strings.Repeat("Helps with a release and its notes. ", 7), Instructions: "# Long",
			Triggers: []string{"release", "release notes", "リリース", "リリースノート"}})
	}
	h := build(t, p)
	s, err := h.Sessions.Open(t.Context(), session.Spec{Role: "guest", Skills: []string{"reader"}})
	if err != nil {
		t.Fatal(err)
	}
	told := control.Brief(s, nil, control.MaxInstructions)
	var defs strings.Builder
	for _, l := range s.List(policy.Tool) {
		defs.Write(l.Raw)
	}
	if at := told.Header + told.Teaching + h.Instructions(s) + defs.String(); strings.Contains(at, "release-helper") {
		t.Errorf("told at the start: %s", at)
	}
	reply, err := h.Call(t.Context(), s, request("mycelium-skills__list_skills", ""))
	if err != nil {
		t.Fatal(err)
	}
	const most = 4 * 2000
	list := string(rawjson.Member(reply.Result, "structuredContent"))
	if len(list) > most || strings.Count(list, "release-helper") != 60 || strings.Contains(list, "リリース") {
		t.Errorf("%d bytes: %s", len(list), list)
	}
	answer, _ := h.ask(s, "mycelium-skills__get_skill", `{"id":"release-helper-07"}`)
	if got := fmt.Sprint(answer); !strings.Contains(got, "リリースノート") || strings.Count(got, "Helps with") != 7 {
		t.Errorf("get_skill: %s", got)
	}
}

func TestSkillTools(t *testing.T) {
	h := build(t, three())
	s := h.enter("guest", "developer")
	answer, _ := h.ask(s, "mycelium-skills__list_skills", ``)
	if got := fmt.Sprint(answer); !strings.Contains(got, "Reads files.") || strings.Contains(got, "editor") {
		t.Errorf("skills %s", got)
	}
	answer, _ = h.ask(s, "mycelium-skills__list_skills", `{"role":"developer"}`)
	if got := fmt.Sprint(answer); !strings.Contains(got, "editor") || strings.Contains(got, "keeper") {
		t.Errorf("skills of developer %s", got)
	}
	answer, _ = h.ask(s, "mycelium-skills__get_skill", `{"id":"reader"}`)
	if fmt.Sprintln(answer["tools"], answer["instructions"],
		answer["commands"]) != "[files__list_directory files__read_file] Read before you write. [show dir]\n" {
		t.Errorf("skill %v", answer)
	}
	if strings.Contains(fmt.Sprint(answer), "secret") {
		t.Errorf("skill %v", answer)
	}
	answer, _ = h.ask(s, "mycelium-skills__list_resources", `{"skillId":"reader"}`)
	if fmt.Sprint(answer["resources"]) != "[data/logo.bin guide.md]" {
		t.Errorf("resources %v", answer)
	}
	answer, _ = h.ask(s, "mycelium-skills__get_resource", `{"skillId":"reader","resourcePath":"guide.md"}`)
	if answer["text"] != "# Guide" || answer["mimeType"] != "text/markdown" {
		t.Errorf("resource %v", answer)
	}
	answer, _ = h.ask(s, "mycelium-skills__get_resource", `{"skillId":"reader","resourcePath":"data/logo.bin"}`)
	if answer["blob"] != "/wAB" {
		t.Errorf("resource %v", answer)
	}
	for _, bad := range []string{
		"../guide.md", "/etc/passwd", "data/../../x", "data", ".", "", "SKILL.yaml", "skill.md", ".hidden", "link.md", "guide.md/x",
		"nosuch", `data\\logo.bin`, "guide.md\\u0000", "./guide.md",
	} {
		answer, failed := h.ask(s, "mycelium-skills__get_resource", `{"skillId":"reader","resourcePath":"`+bad+`"}`)
		if !strings.HasPrefix(failed, "Unknown resource: ") {
			t.Errorf("%q: answered %v %q", bad, answer, failed)
		}
	}
	answer, _ = h.ask(s, "mycelium-skills__list_commands", ``)
	if got := fmt.Sprint(answer["commands"]); !strings.Contains(got, "show") || !strings.Contains(got, "dir") {
		t.Errorf("commands %s", got)
	}
	// A command whose tool is hidden is not named.
	p := three()
	p.roles = append(p.roles[:1:1], policy.Role{ID: "guest", Deny: []string{"files__list_directory"}})
	less := build(t, p)
	guest := less.enter("guest")
	for _, name := range []string{"mycelium-skills__list_commands", "mycelium-skills__get_skill"} {
		answer, _ = less.ask(guest, name, map[string]string{"mycelium-skills__get_skill": `{"id":"reader"}`}[name])
		if got := fmt.Sprint(answer); !strings.Contains(got, "show") || strings.Contains(got, "dir") {
			t.Errorf("%s: %s", name, got)
		}
	}
	reloads := 0
	h.control.Reload = func(context.Context) error { reloads++; h.Swap(h.World()); return nil }
	if answer, failed := h.ask(s, "mycelium-skills__reload_skills", ``); failed != "" || reloads != 1 || answer["reloaded"] != true {
		t.Errorf("reload %v %q", answer, failed)
	}
	h.control.Reload = func(context.Context) error {
		return errors.New("skills/hidden/SKILL.yaml: secret__tool does not exist")
	}
	if _, failed := h.ask(s, "mycelium-skills__reload_skills", ``); failed == "" || strings.Contains(failed, "secret") {
		t.Errorf("reload %q", failed)
	}
}

// TestSkillTexts: the instructions of open skills as prompts and resources.
func TestSkillTexts(t *testing.T) {
	h := build(t, three())
	s := h.enter("guest")
	var names []string
	for _, l := range s.List(policy.Prompt) {
		names = append(names, rawjson.TextAt(l.Raw, "name"))
	}
	for _, l := range s.List(policy.Resource) {
		names = append(names, rawjson.TextAt(l.Raw, "uri"))
	}
	want := []string{
		"mycelium-skills__reader", "mycelium-skills+skill://reader/SKILL.md", "mycelium-skills+skill://reader/data/logo.bin",
		"mycelium-skills+skill://reader/guide.md",
	}
	if !slices.Equal(names, want) {
		t.Errorf("listed %q", names)
	}
	use := func(k policy.Kind, name string) (Reply, error) {
		return h.Call(t.Context(), s, Request{Item: policy.Item{Kind: k, Server: policy.SkillsServer, Name: name}, Asked: "X",
			Surface: "test"})
	}
	if reply, err := use(policy.Prompt, "reader"); err != nil || !strings.Contains(string(reply.Result),
		`"text":"Read before you write."`) {
		t.Errorf("prompt %s, %v", reply.Result, err)
	}
	reply, err := use(policy.Resource, "skill://reader/SKILL.md")
	if err != nil || !strings.Contains(string(reply.Result),
		`"uri":"mycelium-skills+skill://reader/SKILL.md"`) || strings.Contains(string(reply.Result), "secret") {
		t.Errorf("resource %s, %v", reply.Result, err)
	}
	if reply, err = use(policy.Resource, "skill://reader/data/logo.bin"); err != nil || !strings.Contains(string(reply.Result),
		`"blob":"/wAB"`) {
		t.Errorf("resource %s, %v", reply.Result, err)
	}
	for _, name := range []string{"keeper", "nosuch", "editor"} {
		_, err := use(policy.Prompt, name)
		if d := denied(t, err); d.Error() != "Unknown prompt: X" {
			t.Errorf("%s: %+v", name, d)
		}
		_, err = use(policy.Resource, "skill://"+name+"/SKILL.md")
		if d := denied(t, err); d.Error() != "Unknown resource: X" {
			t.Errorf("%s: %+v", name, d)
		}
	}
	for _, uri := range []string{"skill://reader/../keeper/SKILL.md", "skill://reader/%2e%2e/x", "skill://reader/SKILL.yaml",
		"skill://reader/%zz", "skill://reader", "file:///etc/passwd", "skill://reader/nosuch"} {
		_, err := use(policy.Resource, uri)
		if d := denied(t, err); d.Error() != "Unknown resource: X" || !d.Decision.Unknown {
			t.Errorf("%s: %+v", uri, d)
		}
	}
}

func TestInstructions(t *testing.T) {
	p := three()
	h := build(t, p)
	dev := h.Instructions(h.enter("developer", "guest"))
	for _, want := range []string{"Mycelium", "# Role: Developer", "You work on this repository.", "Read before you write.",
		"Write small changes.", "get_context", "set_role"} {
		if !strings.Contains(dev, want) {
			t.Errorf("no %q in %q", want, dev)
		}
	}
	for _, hidden := range []string{"keeper", "database", "Be careful"} {
		if strings.Contains(dev, hidden) {
			t.Errorf("%q in %q", hidden, dev)
		}
	}
	p.skills[0].Instructions = strings.Repeat("日本語 ", 10_000)
	h.Swap(p.world(t, h.dir))
	for _, role := range []string{"guest", "developer", ""} {
		text := h.Instructions(h.enter(role))
		if len(text) > control.MaxInstructions || role != "" && !strings.Contains(text, "get_skill") {
			t.Errorf("%s: %d bytes", role, len(text))
		}
	}
	p.roles[0].Prompt = strings.Repeat("語", control.MaxInstructions)
	h.Swap(p.world(t, h.dir))
	if text := h.Instructions(h.enter("developer")); len(text) > control.MaxInstructions || !strings.HasSuffix(text, "…") {
		t.Errorf("%d bytes", len(text))
	}
}

// TestBroken: nothing leaks from a policy that could not be loaded, and nothing runs.
func TestBroken(t *testing.T) {
	p := three()
	p.broken = "rules.yaml:3: unknown key secret_key"
	h := build(t, p)
	s, err := h.Sessions.Open(t.Context(), session.Spec{Role: "role-of-a-file-that-is-broken"})
	if err != nil {
		t.Fatal(err)
	}
	if _, _, err := h.Sessions.Mint(t.Context(), session.Spec{Role: "nobody"}); err == nil {
		t.Error("minted for a role that is not there")
	}
	if got := h.sees(s); len(got) > 0 {
		t.Errorf("sees %v", got)
	}
	if text := h.Instructions(s); strings.Contains(text, "secret") || strings.Contains(text, "rules") || !strings.Contains(text,
		"operator must look") {
		t.Errorf("instructions %q", text)
	}
	_, err = h.Call(t.Context(), h.enter("guest"), request("files__read_file", `{}`))
	if d := denied(t, err); strings.Contains(d.Error(), "secret") {
		t.Errorf("%+v", d)
	}
	reply, err := h.Call(t.Context(), s, request("mycelium-router__get_context", `{}`))
	if text := fmt.Sprint(string(reply.Result), err); strings.Contains(text, "secret_key") || strings.Contains(text, "yaml") {
		t.Errorf("context %s", text)
	}
}

var setRole = policy.Item{Server: policy.RouterServer, Name: "set_role"}
