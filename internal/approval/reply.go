package approval

// ReplyKind is the meaning of a text that a person wrote about a request.
type ReplyKind string

// The kinds of replies. The zero value is not a kind.
const (
	ReplyApprove     ReplyKind = "approve"
	ReplyDeny        ReplyKind = "deny"
	ReplyInstruction ReplyKind = "instruction" // text for the agent; the call does not run
	ReplyPolicy      ReplyKind = "policy"      // a new policy in words
	ReplyRule        ReplyKind = "rule"        // a new rule, as the judge package's ParseRule reads it
)

// Reply is the meaning of a text.
type Reply struct {
	Kind  ReplyKind
	Text  string // of an instruction, a policy or a rule, without the prefix
	Tool  string // of a policy: a pattern of tools; empty: every tool
	Why   string // how the text was understood: one line for its writer
	By    string // "words", or the model's id
	Doubt bool   // it may be consent, but is not clear: the person must use a button
}
