package site

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

	"mycelium/internal/node/failure"
	"mycelium/internal/policy/sign"
	"mycelium/internal/rawjson"
	"mycelium/internal/text"
	"mycelium/internal/web/device"
	"mycelium/internal/web/openapi"
)

// Operation returns the route of an operation of the API, which the document of the API describes by its types; see [openapi.Operation]. do
// answers it. What a request says wrongly is refused before, and an error is sent as a [openapi.Problem] with the status of its kind.
func Operation[P, R any](o openapi.Operation, do func(r *http.Request, d device.Device, p P) (R, error)) Route {
	o.Params, o.Reply = reflect.TypeFor[P](), reflect.TypeFor[R]()
	return Route{Pattern: o.Pattern(), API: &o, Serve: func(w http.ResponseWriter, r *http.Request, d device.Device) {
		var p P
		err := read(w, r, reflect.ValueOf(&p).Elem())
		var reply R
		if err == nil {
			reply, err = do(r, d, p)
		}
		if err != nil {
			Problem(w, failure.Of(err).Kind.HTTP(), err)
			return
		}
		JSON(w, reply)
	}}
}

// Problem sends an error as an operation of the API does (RFC 9457).
func Problem(w http.ResponseWriter, status int, err error) {
	p := openapi.Problem{Type: "about:blank", Title: http.StatusText(status), Status: status,
		Detail: text.Visible(err.Error()), Hint: text.Visible(text.HintOf(err)), Code: codeOf(err)}
	var unsigned *sign.MissingError
	if errors.As(err, &unsigned) {
		p.Missing = string(unsigned.Missing)
	}
	b, writing := json.Marshal(p, jsontext.AllowInvalidUTF8(true))
	if writing != nil {
		http.Error(w, "this problem cannot be written: "+writing.Error(), http.StatusInternalServerError)
		return
	}
	w.Header().Set("Content-Type", "application/problem+json")
	w.WriteHeader(status)
	_, _ = w.Write(append(b, '\n')) // a client that has gone reads nothing
}

// read fills the parameters of an operation from a request.
func read(w http.ResponseWriter, r *http.Request, into reflect.Value) error {
	query, err := url.ParseQuery(r.URL.RawQuery)
	if err != nil {
		return failure.Usagef("the query of the address cannot be read: %w", err)
	}
	if into.Kind() != reflect.Struct {
		return unknown(query)
	}
	for i := range into.NumField() {
		f, at := into.Type().Field(i), into.Field(i)
		if _, body := f.Tag.Lookup("body"); body {
			if err := readBody(w, r, at); err != nil {
				return err
			}
			continue
		}
		name, value := f.Tag.Get("path"), ""
		if name != "" {
			value = r.PathValue(name)
		} else {
			name = f.Tag.Get("query")
			if len(query[name]) > 1 {
				return failure.Usagef("%s stands %d times in the address: it may stand there once", name, len(query[name]))
			}
			value = query.Get(name)
			query.Del(name)
		}
		if value == "" {
			continue
		}
		if err := set(at, value, f.Tag); err != nil {
			return failure.New(failure.Usage, fmt.Errorf("%s: %w", name, err), f.Tag.Get("about"))
		}
	}
	return unknown(query)
}

// unknown refuses parameters that no operation takes: a filter whose name is wrong would otherwise show everything.
func unknown(query url.Values) error {
	for name := range query {
		return failure.New(failure.Usage, fmt.Errorf("there is no parameter %q", text.OneLine(name)),
			"/api/openapi.yaml says what each operation takes")
	}
	return nil
}

// set reads the text of a parameter.
func set(into reflect.Value, value string, tag reflect.StructTag) error {
	if of := tag.Get("of"); of != "" {
		known := false
		for one := range strings.SplitSeq(of, ",") {
			known = known || one == value
		}
		if !known {
			return fmt.Errorf("%q is none of %s", text.OneLine(value), strings.ReplaceAll(of, ",", ", "))
		}
	}
	switch v := into.Addr().Interface().(type) {
	case *string:
		*v = value
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
		most, limited := strconv.Atoi(tag.Get("most"))
		if err != nil || n < 0 || limited == nil && n > most {
			return fmt.Errorf("%q is no number from 0 to %s", text.OneLine(value), tag.Get("most"))
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

// readBody reads what a request sends: one JSON value, and nothing that the operation does not know.
func readBody(w http.ResponseWriter, r *http.Request, into reflect.Value) error {
	if kind, _, err := mime.ParseMediaType(r.Header.Get("Content-Type")); err != nil || kind != "application/json" {
		return failure.New(failure.Usage, errors.New("the request is not marked as JSON"), "send the header Content-Type: application/json")
	}
	b, err := io.ReadAll(http.MaxBytesReader(w, r.Body, MaxForm))
	if err == nil {
		err = rawjson.Decode(b, into.Addr().Interface(), json.RejectUnknownMembers(true))
	}
	if err != nil {
		return failure.New(failure.Usage, fmt.Errorf("what was sent cannot be read: %w", err), "/api/openapi.yaml says what it has to be")
	}
	return nil
}
