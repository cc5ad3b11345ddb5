package control

import (
	"context"
	"encoding/base64"
	"slices"
	"strings"
	"unicode/utf8"

	"mycelium/internal/credential"
	"mycelium/internal/gate/session"
	"mycelium/internal/gate/view"
	"mycelium/internal/policy"
	"mycelium/internal/skill"
	"mycelium/internal/text"
)

var getSkillItem = skillItem("get_skill")

func skillItem(name string) policy.Item {
	return policy.Item{Server: policy.SkillsServer, Name: name}
}

// skillTools are the tools of mycelium-skills (A19). A skill that is not open to the session's role, and a role that the session may not
// take, answer like ones that do not exist.
func skillTools() []tool {
	role := param{name: "role", kind: "string", description: "One of the roles that this session may take. Default: the present one."}
	id := func(name string) param {
		return param{name: name, kind: "string", required: true, description: "Name of the skill."}
	}
	return []tool{
		{
			item: skillItem("list_skills"), title: "List skills", readOnly: true, run: runListSkills, params: []param{role},
			description: "Lists the skills that are open to this session's role, each in a line; get_skill shows one.",
		},
		{
			item: getSkillItem, title: "Read a skill", readOnly: true, run: runGetSkill, params: []param{id("id")},
			description: "Shows a skill: its instructions, the tools that it brings and its files.",
		},
		{
			item: skillItem("list_resources"), title: "List files of a skill", readOnly: true, run: runListResources, params: []param{id("skillId")},
			description: "Lists the files that belong to a skill.",
		},
		{
			item: skillItem("get_resource"), title: "Read a file of a skill", readOnly: true, run: runGetResource,
			description: "Reads one file of a skill.",
			params: []param{
				id("skillId"), {name: "resourcePath", kind: "string", required: true, description: "Path of the file inside the skill."},
			},
		},
		{
			item: skillItem("reload_skills"), title: "Reload skills", run: runReload,
			description: "Reads the skills from disk again.",
		},
		{
			item: skillItem("list_commands"), title: "List commands", readOnly: true, run: runCommands, params: []param{role},
			description: "Lists the slash commands that the skills bring.",
		},
		scriptTool(),
	}
}

// shortDescription is how much of a description list_skills has, in cells. The list of 60 skills then has less than 2,000 tokens; get_skill
// has the rest.
const shortDescription = 72

// listedSkill is one skill in the answer of list_skills.
type listedSkill struct {
	ID          string `json:"id"`
	Description string `json:"description"`
	Active      bool   `json:"active,omitzero"`
}

// summary is what get_skill says of a skill before its text.
type summary struct {
	ID          string   `json:"id"`
	Name        string   `json:"name"`
	Description string   `json:"description"`
	Triggers    []string `json:"triggers,omitempty"`
	Active      bool     `json:"active"`
}

func summarize(sc *session.Snapshot, k *skill.Skill) summary {
	s := summary{ID: k.Name, Name: k.DisplayName, Description: k.Description, Triggers: k.Triggers}
	if s.Name == "" {
		s.Name = k.Name
	}
	s.Active = slices.Contains(sc.Scope.Skills, k.Name)
	return s
}

// as returns the snapshot that the session would have in the role that the arguments name; without one, the present snapshot. It
// refuses an unknown role, and one that the session may not take.
func as(sc *session.Snapshot, x *Tools, s *session.Session, a arguments) (*session.Snapshot, error) {
	name := a.text("role")
	if name == "" || name == sc.Scope.Principal.Role {
		return sc, nil
	}
	if err := x.Sessions.MayTake(s, name, session.ByAgent); err != nil {
		return nil, err
	}
	return s.InRole(sc, name), nil
}

func runListSkills(_ context.Context, x *Tools, c *Call, a arguments) (any, error) {
	here := c.now()
	sc, err := as(here, x, c.Session, a)
	if err != nil {
		return nil, err
	}
	out := []listedSkill{}
	for _, name := range sc.Open {
		if k, ok := sc.World.Skills.Skill(name); ok {
			active := sc == here && slices.Contains(sc.Scope.Skills, name) // of another role nothing is active yet
			out = append(out, listedSkill{k.Name, text.TruncateCells(text.OneLine(k.Description), shortDescription), active})
		}
	}
	return map[string]any{"role": sc.Scope.Principal.Role, "skills": out}, nil
}

// openSkill returns a skill that is open to the session.
func openSkill(sc *session.Snapshot, name string) (*skill.Skill, error) {
	if slices.Contains(sc.Open, name) {
		if k, ok := sc.World.Skills.Skill(name); ok {
			return k, nil
		}
	}
	return nil, session.UnknownSkill(sc, name, session.ByAgent)
}

// described is the answer of get_skill.
type described struct {
	summary
	Instructions string   `json:"instructions"`
	Tools        []string `json:"tools"` // that it grants and that would be visible with it active
	Resources    []string `json:"resources"`
	Commands     []string `json:"commands,omitempty"`
}

func runGetSkill(_ context.Context, _ *Tools, c *Call, a arguments) (any, error) {
	sc := c.now()
	k, err := openSkill(sc, a.text("id"))
	if err != nil {
		return nil, err
	}
	out := described{summary: summarize(sc, k), Instructions: k.Instructions, Tools: grantedBy(sc, k), Resources: sc.World.FilesOf(k.Name)}
	for _, cmd := range commandsOf(sc, k) {
		out.Commands = append(out.Commands, cmd.Name)
	}
	return out, nil
}

// grantedBy returns the tools that a skill grants and that the session would see if the skill were active, sorted.
func grantedBy(sc *session.Snapshot, k *skill.Skill) []string {
	var patterns []policy.Pattern
	for _, entry := range k.AllowedTools {
		entry = strings.TrimPrefix(entry, "?")
		if i := strings.IndexByte(entry, '('); i >= 0 {
			entry = entry[:i] // agent__Bash(git *): the tool is what counts here
		}
		if p, err := policy.ParsePattern(entry); err == nil {
			patterns = append(patterns, p)
		}
	}
	with := with(sc, k.Name)
	out := []string{}
	for _, it := range sc.World.Policy.Items(with, policy.Tool) {
		if !view.IsOwn(it.Server) && slices.ContainsFunc(patterns, func(p policy.Pattern) bool { return p.Match(it) }) {
			out = append(out, it.String())
		}
	}
	slices.Sort(out)
	return out
}

// with returns the scope with one more skill active.
func with(sc *session.Snapshot, name string) policy.Scope {
	scope := sc.Scope
	scope.Skills = session.SortedSet(append(slices.Clone(scope.Skills), name))
	return scope
}

func runListResources(_ context.Context, _ *Tools, c *Call, a arguments) (any, error) {
	sc := c.now()
	k, err := openSkill(sc, a.text("skillId"))
	if err != nil {
		return nil, err
	}
	return map[string]any{"skillId": k.Name, "resources": sc.World.FilesOf(k.Name)}, nil
}

// fileText is the answer of get_resource: exactly one of Text and Blob.
type fileText struct {
	Skill    string  `json:"skillId"`
	Path     string  `json:"resourcePath"`
	MimeType string  `json:"mimeType"`
	Text     *string `json:"text,omitempty"`
	Blob     *string `json:"blob,omitempty"` // base64
}

func runGetResource(_ context.Context, x *Tools, c *Call, a arguments) (any, error) {
	sc := c.now()
	k, err := openSkill(sc, a.text("skillId"))
	if err != nil {
		return nil, err
	}
	path := a.text("resourcePath")
	data, err := readSkillFile(k, path)
	if err != nil {
		x.Logger.Info("a file of a skill was not read", "skill", k.Name, "path", credential.Excerpt(path, session.MaxEcho), "error", err)
		return nil, failure("Unknown resource: " + credential.Excerpt(path, session.MaxEcho))
	}
	page, blob := textOrBlob(data)
	return fileText{Skill: k.Name, Path: path, MimeType: view.MimeType(path, data), Text: page, Blob: blob}, nil
}

// textOrBlob returns data as text if it is UTF-8, else as base64.
func textOrBlob(data []byte) (text, blob *string) {
	if utf8.Valid(data) {
		s := string(data)
		return &s, nil
	}
	s := base64.StdEncoding.EncodeToString(data)
	return nil, &s
}

func runReload(ctx context.Context, x *Tools, c *Call, _ arguments) (any, error) {
	if x.Reload == nil {
		return nil, failure("Skills cannot be reloaded here")
	}
	if err := x.Reload(ctx); err != nil {
		x.Logger.Warn("skills were not reloaded", "session", c.Session.ID, "error", err)
		return nil, failure("The skills could not be reloaded; the operator's log says why")
	}
	return map[string]any{"reloaded": true, "skills": len(c.now().Open)}, nil
}

// command is a slash command of a skill.
type command struct {
	Name        string           `json:"name"`
	Description string           `json:"description,omitempty"`
	Skill       string           `json:"skill"`
	HandlerType string           `json:"handlerType"`
	ToolName    string           `json:"toolName,omitempty"`
	ScriptPath  string           `json:"scriptPath,omitempty"`
	Usage       string           `json:"usage,omitempty"`
	Arguments   []skill.Argument `json:"arguments,omitempty"`
}

func runCommands(_ context.Context, x *Tools, c *Call, a arguments) (any, error) {
	sc, err := as(c.now(), x, c.Session, a)
	if err != nil {
		return nil, err
	}
	out := []command{}
	for _, name := range sc.Open {
		if k, ok := sc.World.Skills.Skill(name); ok {
			out = append(out, commandsOf(sc, k)...)
		}
	}
	return map[string]any{"role": sc.Scope.Principal.Role, "commands": out}, nil
}

// commandsOf returns the commands of a skill, without those whose tool the session would not see even with the skill active.
func commandsOf(sc *session.Snapshot, k *skill.Skill) []command {
	var out []command
	for _, cmd := range k.Commands {
		if cmd.ToolName != "" {
			it, err := policy.ParseTool(cmd.ToolName)
			if err != nil || !sc.World.Policy.Visible(with(sc, k.Name), it) {
				continue
			}
		}
		out = append(out, command{
			Name: cmd.Name, Description: cmd.Description, Skill: k.Name, HandlerType: cmd.HandlerType,
			ToolName: cmd.ToolName, ScriptPath: cmd.ScriptPath, Usage: cmd.Usage, Arguments: cmd.Arguments,
		})
	}
	return out
}
