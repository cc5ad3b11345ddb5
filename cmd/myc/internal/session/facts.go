package session

import (
	"fmt"
	"time"

	"mycelium/internal/gate/limit"
	"mycelium/internal/gate/session"
)

// expires says when a session ends by itself.
func expires(s session.Summary) string {
	if s.Expires.IsZero() {
		return "with its client"
	}
	return s.Expires.Local().Format(time.DateTime)
}

// limitText formats a limit and how much of it is used.
func limitText(l limit.Use) string {
	text := fmt.Sprintf("%s of the %s: %d of %d used", l.Limit, l.Of, l.Used, l.Max)
	if l.Tools != "" {
		text = l.Tools + ": " + text
	}
	return text
}
