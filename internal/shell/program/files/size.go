package files

import (
	"math"
	"strconv"
	"strings"

	"mycelium/internal/shell/effect"
	"mycelium/internal/shell/program"
)

// most is the size of a file, in bytes, past which a person is asked: it may fill the disk.
const most = 10 << 30

// fills asks about a size as truncate, fallocate and head take it.
func fills(c *program.Call, size program.Word) {
	if size.Unknown || bytes(strings.TrimLeft(size.Text, "+<>/%")) > most {
		c.Does |= effect.Unusable
	}
}

// bytes reads a number with a unit: 10M, 1T, 100GB, 4KiB. What it cannot read is beyond every bound.
func bytes(s string) float64 {
	digits := strings.TrimRight(s, "kKMGTPEZYRQiBbcw")
	n, err := strconv.ParseFloat(digits, 64)
	if err != nil {
		if n, err := strconv.ParseInt(digits, 0, 64); err == nil {
			return float64(n)
		}
		return math.Inf(1)
	}
	unit := strings.ToUpper(strings.TrimSuffix(s[len(digits):], "B"))
	if unit == "" {
		return n
	}
	if power := strings.Index("KMGTPEZYRQ", unit[:1]); power >= 0 {
		return n * math.Pow(1024, float64(power+1))
	}
	return n * 512 // the blocks of dd
}

// resize handles truncate, fallocate and mkfile.
func resize(c *program.Call) {
	if size, ok := c.Value("s"); ok {
		fills(c, size)
	}
	if size, ok := c.Value("l"); ok {
		fills(c, size)
	}
}

// fillsWith looks whether dd copies without an end, or too much. Its operands are of the form count=N.
func fillsWith(c *program.Call) {
	block, count, endless := 512.0, math.Inf(1), false
	file := false
	for _, t := range c.Operands {
		key, val, _ := strings.Cut(t.Text, "=")
		switch key {
		case "bs", "obs", "ibs":
			block = bytes(val)
		case "count":
			count = bytes(val)
		case "if":
			endless = program.Named("/dev/zero|/dev/urandom|/dev/random|/dev/full", val)
		case "of":
			file = !program.IsStream(val)
		case "seek", "oseek":
			if bytes(val)*block > most {
				c.Does |= effect.Unusable
			}
		}
	}
	if file && endless && block*count > most {
		c.Does |= effect.Unusable
	}
}
