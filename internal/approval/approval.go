// Package approval holds the calls that wait for an answer. A model answers first if one is configured, then a person at a terminal, in a
// chat, or in a browser. The first answer wins. A request that is not answered by its deadline is denied, and later answers are refused.
package approval

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"mycelium/internal/policy"
	"mycelium/internal/policy/box"
	"mycelium/internal/policy/sign"
)

// Kind is the kind of a request.
type Kind string

// PromotionRule is the rule of the question whether an agent may activate skills, in requests and in the log.
const PromotionRule = "session.promotion"

// The kinds of requests.
const (
	Call     Kind = "call"     // a call for which the policy says ask
	Stop     Kind = "stop"     // an agent wants to stop; allowing means that it goes on
	Question Kind = "question" // an agent asks its human something (AskUserQuestion)
)

// State is the state of a request.
type State string

// The states. All but Pending are final.
const (
	Pending State = "pending"
	Allowed State = "allowed"
	Denied  State = "denied"
	Expired State = "expired" // its deadline passed, or its caller is gone
)

// Request is something that waits for an answer. Digest binds the answer to what the request shows.
type Request struct {
	ID        string         `json:"id"` // random
	Kind      Kind           `json:"kind"`
	Call      string         `json:"call,omitempty"` // the call's id in the audit
	Session   string         `json:"session"`
	Principal string         `json:"principal"`
	Parent    string         `json:"parent,omitempty"`
	Above     []string       `json:"above,omitempty"` // ids of the sessions above that of a sub-agent, the nearest first
	Role      string         `json:"role,omitempty"`
	Agent     string         `json:"agent,omitempty"` // claude, codex …; empty: an MCP client
	Label     string         `json:"label,omitempty"` // what people call the session: its folder, its tmux window
	Dir       string         `json:"dir,omitempty"`
	Surface   string         `json:"surface"`
	Tool      string         `json:"tool,omitempty"`
	Args      jsontext.Value `json:"args,omitempty"` // with secrets redacted as in the audit
	Facts     policy.Facts   `json:"facts,omitzero"`
	Sandbox   box.Box        `json:"sandbox,omitzero"`  // in which the call would run; the zero value: in no sandbox
	Outside   string         `json:"outside,omitempty"` // why it would run outside although the policy has a wall; "": it has none, or it runs inside
	Code      Code           `json:"code,omitzero"`     // what the call runs out of files
	Lacked    Lacked         `json:"lacked,omitzero"`   // what it gets in the sandbox if it is approved
	Changed   string         `json:"changed,omitempty"` // what is different since the call was asked about last
	Rule      string         `json:"rule,omitempty"`
	Reason    string         `json:"reason,omitempty"`
	Risk      policy.Risk    `json:"risk,omitempty"`
	Category  string         `json:"category,omitempty"` // SHELL_EXEC, FILE_WRITE …; see [Assess]
	Thinking  string         `json:"thinking,omitempty"` // why the agent makes the call, in its own words, if known
	Text      string         `json:"text,omitempty"`     // of a stop: what the agent did last
	Questions []Asked        `json:"questions,omitempty"`
	Digest    string         `json:"digest"` // of principal, tool, arguments, folder and Lacked; see [Request.Sum]
	Created   time.Time      `json:"created"`
	Deadline  time.Time      `json:"deadline,omitzero"` // zero: none
	State     State          `json:"state"`
	Answer    *Answer        `json:"answer,omitempty"`
	Opinion   string         `json:"opinion,omitempty"` // of the model that passed the request on
	Waiting   int            `json:"waiting"`           // number of calls that wait for this answer
	Pane      string         `json:"pane,omitempty"`    // the tmux pane of the agent, if it has one

	// Project is the name of the project, on a surface that shows several; the surface sets it. Empty: it shows one.
	Project string `json:"-"`
}

// Asked is one question of an agent with its options.
type Asked struct {
	Header  string   `json:"header,omitempty"`
	Text    string   `json:"text"`
	Options []string `json:"options"`
	Many    bool     `json:"many,omitzero"` // several options may be chosen
}

// For is how long an answer holds.
type For string

// The values of [For].
const (
	Once    For = "once"
	Session For = "session" // the same call, asked for the same reason, for the rest of this session
	Rule    For = "rule"    // for ever: a rule is written into the project's files
	Never   For = "never"   // a denial for the rest of the session
)

// Answer settles a request.
type Answer struct {
	Allow  bool   `json:"allow"`
	For    For    `json:"for"`
	As     As     `json:"as,omitempty"` // which calls it approves; empty: this call. See [Candidates]
	By     string `json:"by"`           // a person, the model's id, [ByDeadline], [ByCaller] or [BySession]
	Via    string `json:"via"`          // terminal, http, telegram, "browser, DEVICE", model, client, policy
	Reason string `json:"reason,omitempty"`
	Text   string `json:"text,omitempty"`   // an instruction for the agent; of a question, the answers
	Digest string `json:"digest,omitempty"` // of the request as it was shown; empty, or equal to [Request.Digest]
	Rule   string `json:"rule,omitempty"`   // the rule that was written
	// Sign is the second sign with which the answer came; [Queue.Settle] sets it.
	Sign sign.Sign `json:"sign,omitempty"`
	// Overruled says why the policy denies the call although it was approved; empty: it does not.
	Overruled string    `json:"overruled,omitempty"`
	Time      time.Time `json:"time"`
}

// Name is who answered, for the agent: without the number of a person's account, which is for the log.
func (a *Answer) Name() string {
	name, _, _ := strings.Cut(a.By, " (telegram ")
	return name
}

// Lapse says what became of a request of this kind that nobody answered in time.
func (k Kind) Lapse() string {
	switch k {
	case Stop:
		return "nobody answered in time, so it was let stop"
	case Question:
		return "nobody answered in time"
	default:
		return "nobody answered in time, so it was denied"
	}
}

// Demand is what an answer needs that allows the request. A call whose risk is not known counts as critical.
func (r *Request) Demand() sign.Demand {
	if r.Kind != Call || r.Risk != policy.Critical && r.Risk.Known() {
		return sign.Demand{}
	}
	return sign.OfCall()
}

// complete fills in the defaults of a request.
func (r *Request) complete() {
	r.Kind = cmp.Or(r.Kind, Call)
	if r.Digest == "" {
		r.Digest = r.Sum(r.Args)
	}
}

// check refuses an invalid answer and fills in its defaults.
func (a *Answer) check() error {
	a.For = cmp.Or(a.For, Once)
	if !a.Allow && a.For == Session {
		a.For = Never
	}
	switch {
	case !slices.Contains([]For{Once, Session, Rule, Never}, a.For):
		return badAnswer(fmt.Sprintf("an answer is for once, session, rule or never, not for %q", a.For))
	case a.Allow && a.For == Never:
		return badAnswer("never is an answer that denies")
	case !a.Allow && a.For == Rule:
		return badAnswer("a denial is for once or for the session; a deny rule is written by hand")
	case a.As != "" && !slices.Contains(kinds, a.As):
		return badAnswer(fmt.Sprintf("an approval is as call, program, host, folder or tool, not as %q", a.As))
	case a.As != "" && a.As != ThisCall && (!a.Allow || a.For == Once):
		return badAnswer("only an approval for the session or as a rule can be about more than this call")
	case a.By == "":
		return badAnswer("an answer says who gives it")
	}
	return nil
}
