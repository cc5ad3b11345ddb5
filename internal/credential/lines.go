package credential

import "strings"

// Lines masks the secrets of a text that arrives line by line. It also masks private keys of several lines. The zero value is ready.
type Lines struct {
	left int // how many lines may still belong to a private key that has begun
}

// maxKeyLines is more than the largest private key in use has.
const maxKeyLines = 400

// Mask is [Mask] for the next line.
func (l *Lines) Mask(line string) string {
	if l.left > 0 {
		l.left--
		if _, rest, ok := strings.Cut(line, "PRIVATE KEY"); ok && strings.Contains(line, "-----END ") {
			l.left = 0
			_, rest, _ = strings.Cut(rest, "-----")
			return Redacted + Mask(rest)
		}
		if keyLine(line) {
			return Redacted
		}
		l.left = 0
	}
	for _, f := range Find(line) {
		if f.Form.Name == PrivateKey && f.End == len(line) && !strings.Contains(line[f.Start:], "-----END ") {
			l.left = maxKeyLines
		}
	}
	return Mask(line)
}

// keyLine reports whether a line can be part of a private key: base64, perhaps after the prefix of a logger, a header or an empty line.
func keyLine(line string) bool {
	fields := strings.Fields(line)
	if len(fields) == 0 || strings.HasPrefix(fields[0], "Proc-Type:") || strings.HasPrefix(fields[0], "DEK-Info:") {
		return true
	}
	for _, c := range []byte(fields[len(fields)-1]) {
		if !base64Byte(c) {
			return false
		}
	}
	return true
}
