// Package lazy makes values when they are first used.
package lazy

import (
	"regexp"
	"sync"
)

// Regexp returns a regular expression that is compiled when it is first used. Compiled as a variable of a package, it would cost time in
// every start of the program, and most commands need few of them. A pattern that is wrong panics at the first use.
func Regexp(pattern string) func() *regexp.Regexp {
	return sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(pattern) })
}
