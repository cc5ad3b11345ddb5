package yamlfile

import "strings"

// Letters of the names that files may use.
const (
	Lower  = "abcdefghijklmnopqrstuvwxyz"
	Upper  = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
	Digits = "0123456789"
)

// Word is the form of a name: a first letter, and any number of others. Regular expressions for these forms would cost more than a
// millisecond at every start.
type Word struct {
	First, Rest string // the letters, all of them ASCII
	Most        int    // bytes; 0: any number
}

// MatchString reports whether s has the form.
func (w Word) MatchString(s string) bool {
	if s == "" || w.Most > 0 && len(s) > w.Most || strings.IndexByte(w.First, s[0]) < 0 {
		return false
	}
	for i := 1; i < len(s); i++ {
		if strings.IndexByte(w.Rest, s[i]) < 0 {
			return false
		}
	}
	return true
}
