// Package failure is an error as people read it: what went wrong, how to mend it, and with which exit code the command ends.
package failure

import (
	"fmt"
)

// Exit codes of every command (cli.md).
const (
	ExitFailed = 1
	ExitUsage  = 2
	ExitDenied = 3
	ExitConfig = 4
)

// Error is an error with an exit code and, where one helps, a hint.
type Error struct {
	Code int
	Err  error
	Hint string
}

func (f *Error) Error() string { return f.Err.Error() }

func (f *Error) Unwrap() error { return f.Err }

func Usagef(format string, args ...any) error {
	return &Error{Code: ExitUsage, Err: fmt.Errorf(format, args...)}
}

func Config(err error, hint string) error {
	return &Error{Code: ExitConfig, Err: err, Hint: hint}
}

func Denied(err error, hint string) error {
	return &Error{Code: ExitDenied, Err: err, Hint: hint}
}

func Hint(err error, hint string) error { return &Error{Code: ExitFailed, Err: err, Hint: hint} }
