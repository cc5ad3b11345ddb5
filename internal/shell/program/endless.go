package program

import (
	"math"
	"strconv"
	"strings"

	"mycelium/internal/policy"
	"mycelium/internal/shell/effect"
)

// MostWritten is how much, in bytes, a command may write that makes up what it writes, before a person is asked: it may fill the disk.
// GitHub takes no file of more than 100 MiB into a repository; a test needs no more than twice that.
const MostWritten = 256 << 20

// Bytes reads a number with a unit: 10M, 1T, 100GB, 4KiB. What it cannot read is beyond every bound.
func Bytes(s string) float64 {
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

// Endless reports whether a file never ends.
func Endless(name string) bool { return Named("/dev/zero|/dev/urandom|/dev/random|/dev/full", name) }

// flows marks a command that writes a stream without an end, or with one that is too far away, into a file. A stream that it only passes on
// is the input of the command behind the pipe.
func flows(c *Call) {
	if !c.Endless && !writesWithoutEnd(c) {
		return
	}
	c.Walk.Endless = true
	writes := c.Files != nil && c.Files.Does&effect.Write != 0
	for _, p := range c.Part.Paths {
		writes = writes || p.Access == policy.Write && copies(c.Part.Program)
	}
	if writes {
		c.Does |= effect.Unusable
	}
}

// writesWithoutEnd reports whether the output of the command has no end.
func writesWithoutEnd(c *Call) bool {
	switch c.Part.Program {
	case "yes":
		return true
	case "seq":
		const lines = MostWritten / 10 // of about ten bytes
		for _, o := range c.Operands {
			if Bytes(strings.TrimPrefix(o.Text, "-")) > lines || o.Unknown {
				return true
			}
		}
	case "head":
		v, ok := c.Value("c")
		return ok && (v.Unknown || Bytes(v.Text) > MostWritten) && readsWithoutEnd(c)
	}
	return copies(c.Part.Program) && readsWithoutEnd(c)
}

// readsWithoutEnd reports whether the input of the command has no end.
func readsWithoutEnd(c *Call) bool {
	piped := c.Input.Endless || c.Input.File != nil && Endless(c.Input.File.Text)
	if piped && !Named("cp|install|rsync", c.Part.Program) { // these read no standard input
		return true
	}
	for i := range c.Words {
		if Endless(c.Words[i].Text) {
			return true
		}
	}
	return false
}

// copies reports whether a program writes about as much as it reads.
func copies(name string) bool {
	switch name {
	case "cat", "tac", "tee", "tr", "sed", "awk", "gawk", "mawk", "base32", "base64", "xxd", "od", "hexdump", "pv", "gzip", "bzip2", "xz",
		"zstd", "split", "csplit", "fold", "fmt", "cut", "rev", "nl", "expand", "unexpand", "paste", "openssl", "iconv", "uniq", "grep",
		"strings", "tail", "sponge", "cp", "install", "rsync", "stdbuf", "buffer", "ts":
		return true
	}
	return false
}
