//go:build !linux

package audit

// bootID says which start of the machine this is; "" if it cannot be known.
func bootID() string { return "" }
