// Package api has the rows of the operations that the node of a project does, with their parameters and results.
package api

import (
	"mycelium/internal/approval"
	"mycelium/internal/backend/oauth"
	"mycelium/internal/gate/session"
	"mycelium/internal/hook"
	"mycelium/internal/op"
)

// The operations.
var (
	Status = op.Op[op.None, StatusReply]{Name: "status"}
	Stop   = op.Op[op.None, op.None]{Name: "stop", Act: "stop the daemon"} // it ends when its calls have ended, and soon in any case
	Reload = op.Op[op.None, op.None]{Name: "reload"}

	// GiveWay ends a command or an automatic daemon when its calls have ended, however long they take.
	GiveWay = op.Op[op.None, op.None]{Name: "give-way", Act: "replace the daemon"}

	BeginAgain = op.Op[BeginParams, op.None]{Name: "audit/begin-again", Act: "begin the audit log again"}

	Tools  = op.Op[ToolsParams, []Tool]{Name: "tools"}
	Call   = op.Op[CallParams, CallReply]{Name: "call"}
	Held   = op.Op[HeldParams, []HeldItem]{Name: "held", Act: "look at the quarantine"}
	Accept = op.Op[AcceptParams, op.None]{Name: "accept", Act: "accept a definition"}

	KeepOut = op.Op[AcceptParams, op.None]{Name: "keep-out", Act: "keep a definition in quarantine"}

	ServedSkill  = op.Op[ServedSkillParams, ServedSkillReply]{Name: "skill/served", Act: "look at a server's skill"}
	ApproveSkill = op.Op[ServedSkillParams, op.None]{Name: "skill/approve", Act: "approve a skill"}

	Learn        = op.Op[op.None, LearnReply]{Name: "learn"}
	LoginBegin   = op.Op[LoginParams, oauth.Login]{Name: "login/begin", Act: "log in to a server"}
	LoginEnd     = op.Op[LoginParams, LoginReply]{Name: "login/end", Act: "log in to a server"}
	Logout       = op.Op[LoginParams, LogoutReply]{Name: "login/forget", Act: "log out of a server"}
	EnvironNames = op.Op[op.None, []string]{Name: "environ/names"}
	EnvironSet   = op.Op[EnvironParams, op.None]{Name: "environ/set"}

	ApprovalsList = op.Op[op.None, []approval.Request]{Name: "approvals/list", Act: "look at approvals"}
	ApprovalsShow = op.Op[ApprovalParams, approval.Request]{Name: "approvals/show", Act: "look at approvals",
		About: "One request, also one that is settled",
		Route: op.Route{Pattern: "GET /api/approvals/{project}/{id}", ID: "approval", Tag: "approvals"}}
	ApprovalsAnswer = op.Op[Answer, approval.Request]{Name: "approvals/answer", Act: "answer an approval", About: "Answer a call that waits",
		Note: "The answer is that of the person who signed the browser in, and the record names the browser. It is bound to the digest of " +
			"the request: if the request has become another one, or has been answered, nothing changes and the status is 409.",
		Route: op.Route{Pattern: "POST /api/approvals/{project}/{id}", ID: "answerApproval", Tag: "approvals"}}
	ApprovalsKeep = op.Op[KeepParams, KeepReply]{Name: "approvals/keep", Act: "keep an approval",
		About: "Keep an approval that was given once, as a rule",
		Route: op.Route{Pattern: "POST /api/approvals/{project}/{id}/keep", ID: "keepApproval", Tag: "approvals"}}
	ApprovalsMode = op.Op[ModeParams, ModeReply]{Name: "approvals/mode", Act: "look at or set who is asked",
		About: "Show or set who is asked about the calls of agents"}
	ApprovalsReset = op.Op[ResetParams, ResetReply]{Name: "approvals/reset", Act: "forget answers",
		About: "Forget the answers for the rest of a session"}
	ApprovalsToken = op.Op[TokenParams, TokenReply]{Name: "approvals/token", Act: "make the operator's token",
		About: "Make a token for the HTTP API; the token before it stops working"}

	Waits       = op.Op[WaitsParams, WaitsReply]{Name: "waits", Act: "look at what waits"} // besides the calls of ApprovalsList
	AcceptFiles = op.Op[AcceptFilesParams, op.None]{Name: "files/accept", Act: "trust a folder"}
	SwarmDecide = op.Op[SwarmParams, op.None]{Name: "swarm/decide", Act: "decide what becomes of work of the swarm"}

	SessionNew    = op.Op[SessionParams, Session]{Name: "session/new", Act: "mint a session"}
	SessionList   = op.Op[op.None, []session.Summary]{Name: "session/list", Act: "list sessions"}
	SessionChange = op.Op[ChangeParams, Session]{Name: "session/change", Act: "change a session"}
	SessionEnd    = op.Op[SessionRef, op.None]{Name: "session/end", Act: "end a session",
		About: "End a session; its token stops working at once"}
	SessionSetRole = op.Op[SessionRole, Session]{Name: "session/set-role", Act: "change a session", About: "Switch the role of a session"}

	SessionTold = op.Op[ToldParams, bool]{Name: "session/told"} // whether a session may run a command that tells what governs agents

	SessionSaid = op.Op[SaidParams, SaidReply]{Name: "session/said"} // what a person said to the agent of a session

	Runs = op.Op[op.None, []approval.AgentSession]{Name: "runs", Act: "list the agents at work"} // and those that ended lately

	Notify = op.Op[approval.Notice, op.None]{Name: "notify", Act: "tell people something"} // on every channel that the files name

	Hook = op.Op[hook.Request, hook.Reply]{Name: hook.Method}
)

// The streams: requests whose connection carries something else once they are answered.
var (
	MCP            = op.Op[SessionParams, Attached]{Name: "mcp"}                                  // then: MCP over stdio
	ApprovalsWatch = op.Op[WatchParams, op.None]{Name: "approvals/watch", Act: "watch approvals"} // then: one approval.Request a line
)

// CallWaits is a notification to the client of Call: its call waits for an approval. Its parameters are a [Waiting].
const CallWaits = "call/waits"
