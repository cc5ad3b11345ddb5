package text

import "errors"

// HintedError is an error and what a person can do about it. Error is the text without the hint: a surface shows the hint in
// its own place.
type HintedError struct {
	Err  error
	Hint string
}

func (e *HintedError) Error() string { return e.Err.Error() }
func (e *HintedError) Unwrap() error { return e.Err }

// Hinted adds a hint to an error.
func Hinted(err error, hint string) error { return &HintedError{err, hint} }

// HintOf is the hint of an error, or "". Of several the outermost counts.
func HintOf(err error) string {
	var e *HintedError
	if errors.As(err, &e) {
		return e.Hint
	}
	return ""
}

// Describe is an error with its hint, for a place that has room for one text.
func Describe(err error) string { return WithHint(err.Error(), HintOf(err)) }

// WithHint is a message with its hint, for a place that has room for one text.
func WithHint(message, hint string) string {
	if hint == "" {
		return message
	}
	return message + " (hint: " + hint + ")"
}
