package backend

import (
	"context"
	"errors"
	"fmt"

	"github.com/go-json-experiment/json"

	"mycelium/internal/rawjson"
	"mycelium/internal/rpc"
)

// learn lists everything that a server offers. A list of prompts or resources that fails keeps what was known of it (old) and is told in
// problems; a list of tools that fails fails the whole, because tools are what the policy is compiled with.
func (c *conn) learn(ctx context.Context, old listing) (l listing, problems []string, err error) {
	defer c.calls.begun.Store(true)
	size := 0
	for k := range kinds {
		if !c.offers(k) {
			continue
		}
		items, err := c.list(ctx, k, &size)
		if k == tools {
			items, problems = c.usable(items)
		}
		switch {
		case err == nil:
			l[k] = items
		case k == tools || ctx.Err() != nil || errors.Is(err, errTooMuch):
			return listing{}, nil, err
		default:
			l[k] = old[k]
			problems = append(problems, err.Error())
		}
	}
	return l, problems, nil
}

// usable leaves out what the modern revision forbids to use over HTTP: tools whose header annotations do not hold.
func (c *conn) usable(definitions [][]byte) (good [][]byte, problems []string) {
	if _, http := c.link.(*httpLink); !http || !c.modern {
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

// offers reports whether to ask for a list. A server that declares nothing at all is asked for its tools all the same.
func (c *conn) offers(k kind) bool {
	switch k {
	case tools:
		return c.caps.Tools != nil || c.caps == capabilities{}
	case prompts:
		return c.caps.Prompts != nil
	case served:
		return c.about().Declares("extensions", skillsExtension)
	default:
		return c.caps.Resources != nil
	}
}

var errTooMuch = errors.New("it offers more than we hold")

// list reads all pages of one list. size counts the bytes of all lists.
func (c *conn) list(ctx context.Context, k kind, size *int) ([][]byte, error) {
	var all [][]byte
	cursor := ""
	for range maxPages {
		var params []byte
		if cursor != "" {
			params = rawjson.Set(nil, "cursor", rawjson.Quote(cursor))
		}
		result, bad, err := c.request(ctx, call{method: kindMethods[k], params: params})
		if err != nil {
			return nil, fmt.Errorf("%s: %w", kindMethods[k], err)
		}
		if bad != nil {
			if codeOf(bad) == rpc.CodeMethodNotFound {
				return nil, nil // it does not have this list
			}
			return nil, fmt.Errorf("%s: error %s", kindMethods[k], excerpt(bad))
		}
		items, next, err := page(k, result)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", kindMethods[k], err)
		}
		for _, item := range items {
			*size += len(item)
		}
		all = append(all, items...)
		if len(all) > maxItems || *size > maxCatalog {
			return nil, fmt.Errorf("%s: %w: over %d items or %d MiB", kindMethods[k], errTooMuch, maxItems, maxCatalog>>20)
		}
		if next == "" {
			return all, nil
		}
		if next == cursor {
			return nil, fmt.Errorf("%s: its pages never end: a cursor leads to itself", kindMethods[k])
		}
		cursor = next
	}
	return nil, fmt.Errorf("%s: %w: over %d pages", kindMethods[k], errTooMuch, maxPages)
}

// codeOf is the code of a raw JSON-RPC error.
func codeOf(raw []byte) int {
	var e struct {
		Code int `json:"code"`
	}
	_ = json.Unmarshal(raw, &e) // a code that cannot be read is none that we know
	return e.Code
}
