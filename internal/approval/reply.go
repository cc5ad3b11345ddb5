package approval

// ReplyKind says what a person meant with a free text.
type ReplyKind string

// The kinds of replies. The zero value is none of them.
const (
	ReplyApprove     ReplyKind = "approve"
	ReplyDeny        ReplyKind = "deny"
	ReplyInstruction ReplyKind = "instruction" // words for the agent; the call does not run
	ReplyPolicy      ReplyKind = "policy"      // a new policy in words: Text
	ReplyRule        ReplyKind = "rule"        // a new rule: Text, for the judge package's ParseRule
)

// Reply is what became of a free text.
type Reply struct {
	Kind  ReplyKind
	Text  string // of an instruction, a policy or a rule: the person's own words, without the prefix
	Tool  string // of a policy: the pattern of tools that it is about; empty: every tool
	Why   string // how it was understood, one line, to be shown to who wrote it
	By    string // "words", or the model's id
	Doubt bool   // it looked like consent and was not clear: ask again, with the buttons
}
