package scan

import (
	"strings"
	"unicode"

	"mycelium/internal/credential"
)

// secrets looks for credentials.
func (t *passage) secrets() {
	s := t.raw
	told := map[string]bool{}
	for _, found := range credential.Find(s) {
		if told[found.Form.What] || !found.Sure || harmless(found.Form.Name, s[found.Start:found.End]) {
			continue
		}
		told[found.Form.What] = true
		t.add(Secret, Hard, t.where, s, found.Form.What)
	}
	if strings.ContainsAny(s, ":=") {
		for _, m := range t.inHeader.FindAllStringSubmatch(s, 4) {
			if random(m[1]) && !placeholder(m[1]) && !example(m[1]) {
				t.add(Secret, Hard, t.where, mask(s, m[1]), "a key")
			}
		}
	}
	if credential.EndsSensitive(t.propertyOf()) && t.place == inData && len(s) >= 8 && !strings.ContainsAny(s, " {}<>$*") && random(s) &&
		!placeholder(s) {
		t.add(Secret, Hard, t.where, mask(s, s), "a value whose name marks it as a secret")
	}
}

// harmless reports whether a text with the form of a secret is evidently not one.
func harmless(form, value string) bool {
	switch form {
	case credential.PasswordInAddress:
		return placeholder(value)
	case credential.PrivateKey:
		return false
	}
	return example(value)
}

// propertyOf is the name of the property whose default or example a value is.
func (t *passage) propertyOf() string {
	switch t.member {
	case "default", "const", "examples", "example", "enum":
		parts := strings.Split(t.where, ".")
		if len(parts) > 1 {
			return parts[len(parts)-2]
		}
	}
	return t.member
}

// mask shows the place of a secret without its value.
func mask(s, secret string) string {
	return strings.ReplaceAll(s, secret, secret[:min(4, len(secret)/3)]+"…")
}

// example reports whether a credential is evidently an example.
func example(s string) bool {
	l := strings.ToLower(s)
	if contains(l, "example", "xxxx", "your", "placeholder", "redacted", "dummy", "sample", "....", "1234567890abcdef") {
		return true
	}
	seen := map[rune]bool{}
	for _, r := range l {
		seen[r] = true
	}
	return len(seen) < 8 && len(l) < 64
}

// placeholder reports whether a password is a placeholder.
func placeholder(s string) bool {
	l := strings.ToLower(strings.Trim(s, "*<>{}[]$%"))
	switch l {
	case "", "password", "pass", "passwd", "pwd", "secret", "user", "pw", "changeme", "xxx", "xxxx", "token", "example", "postgres", "root",
		"test", "your_password", "your-password", "mypassword":
		return true
	}
	return strings.ContainsAny(s, "{}<>*$") || strings.HasPrefix(l, "your")
}

// random reports whether a value mixes letters and digits as random values do.
func random(s string) bool {
	digits, letters, other := 0, 0, 0
	for _, r := range s {
		switch {
		case unicode.IsDigit(r):
			digits++
		case unicode.IsLetter(r):
			letters++
		default:
			other++
		}
	}
	return digits >= 2 && letters >= 3 || digits >= 1 && letters >= 3 && other >= 1
}
