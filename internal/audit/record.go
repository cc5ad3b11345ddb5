// Package audit keeps the record of everything that was asked, decided and done: an append-only log in segments, one chain a
// project, that shows tampering, and an index of it for queries.
package audit

import (
	"crypto/rand"
	"encoding/base32"
	"encoding/hex"
	"strings"
	"time"

	"mycelium/internal/policy"
)

// Record is one line of the log: a decision, an outcome, or another act that people must be able to find again. A decision and
// its outcome share the call's ID.
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
	ItemKind  string        `json:"itemKind,omitempty"` // empty: a tool; resource, prompt
	Server    string        `json:"server,omitempty"`
	Tool      string        `json:"tool,omitempty"`    // text form, server__name, or what the caller asked for when it is unknown
	ToolUse   string        `json:"toolUse,omitempty"` // the agent's own id of the call, by which its end is told
	Args      []byte        `json:"-"`                 // raw JSON; redacted and bounded by Append, written as "args"
	Facts     *policy.Facts `json:"facts,omitempty"`
	Effect    string        `json:"effect,omitempty"` // allow, ask, deny; of a decision
	Unknown   bool          `json:"unknown,omitzero"` // the caller was told that the tool does not exist
	Rule      string        `json:"rule,omitempty"`
	Reason    string        `json:"reason,omitempty"`
	DecidedBy string        `json:"decidedBy,omitempty"` // policy, limit, person, model, deadline, caller
	Outcome   string        `json:"outcome,omitempty"`   // ok, error or denied; of an outcome
	Error     string        `json:"error,omitempty"`
	Guard     []string      `json:"guard,omitempty"` // what was done to the result: redacted:2, spotlighted, truncated
	Duration  time.Duration `json:"-"`               // written as durationMs
	Thinking  *Thinking     `json:"thinking,omitempty"`
	Note      string        `json:"note,omitempty"` // of an act: what was done, for people
}

// Kind says what a record is about.
type Kind string

// The kinds of records.
const (
	Decided  Kind = "decision"
	Outcome  Kind = "outcome"
	Operator Kind = "operator" // an act of a person: trust, session new, reload …
	Session  Kind = "session"  // a session began, ended, changed its role or skills
	Repair   Kind = "repair"   // a torn line was cut
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
	Dir    string           // the folder of the segments, and of nothing else
	Lock   string           // lock file, outside Dir
	KeyDir string           // folder outside the project for the key and the checkpoint
	Redact []string         // further words for keys whose values are redacted; see [Redact]
	Sync   string           // "interval" (100 ms; the default) or "call"
	Rotate int64            // segment size in bytes; 0: 64 MiB
	Now    func() time.Time // nil: time.Now
}

// NewID returns an id for a call or an act: 26 characters of base32, 128 bits, of which 48 are the time in milliseconds and 80 are
// random. Ids of later calls sort later, so that the index of a million of them grows at its end instead of everywhere.
func NewID() string {
	var b [16]byte
	_, _ = rand.Read(b[6:]) // it never fails: crypto/rand ends the program instead
	ms := time.Now().UnixMilli()
	for i := range 6 {
		b[i] = byte(ms >> (40 - 8*i))
	}
	return strings.ToLower(base32.HexEncoding.WithPadding(base32.NoPadding).EncodeToString(b[:]))
}

// Line is a record as it stands in the log, with its place and its links.
type Line struct {
	Record
	Seq     int64  `json:"seq"`  // 1, 2, 3 … over the whole chain
	Prev    string `json:"prev"` // Mac of the line before; zeros for the first
	Mac     string `json:"mac"`  // HMAC-SHA256 over everything before it, in hexadecimal
	Cut     *Cut   `json:"cut,omitempty"`
	Lost    string `json:"lost,omitempty"`  // of a repair: that records which had been synced were gone, in words
	Next    string `json:"next,omitempty"`  // of the last line of a segment: the name of the next
	After   string `json:"after,omitempty"` // of the first line of a segment: the name of the one before
	Segment string `json:"-"`
	Offset  int64  `json:"-"` // of the byte after the line
	Raw     []byte `json:"-"` // the line as it stands in the log, without its newline; of [Read]

	length int // of the line with its newline; of [Read]
}

// Cut is what a repair removed: the torn end of a segment.
type Cut struct {
	Bytes  int64  `json:"bytes"`
	SHA256 string `json:"sha256"`
}

const (
	defaultRotate = 64 << 20
	maxArgs       = 16 << 10 // bytes of redacted arguments that are kept whole (DESIGN decision 12)
	maxThinking   = 64 << 10
	maxFacts      = 256 << 10
	maxText       = 4 << 10 // reason, error, note
	maxName       = 1 << 10 // what a caller can choose: the tool it asked for, ids
)

func (o Options) rotate() int64 {
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
