//go:build unix && !linux

package worktree

import "syscall"

func changeTime(st *syscall.Stat_t) syscall.Timespec { return st.Ctimespec }
