//go:build !unix

package httpserver

// defaultMost is the bound of connections, of which each costs about 20 KiB.
func defaultMost() int { return 4096 }
