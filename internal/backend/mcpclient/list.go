package mcpclient

import (
	"context"
	"errors"
	"fmt"

	"github.com/go-json-experiment/json"

	"mycelium/internal/backend/catalog"
	"mycelium/internal/backend/redact"
	"mycelium/internal/rawjson"
	"mycelium/internal/rpc"
	"mycelium/internal/text"
)

// List lists everything that a server offers. If a list of prompts or resources fails, the result has the items of old, and problems says
// so. If the list of tools fails, List fails, because the policy is compiled with the tools.
func (c *Conn) List(ctx context.Context, old catalog.Listing) (l catalog.Listing, problems []string, err error) {
	defer c.calls.learned.Store(true)
	c.listed.Store(true) // before the server is asked: what changes after that must be noticed
	size := 0
	for k := range catalog.Kinds {
		if !c.offers(k) {
			continue
		}
		items, err := c.listKind(ctx, k, &size)
		if k == catalog.Tools {
			items, problems = c.usable(items)
		}
		switch {
		case err == nil:
			l[k] = items
		case k == catalog.Tools || ctx.Err() != nil || errors.Is(err, errTooMuch):
			return catalog.Listing{}, nil, err
		default:
			l[k] = old[k]
			problems = append(problems, text.Describe(err))
		}
	}
	return l, problems, nil
}

// usable leaves out the tools that the modern revision forbids to use over HTTP: those with header annotations that are not valid.
func (c *Conn) usable(definitions [][]byte) (good [][]byte, problems []string) {
	if _, http := c.transport.(*httpTransport); !http || !c.modern {
		return definitions, nil
	}
	for _, raw := range definitions {
		if fault := headerFault(raw); fault != "" {
			name := rawjson.TextAt(raw, "name")
			problems = append(problems, fmt.Sprintf("tools %.150q: %s", name, fault))
			continue
		}
		good = append(good, raw)
	}
	return good, problems
}

// offers reports whether to ask for a list. A server that declares no capability at all is still asked for its tools.
func (c *Conn) offers(k catalog.Kind) bool {
	switch k {
	case catalog.Tools:
		return c.caps.Tools != nil || c.caps == capabilities{}
	case catalog.Prompts:
		return c.caps.Prompts != nil
	case catalog.Skills:
		return c.About().Declares("extensions", skillsExtension)
	default:
		return c.caps.Resources != nil
	}
}

// skillsExtension is the extension by which servers serve skills.
const skillsExtension = "io.modelcontextprotocol/skills"

var errTooMuch = errors.New("it offers more than we hold")

// listKind reads all pages of one list. size counts the bytes of all lists.
func (c *Conn) listKind(ctx context.Context, k catalog.Kind, size *int) ([][]byte, error) {
	var all [][]byte
	cursor := ""
	for range catalog.MaxPages {
		var params []byte
		if cursor != "" {
			params = rawjson.Set(nil, "cursor", rawjson.Quote(cursor))
		}
		result, bad, err := c.Request(ctx, Call{Method: k.Method(), Params: params})
		if err != nil {
			return nil, fmt.Errorf("%s: %w", k.Method(), err)
		}
		if bad != nil {
			if codeOf(bad) == rpc.CodeMethodNotFound {
				return nil, nil // the server does not have this list
			}
			return nil, fmt.Errorf("%s: error %s", k.Method(), redact.Excerpt(bad))
		}
		items, next, err := catalog.Page(k, result)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", k.Method(), err)
		}
		for _, item := range items {
			*size += len(item)
		}
		all = append(all, items...)
		if len(all) > catalog.MaxItems || *size > catalog.MaxBytes {
			return nil, fmt.Errorf("%s: %w: over %d items or %d MiB", k.Method(), errTooMuch, catalog.MaxItems, catalog.MaxBytes>>20)
		}
		if next == "" {
			return all, nil
		}
		if next == cursor {
			return nil, fmt.Errorf("%s: its pages never end: a cursor leads to itself", k.Method())
		}
		cursor = next
	}
	return nil, fmt.Errorf("%s: %w: over %d pages", k.Method(), errTooMuch, catalog.MaxPages)
}

// codeOf is the code of a raw JSON-RPC error.
func codeOf(raw []byte) int {
	var e struct {
		Code int `json:"code"`
	}
	_ = json.Unmarshal(raw, &e) // an unreadable code is 0
	return e.Code
}
