package text

import "strconv"

// Count is a number with its noun, of which it makes the regular plural: "1 record", "2 records".
func Count(n int, noun string) string { return strconv.Itoa(n) + " " + Plural(n, noun, noun+"s") }

// Plural is the word for one, or the word for any other number: Plural(n, "waits", "wait").
func Plural(n int, one, many string) string {
	if n == 1 {
		return one
	}
	return many
}
