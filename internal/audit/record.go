// Package audit is the append-only log of everything that was asked, decided and done. A project has one log. Its lines lie in segment
// files and are chained by HMACs, so that tampering shows. [Open] and [Log.Append] write it, [Read] and [Scan] read it, [Verify] checks
// it. Package index answers queries.
package audit

import (
	"crypto/rand"
	"encoding/base32"
	"encoding/hex"
	"strings"
	"time"

	"mycelium/internal/policy"
)

// Record is what a line of the log says: a decision, an outcome, or another act that people must be able to find. A decision and its
// outcome share the call's ID.
type Record struct {
	ID        string        `json:"id"` // of the call (or of the act), random
	Kind      Kind          `json:"kind"`
	Time      time.Time     `json:"time"`
	Session   string        `json:"session,omitempty"`
	Principal string        `json:"principal,omitempty"`
	Parent    string        `json:"parent,omitempty"` // the parent principal's id
	Role      string        `json:"role,omitempty"`
	Skills    []string      `json:"skills,omitempty"`
	Surface   string        `json:"surface,omitempty"`  // mcp-stdio, mcp-http, cli, hook …
	Agent     string        `json:"agent,omitempty"`    // the program whose own tool it is: claude, codex …; else empty
	ItemKind  string        `json:"itemKind,omitempty"` // empty: a tool; resource, prompt
	Server    string        `json:"server,omitempty"`
	Tool      string        `json:"tool,omitempty"`    // text form, server__name, or what the caller asked for when it is unknown
	ToolUse   string        `json:"toolUse,omitempty"` // the agent's own id of the call, with which it reports the end
	Args      []byte        `json:"-"`                 // raw JSON; Append redacts and bounds it and writes it as "args"
	Facts     *policy.Facts `json:"facts,omitempty"`
	Effect    string        `json:"effect,omitempty"` // allow, ask, deny; of a decision
	Unknown   bool          `json:"unknown,omitzero"` // the caller was told that the tool does not exist
	Rule      string        `json:"rule,omitempty"`
	Reason    string        `json:"reason,omitempty"`
	Sandbox   string        `json:"sandbox,omitempty"`   // the profile in which an allowed call runs
	Granted   string        `json:"granted,omitempty"`   // the hosts and paths that it has beyond the profile
	Outside   string        `json:"outside,omitempty"`   // why an allowed command runs outside of the wall, where the policy has one
	DecidedBy string        `json:"decidedBy,omitempty"` // policy, limit, person, model, deadline, caller, agent
	Outcome   string        `json:"outcome,omitempty"`   // ok, error or denied; of an outcome
	Error     string        `json:"error,omitempty"`
	Guard     []string      `json:"guard,omitempty"` // changes to the result: redacted:2, spotlighted, truncated
	Duration  time.Duration `json:"-"`               // written as durationMs
	Thinking  *Thinking     `json:"thinking,omitempty"`
	Note      string        `json:"note,omitempty"` // of an act: what happened, for people
}

// Kind says what a record is about.
type Kind string

// The kinds of records.
const (
	Decided  Kind = "decision"
	Outcome  Kind = "outcome"
	Operator Kind = "operator" // a person acted: trust, session new, reload …
	Session  Kind = "session"  // a session began, ended, changed its role or skills
	Guard    Kind = "guard"    // what guards the agents was changed, or did not see a call
	Repair   Kind = "repair"   // a torn line was cut, or the log can be written again
	Begin    Kind = "begin"    // first line of a new chain behind damage
	Segment  Kind = "segment"  // first and last line of a segment
)

// Thinking is the reasoning that came with a call.
type Thinking struct {
	Thinking   string    `json:"thinking"`
	Type       string    `json:"type,omitempty"` // extended_thinking, chain_of_thought or reasoning
	ModelID    string    `json:"modelId,omitempty"`
	Tokens     int       `json:"thinkingTokens,omitzero"`
	CapturedAt time.Time `json:"capturedAt,omitzero"`
	Summary    string    `json:"summary,omitempty"`
	Cache      *CacheUse `json:"cacheMetrics,omitempty"`
	Claimed    bool      `json:"claimed,omitzero"` // sent by the client, not seen by us
}

// CacheUse are the cache figures that came with the reasoning.
type CacheUse struct {
	ReadTokens     int `json:"cacheReadTokens,omitzero"`
	CreationTokens int `json:"cacheCreationTokens,omitzero"`
}

// Options of a log.
type Options struct {
	Dir    string           // the folder of the segments, which holds nothing else
	Lock   string           // lock file, outside Dir
	KeyDir string           // folder outside the project for the key and the checkpoint
	Redact []string         // further words for keys whose values are redacted; see [Redact]
	Sync   string           // "interval" (100 ms; the default) or "call"
	Rotate int64            // segment size in bytes; 0: 64 MiB
	Now    func() time.Time // nil: time.Now
}

// NewID returns an id for a call or an act: 26 characters of base32 that hold 48 bits of time in milliseconds and 80 random bits. Later
// ids sort later, so that a database index of them grows at its end.
func NewID() string {
	var b [16]byte
	_, _ = rand.Read(b[6:]) // crypto/rand ends the program instead of failing
	ms := time.Now().UnixMilli()
	for i := range 6 {
		b[i] = byte(ms >> (40 - 8*i))
	}
	return strings.ToLower(base32.HexEncoding.WithPadding(base32.NoPadding).EncodeToString(b[:]))
}

// Line is a record in the log, with its place and its links.
type Line struct {
	Record
	Seq     int64   `json:"seq"`  // 1, 2, 3 … over the whole chain
	Prev    string  `json:"prev"` // Mac of the line before; zeros for the first
	Mac     string  `json:"mac"`  // HMAC-SHA256 over everything before it, in hexadecimal
	Cut     *Cut    `json:"cut,omitempty"`
	Lost    string  `json:"lost,omitempty"`   // of a repair by an earlier version: which synced records were missing, in words
	Next    string  `json:"next,omitempty"`   // of the last line of a segment: the name of the next
	After   string  `json:"after,omitempty"`  // of the first line of a segment: the name of the one before
	Damage  *Damage `json:"damage,omitempty"` // of the first line of a new chain
	Segment string  `json:"-"`
	Offset  int64   `json:"-"` // of the first byte after the line
	Length  int     `json:"-"` // bytes of the line with its newline; set by [Read] and [Scan]
	Raw     []byte  `json:"-"` // bytes of the line without its newline; set by [Read]
	// RawFacts are Facts as they stand in the line; set by [Scan], unless it has decoded them
	RawFacts []byte `json:"-"`
}

// Damage is what a new chain says about the chain before it.
type Damage struct {
	Why      string `json:"why"`
	Segment  string `json:"segment,omitempty"` // with Line the place that Verify named
	Line     int    `json:"line,omitzero"`
	Expected Head   `json:"expected"` // the last record that the log is known to have had
	Found    Head   `json:"found"`    // the last record that can be verified
	// Kept is the SHA-256, in hexadecimal, over names, sizes and contents of the segments from Segment up to the new chain, as they were then: no
	// other line seals them. It is empty in chains that an earlier version began.
	Kept string `json:"kept,omitempty"`
}

// Head is the number and the Mac of a record; 0 and zeros where there is none.
type Head struct {
	Seq int64  `json:"seq"`
	Mac string `json:"mac"`
}

// Cut is what a repair removed: the torn end of a segment.
type Cut struct {
	Bytes  int64  `json:"bytes"`
	SHA256 string `json:"sha256"`
}

const (
	defaultRotate = 64 << 20
	maxArgs       = 16 << 10 // bytes of redacted arguments; longer ones keep their head (DESIGN decision 12)
	maxThinking   = 64 << 10
	maxFacts      = 256 << 10
	maxText       = 4 << 10 // reason, error, note
	maxName       = 1 << 10 // ids, the name of the requested tool: what a caller can choose
)

func (o Options) segmentSize() int64 {
	if o.Rotate > 0 {
		return o.Rotate
	}
	return defaultRotate
}

func (o Options) now() time.Time {
	if o.Now != nil {
		return o.Now()
	}
	return time.Now()
}

func hexOf(b []byte) string { return hex.EncodeToString(b) }
