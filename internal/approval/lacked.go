package approval

import (
	"fmt"
	"slices"
	"strings"

	"mycelium/internal/credential"
	"mycelium/internal/policy/box"
	"mycelium/internal/text"
)

// Lacked is what a command had not when it ran in the sandbox before, and what it gets there if the request is approved. The zero value is
// nothing.
type Lacked struct {
	Profile  string `json:"profile"`
	ExitCode int    `json:"exitCode"` // of the run that lacked it
	Allowed  bool   `json:"allowed"`  // a rule allows the call without these things
	Things   []Lack `json:"things"`
}

// Lack is one thing that a command lacked.
type Lack struct {
	Need Need   `json:"need"`
	Name string `json:"name"`           // a host with its port if one is known, npm:left-pad, or an absolute path
	Said bool   `json:"said,omitzero"`  // only the command's error output says so, which may say anything; else our proxy refused it
	Note string `json:"note,omitempty"` // what people should know of it
}

// Need is what a command would do with what it lacked.
type Need string

// The needs.
const (
	NeedHost  Need = "host"
	NeedRead  Need = "read"
	NeedWrite Need = "write"

	NeedPackage Need = "package" // of a registry
)

func (l Lack) String() string { return string(l.Need) + " " + text.OneLine(l.Name) }

// IsSame reports whether two lacks are of one thing.
func (l Lack) IsSame(o Lack) bool { return l.Need == o.Need && l.Name == o.Name }

// Any reports whether the command lacked anything.
func (l Lacked) Any() bool { return len(l.Things) > 0 }

// Names returns the names of what is needed in this way.
func (l Lacked) Names(n Need) (names []string) {
	for _, t := range l.Things {
		if t.Need == n {
			names = append(names, t.Name)
		}
	}
	return names
}

// Grants is what an approval of the things grants in the sandbox.
func (l Lacked) Grants() box.Box {
	return box.Box{Hosts: l.Names(NeedHost), Packages: l.Names(NeedPackage), Read: l.Names(NeedRead), Write: l.Names(NeedWrite)}
}

// Has reports whether a thing is among those that the command lacked.
func (l Lacked) Has(t Lack) bool { return slices.ContainsFunc(l.Things, t.IsSame) }

// within reports whether an approval of the other gives all of this too.
func (l Lacked) within(o Lacked) bool {
	return (!l.Any() || l.Profile == o.Profile) && !slices.ContainsFunc(l.Things, func(t Lack) bool { return !o.Has(t) })
}

// String names the things in one line; "" if there are none.
func (l Lacked) String() string {
	all := make([]string, 0, len(l.Things))
	for _, t := range l.Things {
		all = append(all, t.String())
	}
	return strings.Join(all, ", ")
}

// Lines says what an approval gives, and who says that it is needed; nothing if it gives nothing.
func (l Lacked) Lines() (lines []string) {
	if !l.Any() {
		return nil
	}
	lines = append(lines, fmt.Sprintf("If it is allowed, it gets in the sandbox %s: %s. It ran there without and ended with exit code %d.",
		l.Profile, l, l.ExitCode))
	var refused, said []string
	for _, t := range l.Things {
		if t.Said {
			said = append(said, t.String())
		} else {
			refused = append(refused, t.Name)
		}
	}
	if len(refused) > 0 {
		lines = append(lines, "Mycelium saw it ask for, and refused, "+text.OneLine(strings.Join(refused, ", "))+".")
	}
	if len(said) > 0 {
		lines = append(lines, "That it needs "+strings.Join(said, ", ")+
			" is the command's own word: its error output said so, which may say anything.")
	}
	for _, t := range l.Things {
		if t.Note != "" {
			lines = append(lines, text.OneLine(t.Name+" "+t.Note)+".")
		}
	}
	return lines
}

// masked masks what has the form of a secret.
func (l Lacked) masked() Lacked {
	l.Profile, l.Things = credential.Mask(l.Profile), slices.Clone(l.Things)
	for i := range l.Things {
		t := &l.Things[i]
		t.Need, t.Name, t.Note = Need(credential.Mask(string(t.Need))), credential.Mask(t.Name), credential.Mask(t.Note)
	}
	return l
}

// bound is what an answer is bound to, for [digestOf].
func (l Lacked) bound() []any {
	if !l.Any() {
		return nil // requests without it keep the digests that they had
	}
	return []any{l.Profile, l.String()}
}

// ShowTerms returns what people are told about the terms of an answer, one line each: what it gives in the sandbox, the files to which it
// is bound, and what code was not read. changed is what changed since the call was asked about last, as a text with lines of a difference.
func ShowTerms(r Request) (lines []string, changed string) {
	code, changed := showCode(r)
	return append(r.Lacked.Lines(), code...), changed
}
