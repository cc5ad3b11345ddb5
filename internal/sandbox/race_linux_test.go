//go:build race

package sandbox

func init() { withDetector = true }
