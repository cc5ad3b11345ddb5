// Package sign has the second sign. An act that is grave is done for an answer only if the answer comes with a sign that the person means
// it. What an act demands stands with the act, and the function that does it takes the sign as an argument. A surface only collects it. No
// model can bring one.
package sign

// Sign is what a person brings besides an answer.
type Sign string

// The signs.
const (
	None Sign = ""
	Sure Sign = "sure" // the person says that it was read: by --sure, a second key, a box that is marked
	PIN  Sign = "pin"  // the person knows the PIN of the chat
)

// Of is the sign of a surface on which the person says, or does not say, that it was read.
func Of(sure bool) Sign {
	if sure {
		return Sure
	}
	return None
}

// Demand is why an act needs a sign. The zero value needs none.
type Demand struct {
	Why  string // what is grave, as the beginning of a sentence: "This call is critical"
	Read string // what the person has read: "what it would do"
}

// The acts that demand a sign.

// OfCall is what allowing a critical call demands.
func OfCall() Demand { return Demand{"This call is critical", "what it would do"} }

// OfFound is what accepting a definition or a skill of a server demands in which the scan found something dangerous.
func OfFound(name string) Demand {
	return Demand{"The scan calls " + name + " dangerous", "what the scan found and what the server says"}
}

// OfTaking is what moving a branch of the person's to what a swarm has made demands.
func OfTaking(into string) Demand {
	return Demand{"This moves your branch " + into + " to what agents have made", "the difference"}
}

// OfLanding is what letting a feature land demands that changes files that govern agents.
func OfLanding(feature string) Demand {
	return Demand{"The feature " + feature + " changes files that govern agents", "the difference"}
}

// OfFiles is what putting files of the policy in force demands that do not only narrow what agents may do.
func OfFiles() Demand {
	return Demand{"These files may let agents do more than before", "each change and its meaning"}
}

// Any reports whether a sign is needed.
func (d Demand) Any() bool { return d != Demand{} }

// Says is the sentence that a person agrees to, for the box of a page.
func (d Demand) Says() string { return d.Why + ". I have read " + d.Read + "." }

// Asks is the same as a question, for a terminal and a chat.
func (d Demand) Asks() string { return d.Why + ". Have you read " + d.Read + ", and allow it?" }

// Check returns a [*MissingError] if a sign is needed and s is none.
func (d Demand) Check(s Sign) error {
	if !d.Any() || s == Sure || s == PIN {
		return nil
	}
	return &MissingError{Why: d.Why, Read: d.Read, Missing: Sure, How: how}
}

// how is how each surface brings a sign.
const how = `bring it with --sure on a command line, with "sure": true over HTTP, with the box on a page, or with the second question of a ` +
	`screen or a chat`

// MissingError refuses an answer that lacks the sign.
type MissingError struct {
	Why     string `json:"why"`
	Read    string `json:"read"`
	Missing Sign   `json:"missing"` // the least that is taken
	How     string `json:"how"`     // how to bring it, on each surface
}

func (e *MissingError) Error() string {
	return e.Why + ": the answer lacks the second sign, that a person has read " + e.Read
}

// Hint is how to bring the sign.
func (e *MissingError) Hint() string { return e.How }
