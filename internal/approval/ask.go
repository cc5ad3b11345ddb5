package approval

// WhenAsked is what becomes of a call that needs an approval.
type WhenAsked string

// What becomes of a call that needs an approval.
const (
	AskWait    WhenAsked = "wait"    // it waits for an answer
	AskDeny    WhenAsked = "deny"    // it is denied at once
	AskReached WhenAsked = "reached" // as AskWait where somebody can be reached, else as AskDeny
)

// Reach says who can be asked now. A model that answers is nobody.
type Reach struct {
	Mode    Mode
	Answers bool // somebody can answer: there is a chat, a browser is told, or a terminal shows the queue
	Notices bool // somebody is told that a call waits: on the screen, by ntfy or by Slack
	Near    bool // somebody is at the machine, and sees an agent's own terminal sooner than a chat
}

// Place is where a call that needs an approval is asked about.
type Place int

// The places.
const (
	Nowhere    Place = iota // the call is denied
	InQueue                 // the call waits
	AtTerminal              // the agent's own terminal asks its person
)

// Where says where a call is asked about that needs an approval. It is the one rule for commands, for agents under the hook and for clients
// of the gateway. terminal says that a person sits at the agent's own terminal. That person need not look elsewhere: a notice does not take
// the question away. Where the call is asked about nowhere, why says why, and how to change that.
func (w WhenAsked) Where(r Reach, terminal bool) (p Place, why string) {
	switch {
	case w == AskWait:
		return InQueue, ""
	case w == AskDeny:
		return Nowhere, "it needs an approval and does not wait for one: --ask deny. With --ask wait it waits"
	case r.Mode == Remote:
		return InQueue, ""
	case terminal && (r.Mode == Local || !r.Answers || r.Near):
		return AtTerminal, ""
	case r.Mode == Local:
		return Nowhere, "it needs an approval, approval.mode is local, and nobody sits at this agent's terminal. After " +
			"myc approvals mode remote, or with --ask wait, it waits"
	case r.Answers || r.Notices:
		return InQueue, ""
	}
	return Nowhere, "it needs an approval, and nobody can be reached now: no chat, no notice, no open myc approvals watch. With one of " +
		"them, or with --ask wait, it waits"
}
