package wrapper

import "mycelium/internal/shell/program"

// MoreRows are wrappers that are not in every system, sorted by name.
var MoreRows = []program.Row{
	{Name: "chronic", Style: program.First, Plain: "v e", Parse: program.RunOperands},
	{Name: "entr", Style: program.First, Options: "s", Plain: "a c d n p r x z", Parse: onChange},
	{Name: "valgrind", Style: program.First, Options: "log-file=w xml-file=w callgrind-out-file=w cachegrind-out-file=w massif-out-file=w " +
		"suppressions=r", Plain: "tool=? leak-check=? show-leak-kinds=? show-reachable=? track-origins=? track-fds=? error-exitcode=? " +
		"num-callers=? " +
		"gen-suppressions=? trace-children=? xml=? child-silent-after-fork=? errors-for-leak-kinds=? s v q quiet verbose version help h",
		Parse: program.RunOperands},
}

// onChange handles entr: it runs its operands, or with -s the first as a command line.
func onChange(c *program.Call, args []program.Word) {
	c.Scan(args)
	if c.Has("s") && len(c.Operands) > 0 {
		c.RunText(c.Operands[0], c.Operands[1:])
		return
	}
	c.RunProcess(c.Operands)
}
