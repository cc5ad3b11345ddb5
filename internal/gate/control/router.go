package control

import (
	"context"
	"slices"
	"strings"
	"time"

	"mycelium/internal/audit"
	"mycelium/internal/gate/limit"
	"mycelium/internal/gate/session"
	"mycelium/internal/gate/view"
	"mycelium/internal/policy"
	"mycelium/internal/policy/worker"
	"mycelium/internal/skill/intent"
	"mycelium/internal/text"
)

var (
	setRoleItem   = routerItem("set_role")
	contextItem   = routerItem("get_context")
	setSkillsItem = routerItem("set_active_skills")
	suggestItem   = routerItem("suggest_skills")
)

// SetThinkingItem is the tool whose call notes the reasoning of the next call.
var SetThinkingItem = routerItem("set_thinking")

// SetSkillsItem returns the tool that changes the active skills.
func SetSkillsItem() policy.Item { return setSkillsItem }

func routerItem(name string) policy.Item {
	return policy.Item{Server: policy.RouterServer, Name: name}
}

// routerTools are the tools of mycelium-router (A14, A16, A48, B31).
func routerTools() []tool {
	return []tool{
		{
			item: setRoleItem, title: "Switch role", run: runSetRole,
			description: "Switches this session to another role. What you see changes with it: list the tools again afterwards. " +
				`Use role_id "list" to see the roles that you may take.`,
			params: []param{
				{name: "role_id", kind: "string", description: `Id of the role to take, or "list".`},
				{name: "role", kind: "string", description: "Instead of role_id."},
				{name: "includeToolDescriptions", kind: "boolean", description: "Whether the answer describes the tools. Default: true."},
			},
		},
		{
			item: routerItem("list_roles"), title: "List roles", readOnly: true, run: runListRoles,
			description: "Lists the roles that this session may take.",
		},
		{
			item: contextItem, title: "Show context", readOnly: true, run: runContext,
			description: "Shows the role, the active skills, the number of tools and the limits of this session with what is used of them, " +
				"and how to get more.",
		},
		{
			item: setSkillsItem, title: "Set active skills", run: runSetSkills,
			description: "Activates and deactivates skills, and with them their tools. Give either skills (the whole set) or add and remove. " +
				"The answer holds the instructions of every skill that it activates: follow them.",
			params: []param{
				{name: "skills", kind: "strings", description: "The whole set; the start set stays active besides."},
				{name: "add", kind: "strings", description: "Skills to activate besides."},
				{name: "remove", kind: "strings", description: "Skills to deactivate."},
			},
		},
		{
			item: routerItem("get_active_skills"), title: "Show active skills", readOnly: true, run: runActiveSkills,
			description: "Lists the active skills, and those that may be activated.",
		},
		findTool(),
		suggestTool(),
		spawnTool(),
		reportTool(),
		{
			item: SetThinkingItem, title: "Note reasoning", run: runThinking,
			description: "Notes the reasoning behind the next call. It is recorded with that call, and used once.",
			params: []param{
				{name: "thinking", kind: "string", required: true, description: "The reasoning."},
				{
					name: "type", kind: "string", enum: []string{"extended_thinking", "chain_of_thought", "reasoning"},
					description: "Its kind.",
				},
				{name: "modelId", kind: "string", description: "The model."},
				{name: "thinkingTokens", kind: "integer", description: "Its tokens."},
				{name: "summary", kind: "string", description: "In short."},
				{
					name: "cacheMetrics", kind: "counts", members: []string{"cacheReadTokens", "cacheCreationTokens"},
					description: "Tokens read from the cache and written to it.",
				},
			},
		},
	}
}

func suggestTool() tool {
	return tool{
		item: suggestItem, title: "Suggest skills", readOnly: true, run: runSuggest,
		description: "Suggests skills for an intent, with scores from 0 to 1: by their triggers, then by what they say about themselves.",
		params:      []param{{name: "intent", kind: "string", required: true, description: "What is to be done, in words."}},
	}
}

// reportTool is shown to the workers of the swarm only (see [worker.Hides]). Who watches a worker takes the report from the answer, which
// only a call has that the policy allowed and that has no mistake.
func reportTool() tool {
	return tool{
		item: routerItem(worker.Report), title: "Report confidence", readOnly: true, run: runReport,
		description: "Reports how sure you are that your feature will be finished. Call it when a part is done, and when you doubt.",
		params: []param{
			{name: "score", kind: "integer", required: true, description: "0 (it will fail) to 100 (it is finished)."},
			{name: "reason", kind: "string", description: "Why, in a sentence."},
		},
	}
}

func runReport(_ context.Context, _ *Tools, _ *Call, a arguments) (any, error) {
	score, _ := a["score"].(int64)
	if score > 100 {
		return nil, failure("Argument score must be from 0 to 100")
	}
	return map[string]int64{"score": score}, nil
}

// role is a role as agents see it.
type role struct {
	ID          string `json:"id"`
	Name        string `json:"name,omitempty"`
	Description string `json:"description,omitempty"`
	Current     bool   `json:"current"`
}

type roleList struct {
	Current string `json:"currentRole"`
	Roles   []role `json:"roles"`
}

func runListRoles(_ context.Context, _ *Tools, c *Call, _ arguments) (any, error) {
	sc := c.now()
	out := roleList{Current: sc.Scope.Principal.Role, Roles: []role{}}
	for _, id := range sc.MayTake() {
		v, _ := sc.World.Policy.Role(id)
		out.Roles = append(out.Roles, role{ID: id, Name: v.Name, Description: v.Description, Current: id == sc.Scope.Principal.Role})
	}
	return out, nil
}

func runSetRole(ctx context.Context, x *Tools, c *Call, a arguments) (any, error) {
	id := a.text("role_id")
	switch {
	case a.has("role_id") && a.has("role") && id != a.text("role"):
		return nil, failure("role_id and role name different roles; give one of them")
	case !a.has("role_id") && !a.has("role"):
		return nil, failure(`Argument role_id is required (the id of a role, or "list")`)
	case !a.has("role_id"):
		id = a.text("role")
	}
	if id == "list" {
		return runListRoles(ctx, x, c, a)
	}
	sw, err := x.Sessions.SetRole(ctx, c.Session, id, session.ByAgent)
	if err != nil {
		return nil, err
	}
	m := ManifestOf(sw, x.Now())
	if with, given := a["includeToolDescriptions"].(bool); given && !with {
		for i := range m.AvailableTools {
			m.AvailableTools[i].Description = ""
		}
	}
	return m, nil
}

// sessionContext is the answer of get_context (B11).
type sessionContext struct {
	Session   string          `json:"session"`
	Role      string          `json:"role"`
	Roles     []string        `json:"availableRoles"`
	Active    []string        `json:"activeSkills"`
	Open      []string        `json:"availableSkills"`
	Tools     int             `json:"toolCount"`
	Promotion string          `json:"promotion"`
	Started   time.Time       `json:"startedAt"`
	History   []session.Event `json:"skillHistory"`
	Limits    []limit.Use     `json:"limits"`
	Gives     []string        `json:"subAgentRoles,omitempty"` // where it may start sub-agents: the roles that these may have
	More      string          `json:"howToGetMore"`
	Notice    string          `json:"notice,omitempty"`
}

func runContext(_ context.Context, x *Tools, c *Call, _ arguments) (any, error) {
	s := c.Session
	sc := s.Snapshot()
	if sc.World.Broken != "" {
		return map[string]string{"session": s.ID, "notice": brokenNotice}, nil
	}
	out := sessionContext{
		Session: s.ID, Role: sc.Scope.Principal.Role, Roles: append([]string{}, sc.MayTake()...),
		Active: append([]string{}, sc.Scope.Skills...), Open: append([]string{}, sc.Open...),
		Tools: len(sc.View().Items[policy.Tool]), Promotion: sc.Promotion(), Started: s.Created,
		History: append([]session.Event{}, s.History()...), Limits: append([]limit.Use{}, s.Uses(sc, c.Began, session.ByAgent)...),
		More: howToGetMore(sc, x.Asks),
	}
	if sc.Sees(SpawnItem()) {
		out.Gives = sc.Gives()
	}
	if sc.Scope.Principal.Role != "" && !sc.Known {
		out.Notice = "The role of this session does not exist at present. Ask your operator."
	}
	return out, nil
}

// brokenNotice is the only text that an agent gets about a policy that could not be loaded.
const brokenNotice = "This gateway is not working as it should. The operator must look; until then, do without its tools."

// howToGetMore says in which ways a session's view can grow. It names no tool that is hidden from the session.
func howToGetMore(sc *session.Snapshot, asks bool) string {
	var ways []string
	switch {
	case sc.Promotion() == view.PromoteConfirm && asks && sc.Sees(setSkillsItem):
		ways = append(ways, "Activate skills with "+setSkillsItem.String()+"; your operator is asked whether it may be.")
	case sc.Promotion() != view.PromoteAuto:
		ways = append(ways, "Skills beyond the active ones are activated by your operator: "+sc.AskFor("SKILL")+".")
	case sc.Sees(setSkillsItem) && sc.Sees(suggestItem):
		ways = append(ways, "Activate skills with "+setSkillsItem.String()+"; "+suggestItem.String()+" finds the ones that fit.")
	case sc.Sees(setSkillsItem):
		ways = append(ways, "Activate skills with "+setSkillsItem.String()+".")
	}
	if sc.Sees(setRoleItem) {
		ways = append(ways, "Switch roles with "+setRoleItem.String()+".")
	}
	return strings.Join(append(ways, "For anything else ask your operator."), " ")
}

// skillsChange is the answer of set_active_skills.
type skillsChange struct {
	Active       []string      `json:"activeSkills"`
	Activated    []string      `json:"activated"`
	Deactivated  []string      `json:"deactivated"`
	Kept         []string      `json:"kept,omitempty"` // asked to go, but part of the start set
	Tools        int           `json:"toolCount"`
	AddedTools   []string      `json:"addedTools"`
	RemovedTools []string      `json:"removedTools"`
	Instructions []instruction `json:"instructions"`
}

// instruction is the text of one skill.
type instruction struct {
	Skill string `json:"skill"`
	Text  string `json:"text"`
}

func runSetSkills(ctx context.Context, x *Tools, c *Call, a arguments) (any, error) {
	whole := a.has("skills")
	switch {
	case whole && (a.has("add") || a.has("remove")):
		return nil, failure("Give either skills (the whole set), or add and remove")
	case !whole && !a.has("add") && !a.has("remove"):
		return nil, failure("Argument skills is required (the whole set), or add or remove")
	}
	var kept []string
	want := func(now *session.Snapshot) (add, remove []string) {
		if !whole {
			return a.list("add"), a.list("remove")
		}
		kept = nil
		all := session.SortedSet(a.list("skills"))
		add, remove = session.Difference(now.Scope.Skills, all)
		isFixed := func(name string) bool { return slices.Contains(now.Fixed, name) }
		for _, name := range remove {
			if isFixed(name) {
				kept = append(kept, name)
			}
		}
		return add, slices.DeleteFunc(remove, isFixed)
	}
	add, _ := want(c.Session.Snapshot())
	confirmed, err := c.Confirm(ctx, add)
	if err != nil {
		return nil, err
	}
	sw, err := x.Sessions.ChangeSkills(ctx, c.Session, session.ByAgent, confirmed, want)
	if err != nil {
		return nil, err
	}
	before, after := sw.Before, sw.After
	out := skillsChange{Active: append([]string{}, after.Scope.Skills...), Kept: kept, Instructions: []instruction{}}
	up, down := session.Difference(before.Scope.Skills, after.Scope.Skills)
	out.Activated, out.Deactivated = append([]string{}, up...), append([]string{}, down...)
	then, now := before.View().Tools(), after.View().Tools()
	up, down = session.Difference(then, now)
	out.AddedTools, out.RemovedTools = append([]string{}, up...), append([]string{}, down...)
	out.Tools = len(now)
	for _, name := range out.Activated {
		if k, ok := after.World.Skills.Skill(name); ok {
			out.Instructions = append(out.Instructions, instruction{name, k.Instructions})
		}
	}
	return out, nil
}

func runActiveSkills(_ context.Context, _ *Tools, c *Call, _ arguments) (any, error) {
	sc := c.now()
	others, _ := session.Difference(sc.Scope.Skills, sc.Open)
	return map[string][]string{
		"activeSkills": append([]string{}, sc.Scope.Skills...), "availableSkills": append([]string{}, others...),
		"protectedSkills": append([]string{}, sc.Fixed...),
	}, nil
}

// suggestion is a suggested skill, with what an agent needs to choose.
type suggestion struct {
	intent.Suggestion
	Description string `json:"description,omitempty"`
	Active      bool   `json:"active"`
}

func runSuggest(_ context.Context, _ *Tools, c *Call, a arguments) (any, error) {
	sc := c.now()
	out := []suggestion{}
	for _, s := range sc.World.Suggest(a.text("intent"), sc.Open) {
		k, ok := sc.World.Skills.Skill(s.Skill)
		if !ok {
			continue
		}
		out = append(out, suggestion{s, k.Description, slices.Contains(sc.Scope.Skills, s.Skill)})
	}
	return map[string]any{"suggestions": out}, nil
}

// maxThinking bounds reasoning that waits for its call, in bytes.
const maxThinking = 256 << 10

func runThinking(_ context.Context, x *Tools, c *Call, a arguments) (any, error) {
	if a.text("thinking") == "" {
		return nil, failure("Argument thinking must not be empty")
	}
	if len(a.text("thinking"))+len(a.text("summary")) > maxThinking {
		return nil, failure("Argument thinking is too long: at most 262144 bytes are kept")
	}
	tokens, _ := a["thinkingTokens"].(int64)
	t := &audit.Thinking{
		Thinking: a.text("thinking"), Type: a.text("type"), ModelID: text.Truncate(a.text("modelId"), session.MaxEcho), Tokens: int(tokens),
		CapturedAt: x.Now(), Summary: a.text("summary"), Claimed: true,
	}
	if cache, given := a["cacheMetrics"].(map[string]any); given {
		read, _ := cache["cacheReadTokens"].(int64)
		written, _ := cache["cacheCreationTokens"].(int64)
		t.Cache = &audit.CacheUse{ReadTokens: int(read), CreationTokens: int(written)}
	}
	c.Session.Thinking.Store(t)
	return map[string]any{"noted": true, "usedBy": "the next call"}, nil
}
