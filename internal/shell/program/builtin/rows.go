// Package builtin knows what the shell does itself: cd, export, eval and the like.
package builtin

import (
	"mycelium/internal/shell/effect"
	"mycelium/internal/shell/program"
)

// Rows are the builtins of the shell, sorted by name.
var Rows = []program.Row{
	{Name: ".", Style: program.First, Parse: source},
	{Name: ":", Operands: "v*"},
	{Name: "[", Parse: test},
	{Name: "alias", Handle: alias},
	{Name: "bg", Operands: "v*"},
	{Name: "break", Handle: leaveTurn},
	{Name: "builtin", Style: program.First, Parse: command},
	{Name: "cd", Options: "P L", Handle: changeDir},
	{Name: "command", Style: program.First, Options: "v V p", Parse: command},
	{Name: "continue", Handle: leaveTurn},
	{Name: "declare", Options: "n l u c i", Handle: exportNames},
	{Name: "dirs", Operands: "v*"},
	{Name: "disown", Operands: "v*"},
	{Name: "echo", Operands: "v*"},
	{Name: "enable", Options: "f=x", Does: effect.Unclear}, // what a builtin's name means changes
	{Name: "eval", Parse: eval},
	{Name: "exec", Style: program.First, Options: "a=v c l", Parse: exec},
	{Name: "exit", Handle: leave},
	{Name: "export", Handle: exportNames},
	{Name: "false", Operands: "v*"},
	{Name: "fc", Does: effect.Unclear},
	{Name: "fg", Operands: "v*"},
	{Name: "getopts", Handle: forgetNames},
	{Name: "hash", Options: "p=x", Operands: "v*"},
	{Name: "help", Operands: "v*"},
	{Name: "history", Options: "a=? w=? c d=v", Does: effect.Secrets},
	{Name: "jobs", Operands: "v*"},
	{Name: "let", Operands: "v*"},
	{Name: "local", Options: "n l u c i", Handle: exportNames},
	{Name: "mapfile", Options: "d=v n=v O=v s=v u=v C=c c=v t", Handle: mapFile},
	{Name: "popd", Handle: popDir},
	{Name: "printf", Options: "v=v", Handle: printf},
	{Name: "pushd", Handle: changeDir},
	{Name: "pwd", Operands: "v*"},
	{Name: "read", Options: "a=v d=v i=v n=v N=v p=v t=v u=v r s e", Handle: read},
	{Name: "readarray", Same: "mapfile"},
	{Name: "readonly", Handle: exportNames},
	{Name: "return", Handle: leave},
	{Name: "set", Parse: setOptions},
	{Name: "shift", Handle: shiftArguments},
	{Name: "shopt", Does: effect.Unclear}, // what patterns match may change
	{Name: "source", Style: program.First, Parse: source},
	{Name: "test", Parse: test},
	{Name: "times", Operands: "v*"},
	{Name: "trap", Handle: trap},
	{Name: "true", Operands: "v*"},
	{Name: "type", Operands: "v*"},
	{Name: "typeset", Options: "n l u c i", Handle: exportNames},
	{Name: "ulimit", Operands: "v*"},
	{Name: "umask", Handle: umask},
	{Name: "unalias", Operands: "v*"},
	{Name: "unset", Handle: forgetNames},
	{Name: "wait", Operands: "v*"},
	{Name: "whence", Operands: "v*"},
}
