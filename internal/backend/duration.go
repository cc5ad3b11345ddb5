package backend

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"mycelium/internal/rawjson"
)

// Duration is a time.Duration that is written as "30s". A bare number is milliseconds, as in .mcp.json.
type Duration time.Duration

// maxDuration is a day. Nobody waits longer for an answer, and a wrong unit is found.
const maxDuration = 24 * time.Hour

// UnmarshalYAML reads "30s" or a bare number of milliseconds.
func (d *Duration) UnmarshalYAML(b []byte) error {
	s := strings.TrimSpace(string(b))
	if len(s) >= 2 && (s[0] == '"' || s[0] == '\'') && s[len(s)-1] == s[0] {
		s = s[1 : len(s)-1]
	}
	return d.parse(s)
}

// UnmarshalJSON reads "30s" or a bare number of milliseconds.
func (d *Duration) UnmarshalJSON(b []byte) error {
	s := strings.TrimSpace(string(b))
	if strings.HasPrefix(s, `"`) {
		text, ok := rawjson.Text([]byte(s))
		if !ok {
			return errors.New("duration: not a JSON string or number")
		}
		s = text
	}
	return d.parse(s)
}

func (d *Duration) parse(s string) error {
	v, err := time.ParseDuration(s)
	if ms, numErr := strconv.ParseFloat(s, 64); numErr == nil {
		// The range is checked before the conversion, which is not defined for values that do not fit.
		if !(ms >= 0 && ms <= float64(maxDuration/time.Millisecond)) {
			return fmt.Errorf("duration %q: out of range: write 0 to 24h", s)
		}
		v, err = time.Duration(ms*float64(time.Millisecond)), nil
	}
	switch {
	case err != nil:
		return fmt.Errorf("duration %q: write \"30s\", or a number of milliseconds", s)
	case v < 0 || v > maxDuration:
		return fmt.Errorf("duration %q: out of range: write 0 to 24h", s)
	}
	*d = Duration(v)
	return nil
}

// String is the text form, "30s".
func (d Duration) String() string { return time.Duration(d).String() }

// MarshalYAML writes the text form.
func (d Duration) MarshalYAML() ([]byte, error) { return []byte(d.String()), nil }

// MarshalJSON writes the text form as a JSON string.
func (d Duration) MarshalJSON() ([]byte, error) { return []byte(strconv.Quote(d.String())), nil }

// or returns the duration, or the fallback if none is configured.
func (d Duration) or(fallback time.Duration) time.Duration {
	if d <= 0 {
		return fallback
	}
	return time.Duration(d)
}
