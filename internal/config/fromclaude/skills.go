package fromclaude

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"mycelium/internal/config/servers"
	"mycelium/internal/config/shipped"
	"mycelium/internal/config/source"
	"mycelium/internal/policy"
	"mycelium/internal/skill"
	"mycelium/internal/yamlfile"
)

// addServers adds a skill for each server of .mcp.json: in Claude Code every tool of a server is there, and asks unless permissions say
// otherwise.
func (p *Plan) addServers(list []servers.Server, role string, r *rules) {
	var names []string
	for _, s := range list {
		name := s.Name
		names = append(names, s.Key)
		var b bytes.Buffer
		fmt.Fprintf(&b, "# The tools of %[1]s, as .mcp.json gave them to Claude Code: all of them. Name the ones that you want instead, and\n"+
			"# the others do not exist for agents: myc tools --all shows them.\n"+
			"name: %[1]s\ndescription: The tools of the server %[1]s.\nallowedRoles: [%[2]s]\nallowedTools: [\"%[1]s__*\"]\n", name, role)
		p.addSkill(name, File{"skills/" + name + "/SKILL.yaml", b.Bytes()})
	}
	if len(names) == 0 {
		return
	}
	p.Asks = true
	p.note(".mcp.json: its servers start behind Mycelium now (%s). myc claude gives Claude Code the gateway only; if you start claude "+
		"yourself, move them from .mcp.json into mycelium.yaml, so that it reaches them through the gateway.", strings.Join(names, ", "))
	// Our own servers are not Claude Code's: what their skills grant is allowed, as in every other project.
	r.list = append(r.list, rule{action: "allow", tool: "files__*"})
}

func (p *Plan) addSkill(name string, files ...File) {
	p.Skills = append(p.Skills, name)
	p.Files = append(p.Files, files...)
}

// addSkills adds the skills of .claude/skills, with all their files, and returns how many there are.
func (p *Plan) addSkills(dir, role string) (n int, err error) {
	entries, err := readFolder(filepath.Join(dir, ".claude", "skills"))
	if err != nil {
		return 0, err
	}
	for _, e := range entries {
		at := ".claude/skills/" + e.Name()
		page, err := source.ReadRegular(filepath.Join(dir, filepath.FromSlash(at), "SKILL.md"), most)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return n, fmt.Errorf("read %s: %w", at, err)
		}
		if err := p.oneSkill(dir, at, e.Name(), role, page); err != nil {
			return n, err
		}
		n++
	}
	if n > 0 {
		p.note(".claude/skills: allowed-tools approved tools in advance there; here it is the list of tools that the skill makes visible. " +
			"Claude Code still reads its own copies.")
	}
	return n, nil
}

// oneSkill adds one skill: its files as they are, and a SKILL.yaml with what Agent Skills do not say.
func (p *Plan) oneSkill(dir, at, name, role string, page []byte) error {
	var front struct {
		Name    string         `json:"name"`
		Kebab   jsontext.Value `json:"allowed-tools"`
		Allowed jsontext.Value `json:"allowedTools"`
	}
	raw, err := skill.FrontMatter(page)
	if err == nil {
		err = json.Unmarshal(raw, &front)
	}
	if err != nil {
		p.note("%s is not carried over: its SKILL.md has no front matter that can be read (%v).", at, err)
		return nil
	}
	if front.Name != "" {
		name = front.Name
	}
	if name = strings.ToLower(name); !isName(name) {
		p.note("%s is not carried over: its name may have letters, digits and - only.", at)
		return nil
	}
	if slices.Contains(p.Skills, name) {
		p.note("%s is not carried over: there is a server of the same name.", at)
		return nil
	}
	var b bytes.Buffer
	fmt.Fprintf(&b, "# What %s does not say: who may use the skill.\nallowedRoles: [%s]\n", at, role)
	if front.Kebab == nil && front.Allowed == nil {
		b.WriteString("# It names no tools, so it brings instructions only: the tools are those of the role's other skills.\nallowedTools: []\n")
	}
	list := []File{{"skills/" + name + "/SKILL.yaml", b.Bytes()}}
	folder := filepath.Join(dir, filepath.FromSlash(at))
	err = filepath.WalkDir(folder, func(file string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		rel, err := filepath.Rel(folder, file)
		if err != nil {
			return err
		}
		if !d.Type().IsRegular() || len(list) > files {
			p.note("%s/%s is not carried over: only regular files are, and at most %d.", at, filepath.ToSlash(rel), files)
			return nil
		}
		data, err := source.ReadRegular(file, most)
		if err != nil {
			p.note("%s/%s is not carried over: %v.", at, filepath.ToSlash(rel), err)
			return nil
		}
		list = append(list, File{path.Join("skills", name, filepath.ToSlash(rel)), data})
		return nil
	})
	if err != nil {
		return fmt.Errorf("read %s: %w", at, err)
	}
	p.addSkill(name, list...)
	return nil
}

// addAgents adds a role for each subagent of .claude/agents, and returns how many there are.
func (p *Plan) addAgents(dir, role string) (n int, err error) {
	entries, err := readFolder(filepath.Join(dir, ".claude", "agents"))
	if err != nil {
		return 0, err
	}
	for _, e := range entries {
		stem, isPage := strings.CutSuffix(e.Name(), ".md")
		if !isPage {
			continue
		}
		at := ".claude/agents/" + e.Name()
		data, err := source.ReadRegular(filepath.Join(dir, filepath.FromSlash(at)), most)
		if err != nil {
			return n, fmt.Errorf("read %s: %w", at, err)
		}
		p.oneAgent(at, stem, role, data)
		n++
	}
	if n > 0 {
		p.note(".claude/agents: each subagent is a role now, for an agent of its own (myc claude --role NAME). A subagent that Claude Code " +
			"starts inside a session keeps the role of the session.")
	}
	return n, nil
}

// oneAgent adds the role of one subagent.
func (p *Plan) oneAgent(at, stem, role string, page []byte) {
	var front struct {
		Name        string         `json:"name"`
		Description string         `json:"description"`
		Tools       jsontext.Value `json:"tools"`
		Model       string         `json:"model"`
	}
	raw, err := skill.FrontMatter(page)
	if err == nil {
		err = json.Unmarshal(raw, &front)
	}
	if err != nil {
		p.note("%s is not carried over: its front matter cannot be read (%v).", at, err)
		return
	}
	if front.Name != "" {
		stem = front.Name
	}
	if !isName(stem) {
		p.note("%s is not carried over: its name may have letters, digits and - only.", at)
		return
	}
	if slices.Contains(shipped.Own().Names(), "roles/"+stem+".yaml") { // its file would replace that role
		p.note("%s is the role claude-%s, because %s is a role of Mycelium.", at, stem, stem)
		stem = "claude-" + stem
	}
	var b bytes.Buffer
	fmt.Fprintf(&b, "# From %s.\nid: %s\n", at, yamlfile.Text(stem))
	if front.Description != "" {
		fmt.Fprintf(&b, "description: %s\n", yamlfile.Text(front.Description))
	}
	if tools, unknown := toolsOf(front.Tools); front.Tools == nil {
		fmt.Fprintf(&b, "inherits: %s # it named no tools, so it had all of them\n", role)
	} else {
		fmt.Fprintf(&b, "allowedSkills: []\ntoolIds: [%s]\n", strings.Join(tools, ", "))
		for _, u := range unknown {
			p.note("%s: the tool %s is not carried over: there is no such tool.", at, u)
		}
	}
	if front.Model != "" && front.Model != "inherit" {
		fmt.Fprintf(&b, "model: {provider: anthropic, model: %s}\n", yamlfile.Text(front.Model))
	}
	if _, body, found := strings.Cut(strings.TrimPrefix(string(page), "---"), "\n---"); found {
		if body = strings.TrimSpace(body); body != "" {
			fmt.Fprintf(&b, "prompt: %s\n", yamlfile.Text(body))
		}
	}
	p.Files = append(p.Files, File{"roles/" + stem + ".yaml", b.Bytes()})
}

// isName reports whether a name may be that of a folder or a file that we write.
func isName(s string) bool {
	const letters = yamlfile.Lower + yamlfile.Upper + yamlfile.Digits
	return yamlfile.Word{First: letters, Rest: letters + "-", Most: 64}.MatchString(s)
}

// toolsOf reads the tools of a subagent: a list, or names with commas between them.
func toolsOf(raw jsontext.Value) (tools, unknown []string) {
	var list []string
	if json.Unmarshal(raw, &list) != nil {
		var s string
		if json.Unmarshal(raw, &s) != nil {
			return nil, nil
		}
		list = strings.Split(s, ",")
	}
	for _, t := range list {
		t = strings.TrimSpace(t)
		name, known := policy.AgentTool(t)
		switch inner, isServer := strings.CutPrefix(t, "mcp__"); {
		case t == "":
		case isServer:
			tools = append(tools, yamlfile.Text(serverTool(inner)))
		case known:
			tools = append(tools, policy.AgentServer+"__"+name)
		default:
			unknown = append(unknown, t)
		}
	}
	return tools, unknown
}
