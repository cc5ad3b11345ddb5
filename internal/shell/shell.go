// Package shell reads a shell command and says what it would do: which programs run with which arguments, which paths are read,
// written, deleted or executed, which hosts are reached, and what was not understood. It is pure: it looks at the text and at nothing
// else; the gate resolves links afterwards.
package shell

import "mycelium/internal/policy"

// Options are what a command is read with.
type Options struct {
	Dir  string // working directory, absolute
	Home string // the user's home folder, for ~ and $HOME; empty: not known
}

// Facts says what a bash or sh command would do: one part for each simple command in it.
func Facts(command string, o Options) policy.Facts {
	return policy.Facts{Dir: o.Dir, Parts: []policy.Part{{
		Effects: []string{policy.EffectExecute, policy.EffectUnclear}, Unclear: []string{"the command was not read"},
	}}}
}
