// Package box knows the names of the sandbox's profiles, and which of two is the narrower one.
package box

import (
	"errors"
	"fmt"
	"slices"
	"strings"
)

// Project is the profile for work on the project. It is neither narrower nor wider than the others: they do not write the project, and it
// has no limits.
const Project = "project"

// widths are the other profiles, the narrowest first. Package sandbox says what each allows.
var widths = [...]string{"strict", "standard", "permissive"}

// Names lists the profiles, the narrowest first.
func Names() []string { return append(widths[:len(widths):len(widths)], Project) }

// Check refuses a profile in a rule if there is none of that name, or if the rule denies: then no call runs. "" is no profile.
func Check(profile string, denies bool) error {
	switch {
	case profile == "":
		return nil
	case !slices.Contains(Names(), profile):
		return fmt.Errorf("sandbox: there is no profile %q; write one of %s", profile, strings.Join(Names(), ", "))
	case denies:
		return errors.New("sandbox: a call that is denied does not run; write it in a rule that allows or asks")
	}
	return nil
}

// Narrower returns the narrower of two profiles; "" is no sandbox, which is the widest. ok is false where neither is: then the profile is
// the one that does not write the project.
func Narrower(a, b string) (profile string, ok bool) {
	switch {
	case a == b || b == "":
		return a, true
	case a == "":
		return b, true
	case a == Project:
		return b, false
	case b == Project:
		return a, false
	}
	return widths[min(slices.Index(widths[:], a), slices.Index(widths[:], b))], true
}
