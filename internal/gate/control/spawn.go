package control

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"mycelium/internal/gate/session"
	"mycelium/internal/policy"
)

// Agent is a sub-agent that is to run.
type Agent struct {
	Session *session.Session // its own
	Token   string           // of it
	Task    string
	Model   string            // alias or full id; empty: what its role says
	Budget  float64           // USD that it may cost; 0: the default
	Tell    func(line string) // is told what it does; it never waits
}

// AgentResult is what came of a sub-agent (requirements, A38), as `myc "question" --json` prints it.
type AgentResult struct {
	Success      bool           `json:"success"`
	Role         string         `json:"role"`
	Result       jsontext.Value `json:"result"` // its answer, a string; null: there is none
	Error        string         `json:"error,omitempty"`
	Tools        []string       `json:"toolsUsed"`
	Usage        AgentUsage     `json:"usage"`
	Conversation string         `json:"conversation,omitempty"`
	Session      string         `json:"session,omitempty"` // in the log
}

// AgentUsage is what a sub-agent and those below it used.
type AgentUsage struct {
	Input  int64   `json:"inputTokens"`
	Output int64   `json:"outputTokens"`
	Cost   float64 `json:"costUSD"`
}

// Starter runs a sub-agent until it has done its task, or ctx or its session ends. An error means that it has not run; its text is for the
// agent too.
type Starter func(ctx context.Context, a Agent) (AgentResult, error)

// SpawnItem is the tool that starts a sub-agent.
func SpawnItem() policy.Item { return routerItem("spawn_sub_agent") }

func spawnTool() tool {
	return tool{
		item: SpawnItem(), title: "Start a sub-agent", run: runSpawn,
		description: "Starts another agent on a task, waits until it has done it, and returns its answer. It sees nothing of this " +
			"conversation, has at most the active skills and the tools of this session that its role allows, and its cost counts as yours. " +
			"Give it your own role or one of subAgentRoles in " + contextItem.Name + ".",
		params: []param{
			{name: "role", kind: "string", required: true, description: "Role of the sub-agent."},
			{name: "task", kind: "string", required: true, description: "What it is to do, with all that it must know."},
			{name: "model", kind: "string", description: "Its model: opus, sonnet, haiku or a full id. Default: what its role says."},
		},
	}
}

// maxTask bounds the task of a sub-agent, in bytes: about 60,000 tokens.
const maxTask = 256 << 10

func runSpawn(ctx context.Context, x *Tools, c *Call, a arguments) (any, error) {
	task, model := strings.TrimSpace(a.text("task")), a.text("model")
	switch {
	case task == "":
		return nil, failure("Argument task must not be empty")
	case len(task) > maxTask:
		return nil, failure(fmt.Sprintf("Argument task is too long: at most %d KiB", maxTask>>10))
	case strings.ContainsFunc(model, func(r rune) bool { return r <= ' ' || r > '~' }):
		return nil, failure("Argument model must be opus, sonnet, haiku or the id of a model")
	case x.Agents == nil:
		return nil, failure("Sub-agents cannot be started here")
	}
	s, token, err := c.Session.Spawn(ctx, session.Start{Role: a.text("role"), By: c.Child, Call: c.ID})
	if err != nil {
		return nil, err
	}
	defer func() {
		if err := x.Sessions.End(context.WithoutCancel(ctx), s.ID); err != nil && !errors.Is(err, session.ErrNoSession) {
			x.Logger.Error("the session of a sub-agent could not be ended as it should", "session", s.ID, "error", err)
		}
	}()
	result, err := x.Agents(ctx, Agent{Session: s, Token: token, Task: task, Model: model, Budget: c.Budget, Tell: c.Tell})
	if err != nil {
		x.Logger.Error("a sub-agent did not run", "call", c.ID, "session", s.ID, "error", err)
		return nil, failure("The sub-agent did not run: " + err.Error())
	}
	result.Session = s.ID
	return result, nil
}
