package language

import (
	"regexp"
	"strings"

	"mycelium/internal/policy"
	"mycelium/internal/shell/effect"
	"mycelium/internal/shell/program"
)

// Perl is used as sed is: perl -pe s/a/b/. Such code is read if it only matches, replaces and prints. In a pattern, and in what replaces
// it, neither an @ nor a $ before a name or a bracket may stand, because Perl runs what they hold.
const (
	perlMatched = `/(?:[^/@$\\\n]|\\[^@$\n]|\\\$|\$[)|])*\$?/`
	perlReplace = `s` + perlMatched + `(?:[^/@$\\\n]|\\[^@\n]|\$[0-9&])*/[gimsx]*`
	// perlRuns matches groups that may run code, and elements of lists, whose index may.
	perlRuns = `\(\s*\?\s*[^:=!<]|\(\*|\$[0-9&]+[\[{:-]`
	perlOne  = `(?:(?:print|next|last)(?: +(?:if|unless) +!?` + perlMatched + `[imsxg]*)?|` + perlReplace + `)`
)

// substitutes handles perl where it only matches, replaces and prints lines of files, and reports whether it does.
func substitutes(c *program.Call) bool {
	if c.Part.Program != "perl" || !c.HasAny("n", "p") {
		return false
	}
	scripts := 0
	for _, o := range c.Options {
		switch o.Name {
		case "e":
			scripts++
			code := o.Value
			if code.Unknown || code.Pattern || !onlyReplaces(code.Text) {
				return false
			}
		case "n", "p", "l", "0", "i":
		default:
			return false
		}
	}
	for _, w := range c.Operands { // Perl runs what stands before or behind a bar
		if w.Unknown || w.Text == "" || !isWordByte(w.Text[len(w.Text)-1]) {
			return false
		}
		if !isWordByte(w.Text[0]) && strings.IndexByte("./_", w.Text[0]) < 0 {
			return false
		}
	}
	if scripts != 1 || len(c.Part.Unclear) > 0 {
		return false
	}
	c.Does &^= effect.InlineCode
	for _, w := range c.Operands {
		c.File(policy.Read, w)
	}
	if suffix, ok := c.Value("i"); ok || c.Has("i") {
		program.InPlace(c, c.Operands, suffix)
	}
	return true
}

func isWordByte(b byte) bool {
	return b|0x20 >= 'a' && b|0x20 <= 'z' || b >= '0' && b <= '9'
}

// onlyReplaces reports whether a script of perl only matches, replaces and prints. It is asked so seldom that the patterns are compiled
// each time.
func onlyReplaces(script string) bool {
	text := regexp.MustCompile(`^\s*` + perlOne + `(?:\s*;\s*` + perlOne + `)*\s*;?\s*$`)
	return text.MatchString(script) && !regexp.MustCompile(perlRuns).MatchString(script)
}
