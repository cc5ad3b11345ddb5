package text

import (
	"fmt"
	"strings"
	"time"
)

// ParseTime reads a time (RFC 3339) or an age before now, such as 24h or 7d. "" is the zero time.
func ParseTime(s string, now time.Time) (time.Time, error) {
	if s == "" {
		return time.Time{}, nil
	}
	if t, err := time.Parse(time.RFC3339, s); err == nil {
		return t, nil
	}
	age := s
	if days, ok := strings.CutSuffix(s, "d"); ok {
		age = days + "h"
	}
	d, err := time.ParseDuration(age)
	if err != nil {
		return time.Time{}, fmt.Errorf("%q is neither an age such as 24h or 7d nor a time such as 2026-11-21T10:00:00Z", s)
	}
	if age != s {
		d *= 24
	}
	return now.Add(-d), nil
}
