package skill

import (
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"
	"unicode/utf8"

	"mycelium/internal/policy"
	"mycelium/internal/skill/intent"
	"mycelium/internal/text"
	"mycelium/internal/yamlfile"
)

// maxDescription is the limit of Agent Skills, in characters.
const maxDescription = 1024

var commandPattern = yamlfile.Word{First: yamlfile.Lower + yamlfile.Digits, Rest: yamlfile.Lower + yamlfile.Digits + "_-", Most: 64}

// index is a catalog, indexed for the validation.
type index struct {
	items   map[policy.Item]bool
	names   map[policy.Kind][]string // text forms, sorted
	servers map[string]bool
	pending map[string]string
	held    map[policy.Item]bool
}

func newIndex(c Catalog) *index {
	ix := &index{items: map[policy.Item]bool{}, names: map[policy.Kind][]string{}, servers: map[string]bool{}, pending: c.Pending,
		held: map[policy.Item]bool{}}
	for _, it := range c.Held {
		ix.held[it] = true
		ix.servers[it.Server] = true
	}
	for _, d := range c.Definitions {
		ix.items[d.Item] = true
		ix.servers[d.Item.Server] = true
		ix.names[d.Item.Kind] = append(ix.names[d.Item.Kind], d.Item.String())
	}
	for k := range ix.names {
		slices.Sort(ix.names[k])
	}
	return ix
}

// matches returns at most limit items of a kind that a pattern matches.
func (ix *index) matches(kind policy.Kind, p policy.Pattern, limit int) []string {
	var out []string
	for _, name := range ix.names[kind] {
		server, rest, _ := strings.Cut(name, "__")
		if p.Match(policy.Item{Kind: kind, Server: server, Name: rest}) {
			if out = append(out, name); len(out) == limit {
				break
			}
		}
	}
	return out
}

// check is the validation of one skill.
type check struct {
	*index
	skill    *Skill
	invalid  bool
	pendings []string // servers whose catalog is unknown
	problems []policy.Problem
	missing  map[string]bool // optional entries that match nothing
}

func (c *check) fault(at position, hint, format string, args ...any) {
	c.invalid = true
	c.problems = append(c.problems, at.problem(fmt.Sprintf(format, args...), hint))
}

func (c *check) warn(at position, hint, format string, args ...any) {
	c.problems = append(c.problems, at.warning(fmt.Sprintf(format, args...), hint))
}

func (c *check) run() {
	s := c.skill
	if n := utf8.RuneCountInString(s.Description); n > maxDescription {
		c.fault(s.at("description"), "shorten it; details belong into the instructions", "the description has %d characters, more than %d", n,
			maxDescription)
	}
	for i, entry := range s.AllowedTools {
		c.tool(s.toolAt(i), entry)
	}
	for i, entry := range s.AllowedPrompts {
		c.prompt(s.at(fmt.Sprintf("allowedPrompts[%d]", i)), entry)
	}
	for i, entry := range s.AllowedResources {
		c.resource(s.at(fmt.Sprintf("allowedResources[%d]", i)), entry)
	}
	c.roles()
	c.memory()
	c.commands()
	c.identity()
	if s.Sandbox != "" && !slices.Contains(Sandboxes(), s.Sandbox) {
		c.fault(s.at("sandbox"), "write one of "+strings.Join(Sandboxes(), ", "), "scripts of a skill do not run in the sandbox %q", s.Sandbox)
	}
	c.requires()
	for i, t := range s.Triggers {
		if intent.Fold(t) == "" {
			c.warn(s.at(fmt.Sprintf("triggers[%d]", i)), "remove it", "an empty trigger never matches")
		}
	}
}

// state returns the state of the skill. A pending skill with faults is invalid.
func (c *check) state() State {
	switch {
	case c.invalid:
		return Invalid
	case len(c.pendings) > 0:
		return Pending
	}
	return Valid
}

// tool checks an entry of allowedTools.
func (c *check) tool(at position, entry string) {
	if strings.TrimSpace(entry) == "" {
		c.fault(at, "write server__tool", "an entry of allowedTools is empty")
		return
	}
	pattern := ToolPattern(entry)
	p, err := policy.ParsePattern(pattern)
	if err != nil {
		hint := fmt.Sprintf("write server__tool, %q for an agent's own tool, or %q for all tools of a server", "agent__Read", "server__*")
		if near := NearestTool(pattern, append(slices.Clone(c.names[policy.Tool]), ownTools()...)); near != "" {
			hint = fmt.Sprintf("did you mean %q?", near)
		}
		c.fault(at, hint, "allowedTools: %q is not a tool name", entry)
		return
	}
	if !c.limit(at, entry, p) {
		return
	}
	it, exact := p.Exact()
	server, _, _ := strings.Cut(pattern, "__")
	switch {
	case exact && it.Server == policy.AgentServer:
		if _, known := policy.AgentTool(it.Name); !known {
			hint := "the names are those of Claude Code; those of other agents are mapped to them"
			if near := text.Nearest(it.Name, policy.AgentTools()); near != "" {
				hint = fmt.Sprintf("did you mean %q?", policy.AgentServer+"__"+near)
			}
			c.warn(at, hint, "no agent that we know has a tool %q", it.Name)
		}
	case server == policy.AgentServer:
		c.warn(at, "name the tools that the skill needs: agent__Read, agent__Grep …",
			"%q grants tools of an agent by a wildcard, its shell perhaps among them", entry)
	case exact:
		c.exact(at, entry, it)
	default:
		c.wildcard(at, entry, policy.Tool, p)
	}
}

// limit checks the limit in parentheses after a tool.
func (c *check) limit(at position, entry string, p policy.Pattern) bool {
	_, spec, limited := strings.Cut(entry, "(")
	if !limited {
		return true
	}
	if _, exact := p.Exact(); !exact {
		c.fault(at, "write the tool out", "allowedTools: %q limits a wildcard; a limit needs the name of one tool", entry)
		return false
	}
	if inner, closed := strings.CutSuffix(spec, ")"); !closed || strings.TrimSpace(inner) == "" {
		c.fault(at, `write agent__Bash(git *)`, "allowedTools: the limit of %q is empty or not closed", entry)
		return false
	}
	return true
}

// exact checks an entry without wildcards.
func (c *check) exact(at position, entry string, it policy.Item) {
	kind, key := "tool", "allowedTools"
	if it.Kind == policy.Prompt {
		kind, key = "prompt", "allowedPrompts"
	}
	_, waiting := c.pending[it.Server]
	switch {
	case c.items[it]:
		return
	case c.held[it]:
		c.missing[entry] = true
		c.warn(at, "look at it: myc tools diff "+c.heldName(it)+"; accept it: myc tools approve "+c.heldName(it),
			"%s: %q is in quarantine and granted to nobody", key, entry)
	case strings.HasPrefix(entry, "?"):
		c.missing[entry] = true
	case waiting:
		c.wait(at, entry, it.Server)
	case !c.servers[it.Server]:
		c.noServer(at, key, entry, it.Server)
	default:
		hint := fmt.Sprintf("see what it offers: myc tools --all; or write %q if it may be missing", "?"+entry)
		if near := NearestTool(it.String(), c.names[it.Kind]); near != "" {
			hint = fmt.Sprintf("did you mean %q?", near)
		}
		c.fault(at, hint, "%s: the server %s has no %s %q", key, it.Server, kind, it.Name)
	}
}

// wildcard checks a pattern with "*".
func (c *check) wildcard(at position, entry string, kind policy.Kind, p policy.Pattern) {
	key, noun := "allowedTools", "tool"
	if kind == policy.Prompt {
		key, noun = "allowedPrompts", "prompt"
	}
	text := ToolPattern(entry)
	server, name, anchored := strings.Cut(text, "__")
	anchored = anchored && !strings.Contains(server, "*")
	found := c.matches(kind, p, 4)
	_, waiting := c.pending[server]
	switch {
	case !anchored:
		c.warn(at, "name the "+noun+"s that the skill needs", "%s: %q reaches across servers, also those that are added later", key, entry)
		return
	case len(found) == 0 && strings.HasPrefix(entry, "?"):
		c.missing[entry] = true
		return
	case len(found) == 0 && waiting:
		c.wait(at, entry, server)
		return
	case len(found) == 0 && c.anyHeld(kind, p):
		c.missing[entry] = true
		c.warn(at, "myc doctor says why", "%s: all that %q matches is in quarantine", key, entry)
		return
	case !c.servers[server]:
		c.noServer(at, key, entry, server)
		return
	case len(found) == 0:
		c.fault(at, "see what it offers: myc tools --all", "%s: no %s of the server %s matches %q", key, noun, server, entry)
		return
	}
	if name == "*" {
		if len(found) == 4 {
			found[3] = "…"
		}
		c.warn(at, "name the "+noun+"s that the skill needs: "+strings.Join(found, ", "),
			"%s: %q grants every %s of the server %s, also those that it gets later", key, entry, noun, server)
	}
}

// heldName is the name of an item in quarantine on the command line.
func (c *check) heldName(it policy.Item) string {
	if it.Kind == policy.Prompt {
		return "prompt:" + it.String()
	}
	return it.String()
}

// anyHeld reports whether a pattern matches an item in quarantine.
func (c *check) anyHeld(kind policy.Kind, p policy.Pattern) bool {
	for it := range c.held {
		if it.Kind == kind && p.Match(it) {
			return true
		}
	}
	return false
}

func (c *check) wait(at position, entry, server string) {
	if !slices.Contains(c.pendings, server) {
		c.pendings = append(c.pendings, server)
	}
	why := c.pending[server]
	if why == "" {
		why = "it was never started"
	}
	c.warn(at, "the skill takes effect once the server has answered", "%q waits for the server %s: %s", entry, server, why)
}

func (c *check) noServer(at position, key, entry, server string) {
	optional := "?" + strings.TrimPrefix(entry, "?")
	hint := fmt.Sprintf("add it to mcpServers, or write %q if it may be missing", optional)
	var known []string
	for s := range c.servers {
		known = append(known, s)
	}
	for s := range c.pending {
		known = append(known, s)
	}
	slices.Sort(known)
	switch {
	case strings.HasPrefix(server, "mycelium-"):
		hint = fmt.Sprintf("this version does not have that built-in server; write %q to use it where it exists", optional)
		c.fault(at, hint, "%s: there is no server %q (in %q)", key, server, entry)
		return
	case text.Nearest(server, known) != "":
		hint = fmt.Sprintf("did you mean the server %q? Else %s", text.Nearest(server, known), hint)
	}
	c.fault(at, hint, "%s: no server %q is configured (in %q)", key, server, entry)
}

// prompt checks an entry of allowedPrompts.
func (c *check) prompt(at position, entry string) {
	p, err := policy.ParsePattern(strings.TrimPrefix(entry, "?"))
	if err != nil {
		c.fault(at, "write server__prompt", "allowedPrompts: %q is not a prompt name", entry)
		return
	}
	if it, exact := p.Exact(); exact {
		it.Kind = policy.Prompt
		c.exact(at, entry, it)
		return
	}
	c.wildcard(at, entry, policy.Prompt, p)
}

// resource checks an entry of allowedResources. It checks only the server, because a server need not list its resources.
func (c *check) resource(at position, entry string) {
	text := strings.TrimPrefix(entry, "?")
	server, uri, found := strings.Cut(text, "__")
	_, waiting := c.pending[server]
	switch {
	case text == "*" || server == "*" && uri != "":
		c.warn(at, "name the server: server__file:///docs/**", "allowedResources: %q reaches across servers, also those that are added later",
			entry)
	case !found || uri == "" || strings.Trim(server, "abcdefghijklmnopqrstuvwxyz0123456789-") != "":
		c.fault(at, "write server__uri: docs__file:///**", "allowedResources: %q is not a server and a URI", entry)
	case c.servers[server]:
	case strings.HasPrefix(entry, "?"):
		c.missing[entry] = true
	case waiting:
		c.wait(at, entry, server)
	default:
		c.noServer(at, "allowedResources", entry, server)
	}
}

func (c *check) roles() {
	s := c.skill
	if s.AllowedRoles != nil && len(s.AllowedRoles) == 0 {
		c.warn(s.at("allowedRoles"), `name roles, write ["*"], or leave the key out to be open to the roles that list the skill`,
			"allowedRoles is empty, so no role can have the skill")
	}
	for i, role := range s.AllowedRoles {
		if role == "*" {
			continue
		}
		if role == "" || strings.ContainsAny(role, " \t\n*,:/\\") {
			c.fault(s.at(fmt.Sprintf("allowedRoles[%d]", i)), `write the id of a role, or "*" for every role`, "allowedRoles: %q is not a role",
				role)
		}
	}
}

func (c *check) memory() {
	g := c.skill.Grants
	values := []string{"none", "isolated", "team", "all"}
	if g.Memory != "" && !slices.Contains(values, g.Memory) {
		hint := "write none, isolated, team or all"
		if near := text.Nearest(g.Memory, values); near != "" {
			hint = fmt.Sprintf("did you mean %q?", near)
		}
		c.fault(c.skill.at("grants.memory"), hint, "grants.memory: %q is not a memory policy", g.Memory)
		return
	}
	if len(g.MemoryTeamRoles) > 0 && g.Memory != "team" {
		c.warn(c.skill.at("grants.memoryTeamRoles"), "write memory: team, or remove the key",
			"grants.memoryTeamRoles has no effect without memory: team")
	}
}

func (c *check) commands() {
	seen := map[string]bool{}
	for i, cmd := range c.skill.Commands {
		at := c.skill.at(fmt.Sprintf("commands[%d]", i))
		switch {
		case !commandPattern.MatchString(cmd.Name):
			c.fault(at, "use lower-case letters, digits, hyphens and underscores", "commands: %q is not a valid name of a command", cmd.Name)
		case seen[cmd.Name]:
			c.fault(at, "give each command a name of its own", "commands: %q is there twice", cmd.Name)
		}
		seen[cmd.Name] = true
		switch cmd.HandlerType {
		case "tool":
			c.toolCommand(at, cmd)
		case "script":
			c.scriptCommand(at, cmd)
		default:
			c.fault(at, "write handlerType: tool or handlerType: script", "commands: the handlerType %q of %q is neither tool nor script",
				cmd.HandlerType, cmd.Name)
		}
		names := map[string]bool{}
		for _, a := range cmd.Arguments {
			if a.Name == "" || names[a.Name] {
				c.fault(at, "give each argument a name of its own", "commands: %q has an argument without a name of its own (%q)", cmd.Name, a.Name)
			}
			names[a.Name] = true
		}
	}
}

func (c *check) toolCommand(at position, cmd Command) {
	it, err := policy.ParseTool(cmd.ToolName)
	if err != nil {
		c.fault(at, "write toolName: server__tool", "commands: the toolName %q of %q is not a tool name", cmd.ToolName, cmd.Name)
		return
	}
	granted := slices.ContainsFunc(c.skill.AllowedTools, func(entry string) bool {
		p, err := policy.ParsePattern(ToolPattern(entry))
		return err == nil && p.Match(it)
	})
	if !granted && !it.IsControl() {
		c.fault(at, fmt.Sprintf("add %q to allowedTools", cmd.ToolName), "commands: %q uses %q, which the skill does not grant", cmd.Name,
			cmd.ToolName)
	}
}

func (c *check) scriptCommand(at position, cmd Command) {
	p := cmd.ScriptPath
	if p == "" || path.IsAbs(p) || strings.ContainsAny(p, "\\\x00:") || !fs.ValidPath(strings.TrimPrefix(p, "./")) || p == "." {
		c.fault(at, "write a path inside the skill's folder, without ..", "commands: the scriptPath %q of %q does not name a file of the skill",
			p, cmd.Name)
		return
	}
	if c.skill.Dir == nil {
		return
	}
	if info, err := fs.Stat(c.skill.Dir, strings.TrimPrefix(p, "./")); err != nil || !info.Mode().IsRegular() {
		c.warn(at, "write the script, or correct the path", "commands: the script %q of %q does not exist", p, cmd.Name)
	}
}

// ownTools returns the agents' own tools in text form.
func ownTools() []string {
	out := policy.AgentTools()
	for i, t := range out {
		out[i] = policy.AgentServer + "__" + t
	}
	return out
}
