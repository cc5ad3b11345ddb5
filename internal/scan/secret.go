package scan

import (
	"regexp"
	"strings"
	"unicode"
)

// A token is a kind of credential that can be told by its form. mark is in every one, so that most texts are never matched.
type token struct {
	mark string
	re   *regexp.Regexp
	what string
}

// credentialForms are those that are known.
func credentialForms() []token {
	return []token{
		{"AKIA", regexp.MustCompile(`\bAKIA[0-9A-Z]{16}\b`), "an AWS key"},
		{"gh", regexp.MustCompile(`\bgh[pousr]_[A-Za-z0-9]{20,}`), "a GitHub token"},
		{"github_pat_", regexp.MustCompile(`\bgithub_pat_[A-Za-z0-9_]{20,}`), "a GitHub token"},
		{"sk-", regexp.MustCompile(`\bsk-(?:ant-|proj-|or-)?[A-Za-z0-9_-]{24,}`), "an API key"},
		{"k_live_", regexp.MustCompile(`\b[sr]k_live_[A-Za-z0-9]{16,}`), "a payment key"},
		{"xox", regexp.MustCompile(`\bxox[abprs]-[0-9A-Za-z-]{20,}`), "a Slack token"},
		{"glpat-", regexp.MustCompile(`\bglpat-[A-Za-z0-9_-]{16,}`), "a GitLab token"},
		{"npm_", regexp.MustCompile(`\bnpm_[A-Za-z0-9]{30,}`), "an npm token"},
		{"dckr_pat_", regexp.MustCompile(`\bdckr_pat_[A-Za-z0-9_-]{20,}`), "a Docker token"},
		{"hf_", regexp.MustCompile(`\bhf_[A-Za-z0-9]{28,}`), "a Hugging Face token"},
		{"AIza", regexp.MustCompile(`\bAIza[A-Za-z0-9_-]{30,}`), "a Google key"},
		{"PRIVATE KEY", regexp.MustCompile(`-----BEGIN [A-Z ]*PRIVATE KEY`), "a private key"},
		{"AGE-SECRET-KEY-", regexp.MustCompile(`AGE-SECRET-KEY-1[0-9A-Z]{40,}`), "an age key"},
		{"eyJ", regexp.MustCompile(`\beyJ[A-Za-z0-9_-]{8,}\.eyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{16,}`), "a signed token"},
		{"hooks.slack.com", regexp.MustCompile(`hooks\.slack\.com/services/T[0-9A-Z]{6,}/B[0-9A-Z]{6,}/[A-Za-z0-9]{16,}`), "a webhook"},
		{"api/webhooks/", regexp.MustCompile(`api/webhooks/[0-9]{15,}/[A-Za-z0-9_-]{30,}`), "a webhook"},
		{"Bearer ", regexp.MustCompile(`Bearer [A-Za-z0-9._~+/-]{20,}`), "a bearer token"},
		{"Basic ", regexp.MustCompile(`Basic [A-Za-z0-9+/]{16,}={0,2}`), "a password"},
		{"SG.", regexp.MustCompile(`\bSG\.[A-Za-z0-9_-]{16,}\.[A-Za-z0-9_-]{30,}`), "a mail key"},
		{":AA", regexp.MustCompile(`\b[0-9]{8,10}:AA[A-Za-z0-9_-]{30,}`), "a bot token"},
		{"1//0", regexp.MustCompile(`1//0[A-Za-z0-9_-]{30,}`), "a refresh token"},
	}
}

// secrets looks for credentials.
func (t *passage) secrets() {
	s := t.raw
	for _, k := range t.tokens {
		if !strings.Contains(s, k.mark) {
			continue
		}
		for _, m := range k.re.FindAllString(s, 4) {
			if !example(m) {
				t.add(Secret, Hard, t.where, mask(s, m), k.what)
			}
		}
	}
	if strings.Contains(s, "://") {
		for _, m := range t.inURL.FindAllStringSubmatch(s, 4) {
			if !placeholder(m[1]) {
				t.add(Secret, Hard, t.where, mask(s, m[1]), "a password in an address")
			}
		}
	}
	if strings.ContainsAny(s, ":=") {
		for _, m := range t.inHeader.FindAllStringSubmatch(s, 4) {
			if random(m[1]) && !placeholder(m[1]) && !example(m[1]) {
				t.add(Secret, Hard, t.where, mask(s, m[1]), "a key")
			}
		}
	}
	if t.secretKey.MatchString(t.belongs()) && t.place == inData && len(s) >= 8 && !strings.ContainsAny(s, " {}<>$*") && random(s) && !placeholder(s) {
		t.add(Secret, Hard, t.where, mask(s, s), "a value under a name that says it is secret")
	}
}

// belongs is the name of what a value is for: of a default or an example, the property that has it.
func (t *passage) belongs() string {
	switch t.member {
	case "default", "const", "examples", "example", "enum":
		parts := strings.Split(t.where, ".")
		if len(parts) > 1 {
			return parts[len(parts)-2]
		}
	}
	return t.member
}

// mask shows where a secret is without showing it.
func mask(s, secret string) string {
	return strings.ReplaceAll(s, secret, secret[:min(4, len(secret)/3)]+"…")
}

// example reports whether a credential says that it is none.
func example(s string) bool {
	l := strings.ToLower(s)
	if contains(l, "example", "xxxx", "your", "placeholder", "redacted", "dummy", "sample", "....", "1234567890abcdef") {
		return true
	}
	seen := map[rune]bool{}
	for _, r := range l {
		seen[r] = true
	}
	return len(seen) < 8 && len(l) < 64 && !strings.Contains(s, "PRIVATE KEY")
}

// placeholder reports whether a password stands for one.
func placeholder(s string) bool {
	l := strings.ToLower(strings.Trim(s, "*<>{}[]$%"))
	switch l {
	case "", "password", "pass", "passwd", "pwd", "secret", "user", "pw", "changeme", "xxx", "xxxx", "token", "example", "postgres", "root", "test", "your_password", "your-password", "mypassword":
		return true
	}
	return strings.ContainsAny(s, "{}<>*$") || strings.HasPrefix(l, "your")
}

// random reports whether a value has letters and digits mixed as chance does.
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
