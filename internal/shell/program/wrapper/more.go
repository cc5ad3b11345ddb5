package wrapper

import "mycelium/internal/shell/program"

// MoreRows are wrappers that are not in every system, sorted by name.
var MoreRows = []program.Row{
	{Name: "chronic", Style: program.First, Plain: "v e", Parse: program.RunOperands},
	{Name: "entr", Style: program.First, Options: "s", Plain: "a c d n p r x z", Parse: onChange},
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
