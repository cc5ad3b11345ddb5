package files

import (
	"math"
	"strings"

	"mycelium/internal/shell/effect"
	"mycelium/internal/shell/program"
)

// sparse is the size of a file with holes, in bytes, past which a person is asked: who copies it fills the disk. Images of machines have
// 10 GB.
const sparse = 10 << 30

// fills asks about a size of more than a number of bytes.
func fills(c *program.Call, size program.Word, most float64) {
	if size.Unknown || program.Bytes(strings.TrimLeft(size.Text, "+<>/%")) > most {
		c.Does |= effect.Unusable
	}
}

// resize handles truncate and fallocate. What truncate adds to a file takes no place on the disk.
func resize(c *program.Call) {
	if size, ok := c.Value("s"); ok {
		fills(c, size, sparse)
	}
	if size, ok := c.Value("l"); ok {
		fills(c, size, program.MostWritten)
	}
}

// fillsWith looks whether dd copies without an end, or too much. Its operands are of the form count=N.
func fillsWith(c *program.Call) {
	block, count := 512.0, math.Inf(1)
	from, file := "", false
	for _, t := range c.Operands {
		key, val, _ := strings.Cut(t.Text, "=")
		switch key {
		case "bs", "obs", "ibs":
			block = program.Bytes(val)
		case "count":
			count = program.Bytes(val)
		case "if":
			from = val
		case "of":
			file = !program.IsStream(val)
		case "seek", "oseek":
			if program.Bytes(val)*block > sparse {
				c.Does |= effect.Unusable
			}
		}
	}
	endless := program.Endless(from)
	if from == "" {
		endless = c.Input.Endless || c.Input.File != nil && program.Endless(c.Input.File.Text)
	}
	if endless && block*count > program.MostWritten {
		if c.Endless = true; file {
			c.Does |= effect.Unusable
		}
	}
}
