package profiles

import (
	"fmt"
	"strconv"
	"strings"

	"mycelium/internal/text"
)

// Size is a number of bytes in a file: "512MiB", "2GiB", or 0.
type Size int64

// units are the units of a size.
var units = []struct {
	name  string
	bytes int64
}{{"KiB", 1 << 10}, {"MiB", 1 << 20}, {"GiB", 1 << 30}}

// mostSize is the largest size, which shows a mistaken unit.
const mostSize = 1 << 50

// YAMLSchema is how people write a size.
func (Size) YAMLSchema() map[string]any {
	return map[string]any{"type": []string{"string", "integer"}, "examples": []any{"512MiB", "2GiB", 0}}
}

// UnmarshalYAML reads a size.
func (s *Size) UnmarshalYAML(unmarshal func(any) error) error {
	var word string
	if err := unmarshal(&word); err != nil {
		return err
	}
	return s.UnmarshalText([]byte(word))
}

// UnmarshalText reads a size.
func (s *Size) UnmarshalText(raw []byte) error {
	digits, unit := string(raw), int64(0)
	for _, u := range units {
		if rest, ok := strings.CutSuffix(digits, u.name); ok {
			digits, unit = strings.TrimSpace(rest), u.bytes
			break
		}
	}
	n, err := strconv.ParseInt(digits, 10, 64)
	if err != nil || n < 0 || unit == 0 && n != 0 || n > mostSize/max(unit, 1) {
		return text.Hinted(fmt.Errorf("size %q cannot be read", raw), "write 512MiB or 2GiB; 0 is no limit")
	}
	*s = Size(n * unit)
	return nil
}

// MarshalText writes a size with the largest unit that divides it.
func (s Size) MarshalText() ([]byte, error) {
	for i := len(units) - 1; i >= 0; i-- {
		if s != 0 && int64(s)%units[i].bytes == 0 {
			return fmt.Appendf(nil, "%d%s", int64(s)/units[i].bytes, units[i].name), nil
		}
	}
	return fmt.Appendf(nil, "%d", int64(s)), nil
}
