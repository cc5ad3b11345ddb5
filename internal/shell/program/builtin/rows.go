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
	{Name: "alias", Plain: "p", Handle: alias},
	{Name: "bg", Operands: "v*"},
	{Name: "break", Handle: leaveTurn},
	{Name: "builtin", Style: program.First, Parse: command},
	{Name: "cd", Plain: "e @", Options: "P L", Handle: changeDir},
	{Name: "command", Style: program.First, Options: "v V", Plain: "p", Parse: command},
	{Name: "continue", Handle: leaveTurn},
	{Name: "declare", Options: "n l u c i", Plain: plainDeclare, Handle: exportNames},
	{Name: "dirs", Plain: "c l p v #", Operands: "v*"},
	{Name: "disown", Plain: "h a r", Operands: "v*"},
	{Name: "echo", Operands: "v*"},
	{Name: "enable", Options: "f=x", Does: effect.Unclear}, // what a builtin's name means changes
	{Name: "eval", Parse: eval},
	{Name: "exec", Style: program.First, Options: "a=v c", Plain: "l", Parse: exec},
	{Name: "exit", Handle: leave},
	{Name: "export", Options: "n", Plain: "f p", Handle: exportNames},
	{Name: "false", Operands: "v*"},
	{Name: "fc", Does: effect.Unclear},
	{Name: "fg", Operands: "v*"},
	{Name: "getopts", Handle: forgetNames},
	{Name: "hash", Options: "p=x", Plain: "l r d t", Operands: "v*", Handle: place},
	{Name: "help", Plain: "d m s", Operands: "v*"},
	{Name: "history", Plain: "c", Options: "a w r n d=v p s", Does: effect.Secrets, Handle: history},
	{Name: "jobs", Plain: "l n p r s", Operands: "v*"},
	{Name: "let", Operands: "v*"},
	{Name: "local", Options: "n l u c i", Plain: plainDeclare, Handle: exportNames},
	{Name: "mapfile", Options: "d=v n=v O=v s=v u=v C=c c=v", Plain: "t", Handle: mapFile},
	{Name: "popd", Plain: "n", Handle: popDir},
	{Name: "printf", Options: "v=v", Handle: printf},
	{Name: "pushd", Plain: "n", Handle: changeDir},
	{Name: "pwd", Plain: "L P", Operands: "v*"},
	{Name: "read", Options: "a=v d=v i=v n=v N=v p=v t=v u=v r s", Plain: "e E", Handle: read},
	{Name: "readarray", Same: "mapfile"},
	{Name: "readonly", Plain: "a A f p", Handle: exportNames},
	{Name: "return", Handle: leave},
	{Name: "set", Parse: setOptions},
	{Name: "shift", Handle: shiftArguments},
	{Name: "shopt", Does: effect.Unclear}, // what patterns match may change
	{Name: "source", Style: program.First, Parse: source},
	{Name: "test", Parse: test},
	{Name: "times", Operands: "v*"},
	{Name: "trap", Plain: "l p P", Handle: trap},
	{Name: "true", Operands: "v*"},
	{Name: "type", Plain: "a f p t P", Operands: "v*"},
	{Name: "typeset", Options: "n l u c i", Plain: plainDeclare, Handle: exportNames},
	{Name: "ulimit", Plain: "S H a b c d e f i k l m n p q r s t u v x P R T", Operands: "v*"},
	{Name: "umask", Plain: "p S", Handle: umask},
	{Name: "unalias", Plain: "a", Operands: "v*"},
	{Name: "unset", Plain: "f v n", Handle: forgetNames},
	{Name: "wait", Plain: "f n", Operands: "v*"},
	{Name: "whence", Plain: "a c f m p s S v w", Operands: "v*"},
}

// plainDeclare are the options of declare, local and typeset that only say what a variable is like.
const plainDeclare = "a A f F g I p r t x"
