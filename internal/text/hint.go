package text

import "errors"

// hinted is an error and what a person can do about it. Its text is that of the error alone: a surface shows the hint in its own
// place.
type hinted struct {
	error
	hint string
}

func (h *hinted) Unwrap() error { return h.error }
func (h *hinted) Hint() string  { return h.hint }

// Hinted adds a hint to an error. Without a hint it returns the error as it is.
func Hinted(err error, hint string) error {
	if hint == "" {
		return err
	}
	return &hinted{err, hint}
}

// HintOf is the hint of an error, or "". The outermost error with a method Hint counts.
func HintOf(err error) string {
	var h interface{ Hint() string }
	if errors.As(err, &h) {
		return h.Hint()
	}
	return ""
}

// Describe is an error with its hint, for a place that has room for one text: an agent's answer, a line of the log.
func Describe(err error) string {
	if hint := HintOf(err); hint != "" {
		return err.Error() + " (hint: " + hint + ")"
	}
	return err.Error()
}
