package approval

import (
	"errors"
	"fmt"
	"strings"
	"time"
)

// The errors of [Queue.Settle] and [Queue.Ask].
var (
	ErrUnknown = errors.New("no such request")
	ErrDigest  = errors.New("the request has changed since it was shown, so this answer is not taken: look at it again")
	// ErrNoWords refuses an approval of a question that has no text.
	ErrNoWords = errors.New("a question needs an answer in words: myc approvals approve ID --reason \"the answer\", or text over HTTP")
	// ErrClosed means that this process ends. The request is kept: a caller that asks the next process again goes on waiting.
	ErrClosed = errors.New("the daemon is ending; the request is kept, ask again")
	// ErrFull means that too many requests wait already.
	ErrFull = errors.New("too many calls wait for an approval already")
	// ErrTooLarge means that a request cannot be shown in full, so it cannot be approved.
	ErrTooLarge = errors.New("the arguments are too large to be shown to a person")
)

// badAnswer says why an answer is invalid.
type badAnswer string

func (e badAnswer) Error() string { return string(e) }

// IsBadAnswer reports whether [Queue.Settle] refused an answer because it is invalid for any request.
func IsBadAnswer(err error) bool {
	var b badAnswer
	return errors.As(err, &b)
}

// AmbiguousError says that several requests have ids that begin so.
type AmbiguousError struct {
	Prefix string
	IDs    []string
}

func (e *AmbiguousError) Error() string {
	return fmt.Sprintf("%q is the beginning of %d ids: %s", e.Prefix, len(e.IDs), strings.Join(e.IDs, ", "))
}

// LateError refuses an answer to a request that is settled already.
type LateError struct{ Request Request }

func (e *LateError) Error() string {
	r := &e.Request
	if r.Answer == nil {
		return fmt.Sprintf("request %s is %s", r.ID, r.State)
	}
	at := r.Answer.Time.Local().Format(time.TimeOnly)
	switch r.Answer.By {
	case ByDeadline:
		return fmt.Sprintf("request %s expired at %s: %s; your answer changes nothing", r.ID, at, r.Kind.Lapse())
	case ByCaller:
		return fmt.Sprintf("request %s expired at %s: the caller no longer waits; your answer changes nothing", r.ID, at)
	case BySession:
		return fmt.Sprintf("request %s expired at %s: its session ended; your answer changes nothing", r.ID, at)
	}
	via := ""
	if r.Answer.Via != "" {
		via = " (" + r.Answer.Via + ")"
	}
	return fmt.Sprintf("request %s was %s by %s%s at %s; your answer changes nothing", r.ID, r.State, r.Answer.By, via, at)
}
