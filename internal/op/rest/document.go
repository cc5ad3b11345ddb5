// Package rest is the face of operations for programs: it reads their parameters from HTTP requests, answers with JSON or with a problem
// (RFC 9457), and describes them in a document (OpenAPI 3.1). The document is written from the Go types, so that it is never behind the program.
package rest

import (
	"cmp"
	"fmt"
	"net/http"
	"reflect"
	"slices"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"mycelium/internal/op"
	"mycelium/internal/op/schema"
)

// Operation is an operation of the API.
type Operation struct {
	op.Route
	Summary string // in a few words
	About   string // more for a caller; "": nothing
	Open    bool   // it needs no signature
	Media   string // the media type of what is sent back; "": application/json

	// Params are the structs of the parameters, with the tags of [op.Op]. A field that the pattern names is a part of the path, one with the
	// tag query is in the query, as all are in a GET and a DELETE, and the others are members of the body.
	Params []reflect.Type
	Reply  reflect.Type
}

// Get returns an operation that reads.
func Get(path, id, tag, summary string) Operation {
	return Operation{Route: op.Route{Pattern: http.MethodGet + " " + path, ID: id, Tag: tag}, Summary: summary}
}

// place says where the value of a field is: path, query or body, and under which name; "": the face sets it.
func (o *Operation) place(f reflect.StructField) (at, name string) {
	name, _ = op.Member(f, "json")
	query, inQuery := f.Tag.Lookup("query")
	if inQuery {
		name = query
	}
	method, path, _ := strings.Cut(o.Pattern, " ")
	switch {
	case op.By(f) || name == "":
		return "", name
	case strings.Contains(path, "{"+name+"}"):
		return "path", name
	case inQuery || method == http.MethodGet || method == http.MethodDelete:
		return "query", name
	}
	return "body", name
}

// About is what a document says besides its operations.
type About struct {
	Version string                          // of the program
	Written map[reflect.Type]schema.Written // the types that write themselves
}

// object is a part of the document.
type object = schema.Object

// writer writes the document.
type writer struct{ schema.Writer }

// problemType is the media type of an error (RFC 9457).
const problemType = "application/problem+json"

// Problem is an error, as every operation answers with one (RFC 9457).
type Problem struct {
	Type   string `json:"type" about:"always about:blank: the status says what kind of problem it is"`
	Title  string `json:"title" about:"the status in words"`
	Status int    `json:"status" about:"the status of the response"`
	Detail string `json:"detail" about:"what went wrong, where, and why"`
	Hint   string `json:"hint,omitempty" about:"how to mend it"`
	Code   string `json:"code" of:"NOT_FOUND,BAD_REQUEST,CONFLICT,FORBIDDEN,UNAVAILABLE,INTERNAL" about:"the kind of error, for programs"`
	// Missing has the values of [mycelium/internal/policy/sign.Sign].
	Missing string `json:"missing,omitempty" of:"sure" about:"what the answer lacks: sure is the second sign, that a person has read what is allowed"`
}

// Document writes the document of operations, as JSON.
func Document(a About, operations []Operation) ([]byte, error) {
	s := writer{schema.Writer{Format: "json", Refs: "#/components/schemas/", Written: a.Written}}
	paths := object{}
	for _, o := range operations {
		described, err := s.operation(o)
		if err != nil {
			return nil, fmt.Errorf("openapi: %s: %w", o.Pattern, err)
		}
		method, path, _ := strings.Cut(o.Pattern, " ")
		at, _ := paths[path].(object)
		if at == nil {
			at = object{}
			paths[path] = at
		}
		at[strings.ToLower(method)] = described
	}
	problem, err := s.Of(reflect.TypeFor[Problem]())
	if err != nil {
		return nil, fmt.Errorf("openapi: %w", err)
	}
	return json.Marshal(object{
		"openapi": "3.1.1",
		"info": object{"title": "Mycelium", "version": cmp.Or(a.Version, "unknown"),
			"description": "What the pages of Mycelium show, for programs. It is served to browsers and programs that are signed in."},
		"servers":  []any{object{"url": "/", "description": "the page server itself"}},
		"security": []any{object{"device": []string{}}},
		"tags":     tagsOf(operations),
		"paths":    paths,
		"components": object{"schemas": s.Parts,
			"securitySchemes": object{"device": object{"type": "apiKey", "in": "header", "name": "Signature",
				"description": "Each request is signed with the key of a device, by HTTP Message Signatures (RFC 9421): docs/pages.md says " +
					"how. myc web devices add makes a key for a program, and myc web request signs with it."}},
			"responses": object{"Problem": object{"description": "What went wrong, and how to mend it.",
				"content": object{problemType: object{"schema": problem}}}}},
	}, json.Deterministic(true), jsontext.WithIndent("  "))
}

// tagsOf are the groups of operations, in their order.
func tagsOf(operations []Operation) (out []any) {
	var seen []string
	for _, o := range operations {
		if !slices.Contains(seen, o.Tag) {
			seen = append(seen, o.Tag)
			out = append(out, object{"name": o.Tag})
		}
	}
	return out
}

// operation describes one operation.
func (s *writer) operation(o Operation) (object, error) {
	reply, err := s.Of(o.Reply)
	if err != nil {
		return nil, err
	}
	out := object{"operationId": o.ID, "summary": o.Summary, "tags": []string{o.Tag}, "responses": object{
		"200": object{"description": cmp.Or(o.Summary, "the answer"), "content": object{
			cmp.Or(o.Media, "application/json"): object{"schema": reply}}},
		"default": object{"$ref": "#/components/responses/Problem"}}}
	if o.About != "" {
		out["description"] = o.About
	}
	if o.Open {
		out["security"] = []any{}
	}
	var params []any
	var sent []reflect.StructField
	for _, t := range o.Params {
		for f := range op.Fields(t) {
			at, name := o.place(f)
			switch at {
			case "":
				continue
			case "body":
				sent = append(sent, f)
				continue
			}
			schema, err := s.Field(f)
			if err != nil {
				return nil, err
			}
			p := object{"name": name, "in": at, "schema": schema}
			if at == "path" {
				p["required"] = true
			}
			if about, said := schema["description"]; said {
				p["description"] = about
				delete(schema, "description")
			}
			params = append(params, p)
		}
	}
	if params != nil {
		out["parameters"] = params
	}
	if sent != nil {
		schema, err := s.Members(sent)
		if err != nil {
			return nil, err
		}
		out["requestBody"] = object{"required": true, "content": object{"application/json": object{"schema": schema}}}
	}
	return out, nil
}
