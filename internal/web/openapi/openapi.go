// Package openapi describes the operations of the API: it writes an OpenAPI 3.1 document from their Go types, so that the document says
// what the program does.
package openapi

import (
	"bytes"
	"cmp"
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"mycelium/internal/yamlfile"
)

// Operation is one operation of the API. Its types are what it takes and what it answers with:
//
//   - the fields of Params with a tag path or query are parameters, the field with a tag body is what is sent. A tag about says what a
//     value is, a tag of names what it may be, separated by commas, a tag most is the largest number
//   - Reply is what is sent back
type Operation struct {
	Method  string // GET, POST
	Path    string // as a pattern of [http.ServeMux] has it
	ID      string // its name in programs that are made from the document
	Tag     string // the group in which people find it
	Summary string // in a few words
	About   string // what a caller must know besides; "": nothing
	Open    bool   // it needs no signature
	Media   string // the media type of what is sent back; "": application/json

	Params, Reply reflect.Type
}

// Pattern is the operation as a pattern of [http.ServeMux].
func (o Operation) Pattern() string { return o.Method + " " + o.Path }

// About is what a document says besides its operations.
type About struct {
	Version string // of the program
}

// object is a part of the document.
type object = map[string]any

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

// JSON writes the document of operations.
func JSON(a About, operations []Operation) ([]byte, error) {
	s := schemas{parts: map[string]any{}, types: map[string]reflect.Type{}}
	paths := object{}
	for _, o := range operations {
		described, err := s.operation(o)
		if err != nil {
			return nil, fmt.Errorf("openapi: %s: %w", o.Pattern(), err)
		}
		at, _ := paths[o.Path].(object)
		if at == nil {
			at = object{}
			paths[o.Path] = at
		}
		at[strings.ToLower(o.Method)] = described
	}
	problem, err := s.of(reflect.TypeFor[Problem]())
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
		"components": object{"schemas": s.parts,
			"securitySchemes": object{"device": object{"type": "apiKey", "in": "header", "name": "Signature",
				"description": "Each request is signed with the key of a device, by HTTP Message Signatures (RFC 9421): docs/pages.md says " +
					"how. myc web devices add makes a key for a program, and myc web request signs with it."}},
			"responses": object{"Problem": object{"description": "What went wrong, and how to mend it.",
				"content": object{problemType: object{"schema": problem}}}}},
	}, json.Deterministic(true), jsontext.WithIndent("  "))
}

// YAML writes a document of [JSON] as YAML.
func YAML(document []byte) ([]byte, error) {
	var b bytes.Buffer
	if err := yamlfile.WriteJSON(&b, document, 0); err != nil {
		return nil, fmt.Errorf("openapi: %w", err)
	}
	return b.Bytes(), nil
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
func (s *schemas) operation(o Operation) (object, error) {
	reply, err := s.of(o.Reply)
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
	for f := range fieldsOf(o.Params) {
		at, name := place(f)
		if at == "" {
			return nil, fmt.Errorf("field %s of %v is neither path, query nor body", f.Name, o.Params)
		}
		schema, err := s.of(f.Type)
		if err != nil {
			return nil, err
		}
		if at == "body" {
			out["requestBody"] = object{"required": true, "content": object{"application/json": object{"schema": schema}}}
			continue
		}
		limit(schema, f)
		p := object{"name": name, "in": at, "schema": schema}
		if at == "path" {
			p["required"] = true
		}
		if about := f.Tag.Get("about"); about != "" {
			p["description"] = about
		}
		params = append(params, p)
	}
	if params != nil {
		out["parameters"] = params
	}
	return out, nil
}

// place says where a field of parameters comes from: path, query or body, and under which name.
func place(f reflect.StructField) (at, name string) {
	for _, at := range []string{"path", "query", "body"} {
		if name, ok := f.Tag.Lookup(at); ok {
			return at, name
		}
	}
	return "", ""
}

// limit adds what the tags of a field say of its values.
func limit(schema object, f reflect.StructField) {
	if of := f.Tag.Get("of"); of != "" {
		schema["enum"] = strings.Split(of, ",")
	}
	if most, err := strconv.Atoi(f.Tag.Get("most")); err == nil {
		schema["minimum"], schema["maximum"] = 0, most
	}
}
