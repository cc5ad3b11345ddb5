package agent

import (
	"errors"
	"net/http"
	"slices"
	"time"

	"mycelium/internal/model"
)

// Limit is a limit of the provider, or its overload: the agent waits.
type Limit struct {
	Until time.Time // when it asks again, or the limit ends; zero: the agent waits no more
	Why   string
}

// LimitError means that a turn ended because of a limit of the provider.
type LimitError struct {
	Until time.Time // when the limit ends; zero: not known
	Why   string
	err   error // of the model; nil: none
}

func (e *LimitError) Error() string { return "a limit of the provider: " + e.Why }

func (e *LimitError) Unwrap() error { return e.err }

// statusOverloaded is the status of the Messages API while it is overloaded.
const statusOverloaded = 529

// limited reports whether a status means that the same question may be answered later.
func limited(status int) bool {
	return slices.Contains([]int{http.StatusTooManyRequests, statusOverloaded}, status)
}

// limitOf is the limit of the provider that an error of the model tells; nil: it tells none.
func limitOf(err error) *LimitError {
	if failed := (*model.Error)(nil); errors.As(err, &failed) && limited(failed.Status) {
		return &LimitError{Why: failed.Text, err: err}
	}
	return nil
}

// limits are the parts of a line of Claude Code that concern a limit (2.1.197: rate_limit_event, system/api_retry, result).
type limits struct {
	Info struct {
		Status  string  `json:"status"` // allowed, allowed_warning or rejected
		Resets  float64 `json:"resetsAt"`
		Kind    string  `json:"rateLimitType"`
		Overage bool    `json:"isUsingOverage"` // it goes on, and the person pays for it
	} `json:"rate_limit_info"`
	RetryIn     float64 `json:"retry_delay_ms"`
	RetryStatus int     `json:"error_status"`     // null: no answer came
	EndStatus   int     `json:"api_error_status"` // null: the turn ended otherwise
}

// limit takes the line of a limit. The program says of a subscription when its limit ends, and then ends the turn; with a key it waits
// itself, and asks again.
func (d *drive) limit(s spoken) {
	switch {
	case s.Type == "rate_limit_event" && s.Info.Status == "rejected" && !s.Info.Overage:
		d.resets = time.Time{}
		if s.Info.Resets > 0 {
			d.resets = time.Unix(int64(s.Info.Resets), 0)
			d.waits(d.resets, "the limit "+s.Info.Kind+" is hit")
		}
	case s.Type == "rate_limit_event":
		d.waitsNoMore()
	case limited(s.RetryStatus):
		why := "too many requests"
		if s.RetryStatus == statusOverloaded {
			why = "it is overloaded"
		}
		d.waits(time.Now().Add(time.Duration(s.RetryIn*float64(time.Millisecond))), why)
	}
}

// waits tells that the agent waits.
func (d *drive) waits(until time.Time, why string) {
	d.waiting = true
	d.tell(Event{Limit: &Limit{Until: until, Why: why}})
}

// waitsNoMore tells that an answer has come, if the agent waited for one.
func (d *drive) waitsNoMore() {
	if d.waiting {
		d.waiting = false
		d.tell(Event{Limit: &Limit{}})
	}
}
