//go:build misread

package facts

import (
	"mycelium/internal/policy"
	"mycelium/internal/shell"
)

// This build has a reader of commands that is always wrong, for the test of the promise of the wall (test/chains, TestWall): whatever a command
// does, the reader says that it does what the command Misreads does. Nobody ships it.

// Misreads is the command as which every command is read. The linker can set another one (-X).
var Misreads = "true"

func init() {
	misread = func(dir, home string) policy.Facts { return shell.Facts(Misreads, shell.Options{Dir: dir, Home: home}) }
}
