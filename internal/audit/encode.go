package audit

import (
	"crypto/sha256"
	"fmt"
	"strconv"
	"time"
	"unicode/utf8"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"mycelium/internal/credential"
	"mycelium/internal/policy"
	"mycelium/internal/rawjson"
	"mycelium/internal/text"
)

// A line has the form
//
//	{"seq":12,"prev":"<64 hexadecimal digits>",<body>,"mac":"<64 hexadecimal digits>"}
//
// with members in the order of Record and without white space. The body is encoded outside of the lock; seq, prev and mac under it.

// appendBody appends the members of a record, redacted and bounded.
func appendBody(dst []byte, l *Line, more []string) []byte {
	r := &l.Record
	dst = append(dst, `"id":`...)
	dst = rawjson.AppendQuote(dst, text.Truncate(r.ID, maxName))
	dst = appendMember(dst, "kind", string(r.Kind), maxName)
	dst = append(dst, `,"time":"`...)
	dst = r.Time.UTC().AppendFormat(dst, time.RFC3339Nano)
	dst = append(dst, '"')
	dst = appendMember(dst, "session", r.Session, maxName)
	dst = appendMember(dst, "principal", r.Principal, maxName)
	dst = appendMember(dst, "parent", r.Parent, maxName)
	dst = appendMember(dst, "role", r.Role, maxName)
	dst = appendNames(dst, "skills", r.Skills)
	dst = appendMember(dst, "surface", r.Surface, maxName)
	dst = appendMember(dst, "agent", r.Agent, maxName)
	dst = appendMember(dst, "itemKind", r.ItemKind, maxName)
	dst = appendMember(dst, "server", r.Server, maxName)
	dst = appendMember(dst, "tool", credential.Mask(r.Tool), maxName)
	dst = appendMember(dst, "toolUse", r.ToolUse, maxName)
	dst = appendArgs(dst, r.Args, more)
	dst = appendFacts(dst, r)
	dst = appendMember(dst, "effect", r.Effect, maxName)
	if r.Unknown {
		dst = append(dst, `,"unknown":true`...)
	}
	dst = appendMember(dst, "rule", r.Rule, maxName)
	dst = appendMember(dst, "reason", credential.Mask(r.Reason), maxText)
	dst = appendMember(dst, "sandbox", r.Sandbox, maxName)
	dst = appendMember(dst, "granted", credential.Mask(r.Granted), maxText)
	dst = appendMember(dst, "outside", credential.Mask(r.Outside), maxText)
	dst = appendMember(dst, "decidedBy", r.DecidedBy, maxName)
	dst = appendMember(dst, "outcome", r.Outcome, maxName)
	dst = appendMember(dst, "error", credential.Mask(r.Error), maxText)
	dst = appendNames(dst, "guard", r.Guard)
	if r.Duration > 0 {
		dst = append(dst, `,"durationMs":`...)
		dst = strconv.AppendFloat(dst, float64(r.Duration.Microseconds())/1e3, 'f', -1, 64)
	}
	dst = appendThinking(dst, r.Thinking)
	dst = appendMember(dst, "note", credential.Mask(r.Note), maxText)
	if l.Cut != nil {
		dst = append(dst, `,"cut":{"bytes":`...)
		dst = strconv.AppendInt(dst, l.Cut.Bytes, 10)
		dst = appendMember(dst, "sha256", l.Cut.SHA256, maxName)
		dst = append(dst, '}')
	}
	dst = appendMember(dst, "lost", l.Lost, maxText)
	dst = appendMember(dst, "next", l.Next, maxName)
	dst = appendMember(dst, "after", l.After, maxName)
	return appendDamage(dst, l.Damage)
}

func appendDamage(dst []byte, d *Damage) []byte {
	if d == nil {
		return dst
	}
	c := *d
	c.Why = text.Truncate(credential.Mask(validText(c.Why)), maxText)
	raw, err := json.Marshal(&c)
	if err != nil {
		return appendMember(dst, "note", "the damage could not be written: "+err.Error(), maxText)
	}
	return append(append(dst, `,"damage":`...), raw...)
}

func appendMember(dst []byte, name, value string, most int) []byte {
	if value == "" {
		return dst
	}
	dst = append(dst, `,"`...)
	dst = append(dst, name...)
	dst = append(dst, `":`...)
	return rawjson.AppendQuote(dst, text.Truncate(value, most))
}

func appendNames(dst []byte, name string, values []string) []byte {
	if len(values) == 0 {
		return dst
	}
	dst = append(dst, `,"`+name+`":[`...)
	for i, v := range values {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = rawjson.AppendQuote(dst, text.Truncate(v, maxName))
	}
	return append(dst, ']')
}

// appendArgs appends the arguments as redacted JSON without white space. Arguments that are not JSON become a string. Arguments above the
// bound, or with two members of one name in an object (which readers of the log refuse), become an object with their head as text, their
// length and their digest.
func appendArgs(dst, raw []byte, more []string) []byte {
	if len(raw) == 0 {
		return dst
	}
	readable := rawjson.Valid(raw)
	if !readable && !rawjson.WellFormed(raw) {
		return appendMember(dst, "args", validText(string(Redact(raw, more))), maxArgs)
	}
	dst = append(dst, `,"args":`...)
	start := len(dst)
	dst = appendRedacted(dst, raw, moreWords(more), true)
	if n := len(dst) - start; !readable || n > maxArgs {
		v := string(dst[start:])
		sum := sha256.Sum256(dst[start:])
		dst = append(dst[:start], `{"truncated":true,"bytes":`...)
		dst = strconv.AppendInt(dst, int64(n), 10)
		dst = append(dst, `,"sha256":"`+hexOf(sum[:])+`","head":`...)
		dst = append(rawjson.AppendQuote(dst, text.Truncate(v, maxArgs)), '}')
	}
	return dst
}

// appendFacts encodes the facts without package json: they are the largest part of most records, and package json with a pass of redaction
// over its output takes three times as long. Their keys are fixed and not secret.
func appendFacts(dst []byte, r *Record) []byte {
	if r.Facts == nil {
		return dst
	}
	start := len(dst)
	dst = append(dst, `,"facts":`...)
	dst = appendObject(dst, func(dst []byte) []byte {
		dst = appendMember(dst, "dir", credential.Mask(r.Facts.Dir), maxFacts)
		return appendObjects(dst, "parts", r.Facts.Parts, appendPart)
	})
	if n := len(dst) - start; n > maxFacts {
		return append(dst[:start], fmt.Sprintf(`,"factsOmitted":%d`, n)...)
	}
	return dst
}

func appendPart(dst []byte, p policy.Part) []byte {
	dst = appendMember(dst, "program", credential.Mask(p.Program), maxFacts)
	dst = appendTexts(dst, "argv", p.Argv)
	dst = appendObjects(dst, "paths", p.Paths, appendPath)
	dst = appendTexts(dst, "hosts", p.Hosts)
	dst = appendTexts(dst, "effects", p.Effects)
	dst = appendTexts(dst, "unclear", p.Unclear)
	dst = appendTexts(dst, "branches", p.Branches)
	dst = appendTexts(dst, "trees", p.Trees)
	return appendMember(dst, "dir", credential.Mask(p.Dir), maxFacts)
}

func appendPath(dst []byte, p policy.Path) []byte {
	dst = appendMember(dst, "access", string(p.Access), maxFacts)
	raw := credential.Mask(p.Raw)
	dst = appendMember(dst, "raw", raw, maxFacts)
	clean := credential.Mask(p.Clean)
	dst = appendMember(dst, "clean", clean, maxFacts)
	if p.Resolved != p.Clean { // they are usually the same
		clean = credential.Mask(p.Resolved)
	}
	dst = appendMember(dst, "resolved", clean, maxFacts)
	if p.Pattern {
		dst = append(dst, `,"pattern":true`...)
	}
	dst = appendMember(dst, "only", credential.Mask(string(p.Only)), maxName)
	dst = appendMember(dst, "content", credential.Mask(string(p.Content)), maxName)
	return appendTexts(dst, "except", p.Except)
}

// appendObject appends an object of the members that f appends, each with a comma before it. The brace replaces the first comma.
func appendObject(dst []byte, f func([]byte) []byte) []byte {
	start := len(dst)
	if dst = f(dst); len(dst) == start {
		return append(dst, "{}"...)
	}
	dst[start] = '{'
	return append(dst, '}')
}

func appendObjects[T any](dst []byte, name string, list []T, f func([]byte, T) []byte) []byte {
	if len(list) == 0 {
		return dst
	}
	dst = append(append(dst, `,"`...), name...)
	dst = append(dst, `":[`...)
	for i, x := range list {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = appendObject(dst, func(dst []byte) []byte { return f(dst, x) })
	}
	return append(dst, ']')
}

func appendTexts(dst []byte, name string, texts []string) []byte {
	if len(texts) == 0 {
		return dst
	}
	dst = append(append(dst, `,"`...), name...)
	dst = append(dst, `":[`...)
	for i, s := range texts {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = rawjson.AppendQuote(dst, credential.Mask(s))
	}
	return append(dst, ']')
}

func appendThinking(dst []byte, t *Thinking) []byte {
	if t == nil {
		return dst
	}
	c := *t
	c.Thinking = text.Truncate(credential.Mask(validText(c.Thinking)), maxThinking)
	c.Summary = text.Truncate(credential.Mask(validText(c.Summary)), maxText)
	c.Type, c.ModelID = text.Truncate(validText(c.Type), maxName), text.Truncate(validText(c.ModelID), maxName)
	raw, err := json.Marshal(&c)
	if err != nil {
		return appendMember(dst, "note", "the reasoning could not be written: "+err.Error(), maxText)
	}
	dst = append(dst, `,"thinking":`...)
	return append(dst, raw...)
}

func validText(s string) string {
	if utf8.ValidString(s) {
		return s
	}
	return string([]rune(s)) // each bad byte becomes the replacement character
}

// decode reads a line without its newline. It does not check the Mac.
func decode(line []byte) (Line, error) {
	var w struct {
		Line
		Args       jsontext.Value `json:"args"`
		DurationMs float64        `json:"durationMs"`
	}
	if err := json.Unmarshal(line, &w); err != nil {
		return Line{}, fmt.Errorf("read record: %w", err)
	}
	w.Line.Args = w.Args
	w.Duration = time.Duration(w.DurationMs * float64(time.Millisecond))
	return w.Line, nil
}
