package source

import (
	"fmt"
	"strconv"
	"time"

	"mycelium/internal/text"
)

// Duration is a duration in a file: "30s", or a bare number of milliseconds, as in .mcp.json. It is from 0 to 24 hours, which shows a
// mistaken unit.
type Duration time.Duration

// YAMLSchema is how people write a duration.
func (Duration) YAMLSchema() map[string]any {
	return map[string]any{"type": []string{"string", "number"}, "examples": []any{"30s", "5m"}}
}

// UnmarshalYAML reads a duration.
func (d *Duration) UnmarshalYAML(unmarshal func(any) error) error {
	var word string
	if err := unmarshal(&word); err != nil {
		return err
	}
	return d.UnmarshalText([]byte(word))
}

// UnmarshalText reads a duration.
func (d *Duration) UnmarshalText(raw []byte) error {
	word := string(raw)
	v, err := time.ParseDuration(word)
	if ms, numErr := strconv.ParseFloat(word, 64); numErr == nil {
		if ms < 0 || ms > 24*3600*1000 || ms != ms {
			return text.Hinted(fmt.Errorf("duration %q is out of range", word), "write 0 to 24h; a bare number is milliseconds")
		}
		v, err = time.Duration(ms*float64(time.Millisecond)), nil
	}
	if err != nil {
		return text.Hinted(fmt.Errorf("duration %q cannot be read", word), "write 30s, 500ms or 2m; a bare number is milliseconds")
	}
	if v < 0 || v > 24*time.Hour {
		return text.Hinted(fmt.Errorf("duration %q is out of range", word), "write 0 to 24h")
	}
	*d = Duration(v)
	return nil
}

// Seconds is the duration in seconds.
func (d Duration) Seconds() float64 { return time.Duration(d).Seconds() }

// Seconds returns the duration of a number of seconds.
func Seconds(n float64) Duration { return Duration(n * float64(time.Second)) }

// MarshalText writes a duration in Go's form.
func (d Duration) MarshalText() ([]byte, error) { return []byte(time.Duration(d).String()), nil }
