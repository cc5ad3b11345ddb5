package api

import (
	"errors"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"mycelium/internal/approval"
	"mycelium/internal/audit"
	"mycelium/internal/backend"
	"mycelium/internal/backend/pin"
	"mycelium/internal/config/rules"
	"mycelium/internal/gate/session"
	"mycelium/internal/op/failure"
	"mycelium/internal/policy/sign"
	"mycelium/internal/policy/worker"
	"mycelium/internal/scan"
)

// DaemonFile is what daemon.json says of a daemon, for people and for `myc stop -f`.
type DaemonFile struct {
	PID   int       `json:"pid"`
	Addr  string    `json:"addr,omitempty"`
	Since time.Time `json:"since"`
}

// StatusReply is the state of a node, as the default role sees it.
type StatusReply struct {
	Daemon   DaemonStatus     `json:"daemon"`
	Role     string           `json:"role"`
	Skills   SkillsStatus     `json:"skills"`
	Tools    ToolsStatus      `json:"tools"`
	Backends []backend.Status `json:"backends"`
	Sessions int              `json:"sessions"`
	Asked    string           `json:"asked,omitempty"` // who is asked about the calls of agents, and why; see chat.Chats.Asked
	// Agents are at work. Label is the name by which a chat knows one.
	Agents     []approval.AgentSession `json:"agents,omitempty"`
	Approvals  int                     `json:"approvals"`
	Cost       float64                 `json:"cost"`                 // of agents today, in US dollars
	Pending    []PendingFile           `json:"pending"`              // files that changed since they were accepted
	Damage     []string                `json:"damage"`               // what keeps calls from running: of the audit log, of the project folder
	Database   string                  `json:"database,omitempty"`   // why the database cannot be used, with how to mend it
	State      string                  `json:"state"`                // the folder of what is kept for the project
	Problem    string                  `json:"problem,omitempty"`    // why the files on disk are not in force
	Names      []string                `json:"names,omitempty"`      // rules and roles in force that name what does not exist
	Restart    []string                `json:"restart,omitempty"`    // keys of mycelium.yaml that are accepted and wait for a restart
	Unworkable []string                `json:"unworkable,omitempty"` // what is configured and cannot work: see project.View.Unworkable
	Hooks      []string                `json:"hooks,omitempty"`      // what is wrong with the hooks of agents
	Environs   []string                `json:"environs,omitempty"`   // which sessions of agents have another environment than their person
	// Quarantined are files that a command of the sandbox made and that would govern agents: they wait until a person looks
	Quarantined []string `json:"quarantined,omitempty"`
}

// PendingFile is a file of the project that has no effect until a person accepts it.
type PendingFile struct {
	File  string    `json:"file"`
	Since time.Time `json:"since"`

	Shipped bool `json:"shipped,omitzero"` // by the program: the file is not in the folder
}

// DaemonStatus says whether a process owns the project, and which.
type DaemonStatus struct {
	Running bool      `json:"running"`
	PID     int       `json:"pid,omitempty"`
	Addr    string    `json:"addr,omitempty"`
	Since   time.Time `json:"since,omitzero"`
}

// SkillsStatus counts skills.
type SkillsStatus struct {
	Active  []string `json:"active"`
	Valid   int      `json:"valid"`
	Invalid int      `json:"invalid"`
	Pending int      `json:"pending"`
}

// ToolsStatus counts tools. Concealment is the share of the definitions that is hidden, 0 to 1.
type ToolsStatus struct {
	Catalog     int     `json:"catalog"`
	Visible     int     `json:"visible"`
	Concealment float64 `json:"concealment"`
	// Schemas are the tokens of the definitions that the clients of the sessions in use were listed, against all that they may use.
	Schemas session.Listed `json:"schemas,omitzero"`
}

// ModeParams say who is asked from now on; empty: nothing changes.
type ModeParams struct {
	Mode approval.Mode `json:"mode,omitempty" arg:"[MODE]" of:"auto,local,remote"`
}

// ModeReply says who is asked.
type ModeReply struct {
	Mode approval.Mode `json:"mode"`
}

// ResetParams name the session whose answers are forgotten.
type ResetParams struct {
	Session string `json:"session" arg:"SESSION" about:"id of the session"`
}

// ResetReply names the session whose answers are forgotten.
type ResetReply struct {
	Reset string `json:"reset"`
}

// SessionParams describe a session: of a stdio client, of a new credential, or of a single request.
type SessionParams struct {
	Token  string   `json:"token,omitempty"`
	Name   string   `json:"name,omitempty"`
	Role   string   `json:"role,omitempty"`
	Narrow bool     `json:"narrow,omitzero"` // Role is refused unless session: in mycelium.yaml names it, also to a person
	May    []string `json:"may,omitempty"`   // further roles that the session may take
	Card   string   `json:"card,omitempty"`  // an agent card (A2A), which decides the role of a new credential
	Skills []string `json:"skills,omitempty"`
	TTL    int64    `json:"ttl,omitzero"` // nanoseconds
	Own    bool     `json:"own,omitzero"` // the session ends with this connection
	// Only is of a stdio client: it is served the tools of this server only, under their bare names. Empty: those of all.
	Only string `json:"only,omitempty"`
	// Worker: the session is that of a worker of the swarm, which starts no swarm itself.
	Worker bool `json:"worker,omitzero"`
	// Ask says what becomes of the calls of a new credential that need an approval; empty: what each caller says.
	Ask approval.WhenAsked `json:"ask,omitempty"`
	// Writes is the only file that the calls of a new credential may change, absolute, links resolved; empty: what the policy says.
	Writes string `json:"writes,omitempty"`
	// Folder is the linked worktree to which a new session is bound, absolute, links resolved: its calls change no file elsewhere. Empty: it
	// is bound to none.
	Folder string `json:"folder,omitempty"`
	// Model is of a stdio client: with what it asks models, which its sub-agents do too.
	Model Model `json:"model,omitzero"`
	// Environ is of a stdio client: what its environment says of where files are (hook.Places).
	Environ []string `json:"environ,omitempty"`
}

// Spec is the session that the parameters describe, of a principal; empty: of its own. Each worker of the swarm is one of its own.
func (p *SessionParams) Spec(principal string) session.Spec {
	if p.Worker {
		principal = worker.Prefix + audit.NewID()
	}
	return session.Spec{Name: p.Name, Principal: principal, Role: p.Role, Roles: p.May, Skills: p.Skills, Asks: p.Ask, Writes: p.Writes,
		Folder: p.Folder}
}

// Model is a way to ask models of Anthropic. The zero value is none.
type Model struct {
	Key     string `json:"key"`
	BaseURL string `json:"baseUrl,omitempty"` // empty: that of the API
}

// ToldParams name a session by its token, and a command that it would run: its words without the program and without options.
type ToldParams struct {
	Token   string `json:"token"`
	Command string `json:"command"`
}

// SaidParams are what a person said to the agent of a session; "": nothing.
type SaidParams struct {
	Token string `json:"token"`
	Text  string `json:"text"`
}

// SaidReply is what the session is then. Brief and Wanted are for the agent's model: about its role and its skills, and about skills that
// were asked for and are not active.
type SaidReply struct {
	Session string   `json:"session"`
	Role    string   `json:"role"`
	Active  []string `json:"active"`
	Brief   string   `json:"brief"`
	Asks    []string `json:"asks,omitempty"` // skills that were asked for, and that a person may activate
	Wanted  string   `json:"wanted"`
	Model   string   `json:"model,omitempty"` // that the role prefers
}

// Attached answers a stdio client. With the token it finds its session again after the death of the daemon.
type Attached struct {
	Session string `json:"session"`
	Token   string `json:"token"`
	Writes  string `json:"writes,omitempty"` // the only file that it may change
	Folder  string `json:"folder,omitempty"` // the linked worktree in which it works
}

// Session is a live session. Only the reply to SessionNew has the token.
type Session struct {
	ID      string    `json:"id"`
	Token   string    `json:"token,omitempty"`
	Role    string    `json:"role"`
	Skills  []string  `json:"skills"`
	Expires time.Time `json:"expires"`
	Writes  string    `json:"writes,omitempty"` // the only file that it may change
	Folder  string    `json:"folder,omitempty"` // the working tree to which it is bound
}

// SessionRef names a live session.
type SessionRef struct {
	ID string `json:"id" arg:"ID" about:"id of the session"`
}

// SessionRole names the role that a live session takes.
type SessionRole struct {
	ID   string `json:"id" arg:"ID"`
	Role string `json:"role" arg:"ROLE"`
}

// ChangeParams change a live session.
type ChangeParams struct {
	ID     string   `json:"id"`
	Role   string   `json:"role,omitempty"`
	Add    []string `json:"add,omitempty"`    // skills to activate
	Remove []string `json:"remove,omitempty"` // skills to deactivate
}

// ToolsParams ask for the tools that a session would see; with All, for every tool.
type ToolsParams struct {
	SessionParams
	All bool `json:"all,omitempty"`
}

// Tool is one tool in the shape of `myc tools --json`; Visible and Reason only with All.
type Tool struct {
	Name        string   `json:"name"`
	Server      string   `json:"server"`
	Title       string   `json:"title"`
	Description string   `json:"description"`
	Category    string   `json:"category"`
	Mutates     bool     `json:"mutates"`
	SaysReads   bool     `json:"saysReads,omitzero"` // it mutates as far as we know; its server says that it does not
	Skills      []string `json:"skills"`

	Parameters jsontext.Value `json:"parameters,omitempty"` // JSON Schema

	Visible *bool  `json:"visible,omitempty"`
	Reason  string `json:"reason,omitempty"`
}

// CallParams are one call of a tool. Args is a JSON object.
type CallParams struct {
	SessionParams
	Tool string `json:"tool"`
	Args []byte `json:"args,omitempty"`
	// Ask says what becomes of it if it needs an approval; empty: approval.AskReached.
	Ask approval.WhenAsked `json:"ask,omitempty"`
}

// Waiting is a request for an approval, as its caller is told of it.
type Waiting struct {
	ID       string    `json:"id"`
	Deadline time.Time `json:"deadline,omitzero"` // zero: none
}

// WatchParams say which requests are watched. With a session, only its own, and by somebody who does not answer them.
type WatchParams struct {
	Session string `json:"session,omitempty"`
	// Away says that the watcher tells a person who may be anywhere and can answer, and shows the queue to nobody. It counts as a chat does:
	// in the mode auto, a person who is known to be at the machine is asked there.
	Away bool `json:"away,omitempty"`
}

// CallReply is the end of a call: a result or a JSON-RPC error, as the gateway would send it.
type CallReply struct {
	Result []byte `json:"result"`
	Error  []byte `json:"error"`
	Denied bool   `json:"denied,omitempty"`
}

// HeldParams name a tool, another item or a server; empty: everything in quarantine.
type HeldParams struct {
	Name string `json:"name"`
}

// HeldItem is one item in quarantine.
type HeldItem struct {
	Name     string   `json:"name"`
	Cause    string   `json:"cause"`
	Reason   string   `json:"reason"`
	Former   string   `json:"former,omitempty"`
	Digest   string   `json:"digest"`
	Accepted string   `json:"accepted,omitempty"` // the definition that was accepted, JSON text
	Offered  string   `json:"offered"`            // the present one
	Diff     []string `json:"diff"`

	Findings []scan.Finding `json:"findings"`
	KeptOut  *pin.KeptOut   `json:"keptOut,omitempty"` // nil: it waits for a person
}

// Demand is what accepting the item demands.
func (h HeldItem) Demand() sign.Demand { return ofFound(h.Name, h.Findings) }

// ofFound is what accepting something demands in which the scan found this.
func ofFound(name string, found []scan.Finding) sign.Demand {
	if scan.HasHard(found) {
		return sign.OfFound(name)
	}
	return sign.Demand{}
}

// AcceptParams take definitions out of quarantine, or keep them there.
type AcceptParams struct {
	Items  []backend.Acceptance `json:"items"`
	Device string               `json:"device,omitempty"` // as in Answer
	Sure   bool                 `json:"sure,omitzero"`    // as in Answer
}

// ServedSkillParams name a skill that a server serves. Digest is that of the skill as it was shown.
type ServedSkillParams struct {
	Name   string `json:"name"`
	Digest string `json:"digest,omitempty"`
	Device string `json:"device,omitempty"` // as in Answer
	Sure   bool   `json:"sure,omitzero"`    // as in Answer
}

// Demand is what approving the skill demands.
func (r ServedSkillReply) Demand() sign.Demand { return ofFound(r.Name, r.Findings) }

// ServedSkillReply is such a skill as an operator sees it before approving it.
type ServedSkillReply struct {
	Name     string         `json:"name"`
	Digest   string         `json:"digest"`
	Text     string         `json:"text"`
	Tools    []string       `json:"tools"`
	Problems []string       `json:"problems"`
	Findings []scan.Finding `json:"findings"`
}

// BeginParams say why a person begins a new chain of the audit log.
type BeginParams struct {
	Because string `json:"because"`
}

// LearnReply says of which servers the catalog could not be learned, and why.
type LearnReply struct {
	Failed map[string]string `json:"failed"`
}

// LoginParams name a server. Redirect is the address to which the browser comes back (LoginBegin), Query is with what it came
// (LoginEnd).
type LoginParams struct {
	Server   string `json:"server"`
	Redirect string `json:"redirect,omitempty"`
	Query    string `json:"query,omitempty"`
}

// LoginReply is the end of a login. Problem says why the server cannot be used although the login succeeded.
type LoginReply struct {
	Server  string `json:"server"`
	Tools   int    `json:"tools"`
	Problem string `json:"problem,omitempty"`
}

// LogoutReply says whether there were tokens to forget.
type LogoutReply struct {
	Server string `json:"server"`
	Had    bool   `json:"had"`
}

// EnvironParams are variables that a client hands over, as NAME=VALUE.
type EnvironParams struct {
	Environ []string `json:"environ"`
}

// ApprovalParams name a request.
type ApprovalParams struct {
	ID string `json:"id" arg:"ID" about:"id of the request"`
}

// KeepParams name an approval that was given once and that a person keeps: a rule is written for it.
type KeepParams struct {
	ID     string      `json:"id" arg:"ID" about:"id of the request, or its first letters, three at least"`
	As     approval.As `json:"as,omitempty" flag:"" of:"call,program,host,folder,tool" about:"which calls the rule allows; left out: this call, or of a tool that reaches hosts those hosts"`
	Digest string      `json:"digest,omitempty" about:"of the request, as it was read; look needs none"`
	Reason string      `json:"reason,omitempty" flag:"" about:"the reason, which stands above the rule"`
	Sure   bool        `json:"sure,omitzero" flag:"" about:"you have read what the call would do; a critical call needs it"`
	Look   bool        `json:"look,omitzero" flag:"" about:"write nothing: say what the rule would have answered"`
	Device string      `json:"device,omitempty" by:""` // empty: a terminal
}

// KeepReply says what is kept, or would be.
type KeepReply struct {
	Request   approval.Request `json:"request"`
	As        approval.As      `json:"as"`
	Words     string           `json:"words"`          // what the rule allows, for people
	Rule      string           `json:"rule,omitempty"` // the rule that was written; empty: none was yet
	Questions rules.Questions  `json:"questions"`      // of the last 7 days
}

// Answer is the answer of a person to a request that waits.
type Answer struct {
	ID     string       `json:"id" about:"id of the request"`
	Allow  *bool        `json:"allow" about:"whether the call may run; null is refused"`
	Digest string       `json:"digest" about:"of the request, as it was read; at a terminal it may be empty: whatever has this id"`
	For    approval.For `json:"for,omitempty" of:"once,session,rule,never" about:"how long it holds; left out: once"`
	As     approval.As  `json:"as,omitempty" about:"of a rule: which calls it allows"`
	Reason string       `json:"reason,omitempty" about:"the agent reads it if it is refused"`
	Text   string       `json:"text,omitempty" about:"an instruction for the agent; the answer to a question"`
	Sure   bool         `json:"sure,omitzero" about:"a critical call is allowed only with true: somebody has read what it would do"`
	Device string       `json:"device,omitempty" by:""` // empty: a terminal
}

// Complete returns an error if the answer neither allows nor denies, or lacks the digest of the request. Only a person at a terminal may leave
// the digest out.
func (a Answer) Complete() error {
	switch {
	case a.Allow == nil:
		return failure.New(failure.Usage, errors.New("the answer says neither to allow nor to deny"), `"allow": true or false`)
	case a.Digest == "" && a.Device != "":
		return failure.New(failure.Usage, errors.New("the answer does not say which request it answers"), noDigest)
	}
	return nil
}

// Complete returns an error if the digest of the request is missing. Only a person at a terminal, or one who only looks, may leave it out.
func (p KeepParams) Complete() error {
	if p.Digest == "" && p.Device != "" && !p.Look {
		return failure.New(failure.Usage, errors.New("it is not said which request is kept"), noDigest)
	}
	return nil
}

const noDigest = "send the digest that the request had when it was read"

// OverHTTP stands for the device of a person who acts with the operator's token.
const OverHTTP = "http"

// Via is the surface of an answer, as the record names it.
func (a Answer) Via() string {
	switch a.Device {
	case "":
		return "terminal"
	case OverHTTP:
		return OverHTTP
	}
	return "browser, " + a.Device
}

// By is the answer as the queue takes it: by this person.
func (a Answer) By(person string) approval.Answer {
	return approval.Answer{Allow: a.Allow != nil && *a.Allow, For: a.For, As: a.As, By: person, Via: a.Via(), Reason: a.Reason, Text: a.Text,
		Digest: a.Digest}
}

// TokenParams ask for a new operator's token, or take the present one away.
type TokenParams struct {
	Revoke bool `json:"revoke,omitzero" flag:"" about:"make no new token: the present one stops working"`
}

// TokenReply has the operator's token; "": there is none now.
type TokenReply struct {
	Token string `json:"token,omitempty"`
}
