// Package api defines the protocol between the node of a project and its clients on the socket: the methods, their parameters and their
// replies.
package api

import (
	"mycelium/internal/approval"
	"mycelium/internal/backend/oauth"
	"mycelium/internal/gate/session"
	"mycelium/internal/hook"
)

// Method is a request to a node, with the type of its parameters and of its reply.
type Method[P, R any] struct {
	Name string
	Act  string // the act of a person, for a refusal: agents may not use the method; empty: everybody may
}

// None is the type of empty parameters and replies.
type None struct{}

// The methods.
var (
	Status = Method[None, StatusReply]{Name: "status"}
	Stop   = Method[None, None]{"stop", "stop the daemon"} // it ends when its calls have ended, and soon in any case
	Reload = Method[None, None]{Name: "reload"}

	// GiveWay ends a command or an automatic daemon when its calls have ended, however long they take.
	GiveWay = Method[None, None]{"give-way", "replace the daemon"}

	BeginAgain = Method[BeginParams, None]{"audit/begin-again", "begin the audit log again"}

	Tools  = Method[ToolsParams, []Tool]{Name: "tools"}
	Call   = Method[CallParams, CallReply]{Name: "call"}
	Held   = Method[HeldParams, []HeldItem]{"held", "look at the quarantine"}
	Accept = Method[AcceptParams, None]{"accept", "accept a definition"}

	KeepOut = Method[AcceptParams, None]{"keep-out", "keep a definition in quarantine"}

	ServedSkill  = Method[ServedSkillParams, ServedSkillReply]{"skill/served", "look at a server's skill"}
	ApproveSkill = Method[ServedSkillParams, None]{"skill/approve", "approve a skill"}

	Learn        = Method[None, LearnReply]{Name: "learn"}
	LoginBegin   = Method[LoginParams, oauth.Login]{"login/begin", "log in to a server"}
	LoginEnd     = Method[LoginParams, LoginReply]{"login/end", "log in to a server"}
	Logout       = Method[LoginParams, LogoutReply]{"login/forget", "log out of a server"}
	EnvironNames = Method[None, []string]{Name: "environ/names"}
	EnvironSet   = Method[EnvironParams, None]{Name: "environ/set"}

	ApprovalsList   = Method[None, []approval.Request]{"approvals/list", "look at approvals"}
	ApprovalsShow   = Method[ApprovalParams, approval.Request]{"approvals/show", "look at approvals"}
	ApprovalsAnswer = Method[Answer, approval.Request]{"approvals/answer", "answer an approval"}
	ApprovalsKeep   = Method[KeepParams, KeepReply]{"approvals/keep", "keep an approval"}
	ApprovalsMode   = Method[ModeParams, approval.Mode]{"approvals/mode", "look at or set who is asked"}
	ApprovalsReset  = Method[ChangeParams, None]{"approvals/reset", "forget answers"} // for the rest of the session ID
	ApprovalsToken  = Method[TokenParams, string]{"approvals/token", "make the operator's token"}

	Waits       = Method[WaitsParams, WaitsReply]{"waits", "look at what waits"} // besides the calls of ApprovalsList
	AcceptFiles = Method[AcceptFilesParams, None]{"files/accept", "trust a folder"}
	SwarmDecide = Method[SwarmParams, None]{"swarm/decide", "decide what becomes of work of the swarm"}

	SessionNew    = Method[SessionParams, Session]{"session/new", "mint a session"}
	SessionList   = Method[None, []session.Summary]{"session/list", "list sessions"}
	SessionChange = Method[ChangeParams, Session]{"session/change", "change a session"}
	SessionEnd    = Method[ChangeParams, None]{"session/end", "end a session"}

	SessionTold = Method[ToldParams, bool]{Name: "session/told"} // whether a session may run a command that tells what governs agents

	SessionSaid = Method[SaidParams, SaidReply]{Name: "session/said"} // what a person said to the agent of a session

	Runs = Method[None, []approval.AgentSession]{"runs", "list the agents at work"} // and those that ended lately

	Notify = Method[approval.Notice, None]{"notify", "tell people something"} // on every channel that the files name

	Hook = Method[hook.Request, hook.Reply]{Name: hook.Method}
)

// The streams: requests whose connection carries something else once they are answered.
var (
	MCP            = Method[SessionParams, Attached]{Name: "mcp"}                    // then: MCP over stdio
	ApprovalsWatch = Method[WatchParams, None]{"approvals/watch", "watch approvals"} // then: one approval.Request a line
)

// CallWaits is a notification to the client of Call: its call waits for an approval. Its parameters are a [Waiting].
const CallWaits = "call/waits"
