// Package failure defines errors for people: what went wrong, how to mend it, and the kind of the failure. One table maps the kind to the
// exit code of a command, the code of a JSON-RPC error and the status of an HTTP response.
package failure

import (
	"errors"
	"fmt"
	"net/http"

	"github.com/go-json-experiment/json"

	"mycelium/internal/policy/sign"
	"mycelium/internal/rpc"
	"mycelium/internal/text"
)

// Kind is the kind of a failure.
type Kind int

// The kinds.
const (
	Other       Kind = iota // anything else
	Usage                   // the command line or a request is malformed
	Denied                  // a person or the policy does not allow it
	Config                  // a file of the project is wrong
	Invalid                 // a parameter has a value that cannot be used
	NotFound                // what was named does not exist
	NoRole                  // the role or skill does not exist here, or may not be taken
	Conflict                // too late: the thing named has changed
	Unavailable             // it cannot be done now: the log takes no record, nothing is served
	Ending                  // the node ended before the call ran: the next one has its request
)

// codes are the codes of a kind on each surface. Exit codes are the same for all commands (docs/reference). Each kind has its own
// JSON-RPC code, so that a client can recover the kind.
var codes = [...]struct{ exit, rpc, http int }{
	Other:       {1, rpc.CodeInternal, http.StatusInternalServerError},
	Usage:       {2, rpc.CodeInvalidRequest, http.StatusBadRequest},
	Denied:      {3, -32050, http.StatusForbidden},
	Config:      {4, -32055, http.StatusInternalServerError},
	Invalid:     {1, rpc.CodeInvalidParams, http.StatusBadRequest},
	NotFound:    {1, -32053, http.StatusNotFound},
	NoRole:      {1, -32051, http.StatusBadRequest},
	Conflict:    {1, -32052, http.StatusConflict},
	Unavailable: {1, -32056, http.StatusServiceUnavailable},
	Ending:      {1, rpc.CodeEnding, http.StatusServiceUnavailable},
}

// Exit is the exit code of a command that fails in this way.
func (k Kind) Exit() int { return codes[k].exit }

// HTTP is the status of a response.
func (k Kind) HTTP() int { return codes[k].http }

// RPC is the code of a JSON-RPC error.
func (k Kind) RPC() int { return codes[k].rpc }

// Error is an error of a kind. Its hint, where there is one, is that of Err: see [text.HintOf].
type Error struct {
	Kind Kind
	Err  error
}

func (e *Error) Error() string { return e.Err.Error() }
func (e *Error) Unwrap() error { return e.Err }

// New returns an error of a kind. hint may be empty.
func New(k Kind, err error, hint string) error { return &Error{k, text.Hinted(err, hint)} }

// Hint adds a hint to an error of no special kind.
func Hint(err error, hint string) error { return New(Other, err, hint) }

// Usagef is a usage error.
func Usagef(format string, args ...any) error { return New(Usage, fmt.Errorf(format, args...), "") }

// Of returns the outermost failure in an error's chain. An error without one is a failure of kind Usage if an answer lacks the second sign,
// else of kind Other.
func Of(err error) *Error {
	var e *Error
	var missing *sign.MissingError
	switch {
	case errors.As(err, &e):
		return e
	case errors.As(err, &missing):
		return &Error{Usage, err}
	}
	return &Error{Err: err}
}

// ToRPC returns the JSON-RPC error for an error; nil for nil.
func ToRPC(err error) *rpc.Error {
	if err == nil {
		return nil
	}
	e := Of(err)
	out := &rpc.Error{Code: e.Kind.RPC(), Message: err.Error()}
	d := data{Hint: text.HintOf(err)}
	if errors.As(err, &d.Sign); d != (data{}) {
		out.Data, _ = json.Marshal(d) // texts cannot fail
	}
	return out
}

// data is the member of a JSON-RPC error that carries the hint, and what an answer lacked.
type data struct {
	Hint string             `json:"hint,omitempty"`
	Sign *sign.MissingError `json:"sign,omitempty"`
}

// unsigned is an error that says that an answer lacked the second sign, as it came from elsewhere.
type unsigned struct {
	error
	missing *sign.MissingError
}

func (e *unsigned) Unwrap() []error { return []error{e.error, e.missing} }

// FromRPC finds the failure again in an error that ToRPC made. Every other error it returns as it is.
func FromRPC(err error) error {
	var e *rpc.Error
	if !errors.As(err, &e) {
		return err
	}
	kind := Other
	for k, c := range codes {
		if c.rpc == e.Code {
			kind = Kind(k)
		}
	}
	var d data
	if len(e.Data) > 0 && json.Unmarshal(e.Data, &d) != nil {
		d = data{}
	}
	if d.Sign != nil {
		return New(kind, &unsigned{e, d.Sign}, d.Hint)
	}
	return New(kind, e, d.Hint)
}
