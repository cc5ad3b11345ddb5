package approval

import "mycelium/internal/policy"

// Assess says how much harm a call can do and what kind of call it is.
func Assess(it policy.Item, notes policy.Annotations, f policy.Facts) (risk Risk, category string) {
	_, _, _ = it, notes, f
	return Critical, General
}

// The categories of calls (requirements, A30 and A51).
const (
	FileWrite = "FILE_WRITE"
	FileRead  = "FILE_READ"
	ShellExec = "SHELL_EXEC"
	Network   = "NETWORK"
	Database  = "DATABASE"
	VCS       = "VCS"
	General   = "GENERAL"
)
