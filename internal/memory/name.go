package memory

import (
	"crypto/sha256"
	"encoding/hex"
	"strings"
)

// suffix ends the name of a role's file (requirements, A25).
const suffix = ".memory.md"

// maxStem bounds the part of a file's name that stands for the role, in bytes. File systems take 255 for a whole name, and the name of a
// temporary file repeats up to 200 of them.
const maxStem = 180

// FileName returns the name of the file of a role. Different roles have different names, also where a file system ignores case or the
// form of Unicode, and no name is one that Windows reserves.
//
// Lower-case letters, digits, "-" and "_" stand for themselves. Any other byte is "=" and two hexadecimal digits, and so is the first
// letter of a reserved name. A name that would be too long is cut, and ends with "=z" and the SHA-256 of the role.
func FileName(role string) string {
	stem := encode(role)
	if reserved(stem) {
		stem = escapeByte(stem[0]) + stem[1:]
	}
	if len(stem) > maxStem {
		sum := sha256.Sum256([]byte(role))
		const kept = maxStem - 2 - 2*sha256.Size
		head := stem[:kept]
		if i := strings.LastIndexByte(head, '='); i > kept-3 { // not inside of an escaped byte
			head = head[:i]
		}
		stem = head + "=z" + hex.EncodeToString(sum[:])
	}
	return stem + suffix
}

func encode(role string) string {
	var b strings.Builder
	for i := range len(role) {
		switch c := role[i]; {
		case c >= 'a' && c <= 'z', c >= '0' && c <= '9', c == '-', c == '_':
			b.WriteByte(c)
		default:
			b.WriteString(escapeByte(c))
		}
	}
	return b.String()
}

func escapeByte(c byte) string { return "=" + hex.EncodeToString([]byte{c}) }

// reserved reports whether Windows takes a file of this name for a device, whatever follows the first dot (learn.microsoft.com,
// "Naming Files, Paths, and Namespaces").
func reserved(stem string) bool {
	switch stem {
	case "con", "prn", "aux", "nul":
		return true
	}
	return len(stem) == 4 && (stem[:3] == "com" || stem[:3] == "lpt") && stem[3] >= '0' && stem[3] <= '9'
}

// roleOf returns the role of a file. inside is what the file itself says, which counts only where the name was cut, and only if it has
// that name. ok is false for a file that is no role's.
func roleOf(file, inside string) (role string, ok bool) {
	stem, found := strings.CutSuffix(file, suffix)
	if !found {
		return "", false
	}
	if strings.Contains(stem, "=z") {
		return inside, inside != "" && FileName(inside) == file
	}
	var b strings.Builder
	for i := 0; i < len(stem); i++ {
		if stem[i] != '=' {
			b.WriteByte(stem[i])
			continue
		}
		raw, err := hex.DecodeString(stem[min(i+1, len(stem)):min(i+3, len(stem))])
		if err != nil || len(raw) != 1 {
			return "", false
		}
		b.Write(raw)
		i += 2
	}
	role = b.String()
	return role, role != "" && FileName(role) == file
}
