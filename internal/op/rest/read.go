package rest

import (
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"net/url"
	"reflect"
	"strconv"
	"strings"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"mycelium/internal/op"
	"mycelium/internal/op/failure"
	"mycelium/internal/op/schema"
	"mycelium/internal/policy/sign"
	"mycelium/internal/rawjson"
	"mycelium/internal/text"
)

// MaxBody is the largest body of a request, in bytes.
const MaxBody = 64 << 10

// Answer sends the result of an operation, or its error as a [Problem]. A file of the project that a request would make wrong is an error of
// the request.
func Answer(w http.ResponseWriter, r *http.Request, result any, err error) {
	if err == nil {
		JSON(w, result)
		return
	}
	status := failure.Of(err).Kind.HTTP()
	if failure.Of(err).Kind == failure.Config && r.Method != http.MethodGet {
		status = http.StatusBadRequest
	}
	var u *unread
	if errors.As(err, &u) {
		status = u.status
	}
	Fail(w, status, err)
}

// unread is an error about a body that was not read, with its status.
type unread struct {
	status int
	error
}

func (e *unread) Unwrap() error { return e.error }

// JSON sends a value. A list that is nil is written as an empty one.
func JSON(w http.ResponseWriter, v any) {
	b, err := json.Marshal(v, json.Deterministic(true))
	if err != nil {
		http.Error(w, "this answer cannot be written: "+err.Error(), http.StatusInternalServerError)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	_, _ = w.Write(append(b, '\n')) // a client that has gone reads nothing
}

// Fail sends an error as a [Problem].
func Fail(w http.ResponseWriter, status int, err error) {
	p := Problem{Type: "about:blank", Title: http.StatusText(status), Status: status, Detail: text.Visible(err.Error()),
		Hint: text.Visible(text.HintOf(err)), Code: codeOf(err)}
	var unsigned *sign.MissingError
	if errors.As(err, &unsigned) {
		p.Missing = string(unsigned.Missing)
	}
	b, writing := json.Marshal(p, jsontext.AllowInvalidUTF8(true))
	if writing != nil {
		http.Error(w, "this problem cannot be written: "+writing.Error(), http.StatusInternalServerError)
		return
	}
	w.Header().Set("Content-Type", problemType)
	w.WriteHeader(status)
	_, _ = w.Write(append(b, '\n')) // a client that has gone reads nothing
}

// codeOf is the code of an error in a [Problem] (D17).
func codeOf(err error) string {
	switch failure.Of(err).Kind {
	case failure.NotFound:
		return "NOT_FOUND"
	case failure.Usage, failure.Invalid, failure.Config, failure.NoRole:
		return "BAD_REQUEST"
	case failure.Conflict:
		return "CONFLICT"
	case failure.Denied:
		return "FORBIDDEN"
	case failure.Unavailable, failure.Ending:
		return "UNAVAILABLE"
	case failure.Other:
	}
	return "INTERNAL"
}

// Read fills in the parameters of an operation from a request. into points to a value of each type of Params, in their order. A
// parameter that the operation does not take is refused: a filter whose name is wrong would otherwise show everything.
func (o *Operation) Read(w http.ResponseWriter, r *http.Request, into ...any) error {
	query, err := url.ParseQuery(r.URL.RawQuery)
	if err != nil {
		return failure.Usagef("the query of the address cannot be read: %w", err)
	}
	for i, t := range o.Params {
		value := reflect.ValueOf(into[i]).Elem()
		sent := map[string]bool{}
		for f := range op.Fields(t) {
			if at, name := o.place(f); at == "body" {
				sent[name] = true
			}
		}
		if len(sent) > 0 {
			if err := readBody(w, r, into[i], sent); err != nil {
				return err
			}
		}
		for f := range op.Fields(t) {
			text := ""
			switch at, name := o.place(f); at {
			case "path":
				text = r.PathValue(name)
			case "query":
				if len(query[name]) > 1 {
					return failure.Usagef("%s stands %d times in the address: it may stand there once", name, len(query[name]))
				}
				text = query.Get(name)
				query.Del(name)
			}
			if text == "" {
				continue
			}
			if err := set(value.FieldByIndex(f.Index), text, f); err != nil {
				_, name := o.place(f)
				return failure.New(failure.Usage, fmt.Errorf("%s: %w", name, err), f.Tag.Get("about"))
			}
		}
	}
	for name := range query {
		return failure.New(failure.Usage, fmt.Errorf("there is no parameter %q", text.OneLine(name)),
			"the document of the API (/api/openapi.yaml of the pages) says what each operation takes")
	}
	return nil
}

// readBody reads the body of a request: one JSON object with the members that the operation takes there, and no others.
func readBody(w http.ResponseWriter, r *http.Request, into any, known map[string]bool) error {
	if kind, _, err := mime.ParseMediaType(r.Header.Get("Content-Type")); err != nil || kind != "application/json" {
		return &unread{http.StatusUnsupportedMediaType, failure.New(failure.Usage, errors.New("the request is not marked as JSON"),
			"send the header Content-Type: application/json")}
	}
	b, err := io.ReadAll(http.MaxBytesReader(w, r.Body, MaxBody))
	var large *http.MaxBytesError
	if errors.As(err, &large) {
		return &unread{http.StatusRequestEntityTooLarge, failure.Usagef("what was sent has more than %d bytes", MaxBody)}
	}
	if err == nil {
		err = rawjson.Decode(b, into, json.RejectUnknownMembers(true))
	}
	var members map[string]jsontext.Value
	if err == nil {
		err = rawjson.Decode(b, &members)
	}
	for name := range members {
		if !known[name] {
			err = fmt.Errorf("there is no member %q", text.OneLine(name))
		}
	}
	if err != nil {
		return failure.New(failure.Usage, fmt.Errorf("what was sent cannot be read: %w", err), "the document of the API (/api/openapi.yaml of the pages) says what it has to be")
	}
	return nil
}

// set reads the text of a parameter.
func set(into reflect.Value, value string, f reflect.StructField) error {
	if of := f.Tag.Get("of"); of != "" {
		known := false
		for one := range strings.SplitSeq(of, ",") {
			known = known || one == value
		}
		if !known {
			return fmt.Errorf("%q is none of %s", text.OneLine(value), strings.ReplaceAll(of, ",", ", "))
		}
	}
	if into.Kind() == reflect.String {
		into.SetString(value)
		return nil
	}
	switch v := into.Addr().Interface().(type) {
	case *bool:
		b, err := strconv.ParseBool(value)
		if err != nil {
			return fmt.Errorf("%q is neither true nor false", text.OneLine(value))
		}
		*v = b
	case **bool:
		b, err := strconv.ParseBool(value)
		if err != nil {
			return fmt.Errorf("%q is neither true nor false", text.OneLine(value))
		}
		*v = &b
	case *int:
		n, err := strconv.Atoi(value)
		least, most, bounded := schema.Bounds(f)
		if err != nil || n < least || bounded && n > most {
			return fmt.Errorf("%q is no number from %d to %d", text.OneLine(value), least, most)
		}
		*v = n
	case *time.Time:
		t, err := time.Parse(time.RFC3339, value)
		if err != nil {
			return fmt.Errorf("%q is no time as 2026-11-27T08:00:00Z", text.OneLine(value))
		}
		*v = t
	default:
		return fmt.Errorf("a parameter of type %v cannot be read", into.Type())
	}
	return nil
}
