package backend

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"mycelium/internal/policy"
	"mycelium/internal/rawjson"
	"mycelium/internal/rpc"
)

// Bounds of what one server may offer: ten times the largest catalogs known, and far from what would fill memory.
const (
	maxPages   = 200
	maxItems   = 10_000   // of one kind
	maxCatalog = 16 << 20 // bytes of raw definitions, all kinds together
	maxURI     = 4096     // bytes
)

// kind is one of the lists that a server has.
type kind uint8

const (
	tools kind = iota
	prompts
	resources
	templates
	served // skills
	kinds
)

// kindNames are the members of a list's result that hold the items, and of the stored catalog.
var kindNames = [kinds]string{"tools", "prompts", "resources", "resourceTemplates", "skills"}

// kindMethods are the methods that list them.
var kindMethods = [kinds]string{"tools/list", "prompts/list", "resources/list", "resources/templates/list", "skills/list"}

// kindKeys are the members that name an item.
var kindKeys = [kinds]string{"name", "name", "uri", "uriTemplate", "uri"}

func (k kind) policy() policy.Kind {
	switch k {
	case tools:
		return policy.Tool
	case prompts:
		return policy.Prompt
	default:
		return policy.Resource
	}
}

// listing is what a server offers, raw, as it sent it.
type listing [kinds][][]byte

// elements returns copies of the raw elements of a JSON array.
func elements(array []byte) (list [][]byte, err error) {
	s := rawjson.ScanArray(array)
	for s.Next() {
		list = append(list, bytes.Clone(s.Value()))
	}
	if !s.Complete() {
		return nil, errors.New("not an array")
	}
	return list, nil
}

// page reads one page of a list: its items and the cursor of the next page (empty: the last one).
func page(k kind, result []byte) (items [][]byte, next string, err error) {
	array := rawjson.Member(result, kindNames[k])
	if array == nil {
		return nil, "", fmt.Errorf("the answer has no %q", kindNames[k])
	}
	if items, err = elements(array); err != nil {
		return nil, "", fmt.Errorf("%q: %w", kindNames[k], err)
	}
	cursor := rawjson.Member(result, "nextCursor")
	if cursor == nil || string(cursor) == "null" {
		return items, "", nil
	}
	next, ok := rawjson.Text(cursor)
	if !ok {
		return nil, "", fmt.Errorf("\"nextCursor\" is not a string")
	}
	return items, next, nil
}

// definitions checks a listing and makes definitions of it. What is left out is told with its reason. Hints of tools are taken only from
// a server that the operator trusts.
func (l *listing) definitions(server string, trust bool) (defs, temps []policy.Definition, leftOut []string) {
	for k := range served {
		list, out := check(server, k, l[k])
		leftOut = append(leftOut, out...)
		for i := range list {
			if trust && k == tools {
				list[i].Annotations = hints(list[i].Raw)
			}
		}
		if k == templates {
			temps = append(temps, list...)
		} else {
			defs = append(defs, list...)
		}
	}
	slices.SortFunc(defs, byItem)
	slices.SortFunc(temps, byItem)
	return defs, temps, leftOut
}

func byItem(a, b policy.Definition) int {
	if c := strings.Compare(a.Item.Server, b.Item.Server); c != 0 {
		return c
	}
	if a.Item.Kind != b.Item.Kind {
		return int(a.Item.Kind) - int(b.Item.Kind)
	}
	return strings.Compare(a.Item.Name, b.Item.Name)
}

// check names the items of one kind. Names that could be taken for one another drop every claimant (T8): a rule for one would
// otherwise decide about another.
func check(server string, k kind, raw [][]byte) (defs []policy.Definition, leftOut []string) {
	claims := map[string][]string{}
	for _, r := range raw {
		name, err := itemName(k, r)
		if err != nil {
			leftOut = append(leftOut, err.Error())
			continue
		}
		key := name
		if k == tools || k == prompts {
			key = strings.ToLower(name)
		}
		claims[key] = append(claims[key], name)
		defs = append(defs, policy.Definition{Item: policy.Item{Kind: k.policy(), Server: server, Name: name}, Raw: r})
	}
	defs = slices.DeleteFunc(defs, func(d policy.Definition) bool {
		key := d.Item.Name
		if k == tools || k == prompts {
			key = strings.ToLower(key)
		}
		return len(claims[key]) > 1
	})
	for _, names := range claims {
		if len(names) > 1 {
			slices.Sort(names)
			leftOut = append(leftOut, fmt.Sprintf("%s %s: %d definitions have one name (or differ only in case); none is used", kindNames[k], strings.Join(slices.Compact(names), ", "), len(names)))
		}
	}
	slices.Sort(leftOut)
	return defs, leftOut
}

// itemName is the name or URI of an item, if it is one that we can serve.
func itemName(k kind, raw []byte) (string, error) {
	if len(raw) == 0 || raw[0] != '{' {
		return "", fmt.Errorf("%s: an item is not an object", kindNames[k])
	}
	name, ok := rawjson.Text(rawjson.Member(raw, kindKeys[k]))
	switch {
	case !ok:
		return "", fmt.Errorf("%s: an item has no %q", kindNames[k], kindKeys[k])
	case rpc.CheckCase(raw, kindKeys[k]) != nil:
		return "", fmt.Errorf("%s %.80q: a second member is a case variant of %q", kindNames[k], name, kindKeys[k])
	case k == tools || k == prompts:
		if !isToolName(name) {
			return "", fmt.Errorf("%s %.150q: a name has 1 to 128 letters, digits, '_', '.' and '-'", kindNames[k], name)
		}
	case !isURI(name):
		return "", fmt.Errorf("%s %.80q: not a usable URI (1 to %d bytes without spaces and control characters)", kindNames[k], name, maxURI)
	}
	return name, nil
}

func isToolName(s string) bool {
	for i := range len(s) {
		if c := s[i]; !isAlphanumeric(c) && c != '_' && c != '.' && c != '-' {
			return false
		}
	}
	return len(s) >= 1 && len(s) <= 128
}

func isAlphanumeric(c byte) bool {
	return 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || '0' <= c && c <= '9'
}

func isURI(s string) bool {
	return s != "" && len(s) <= maxURI && utf8.ValidString(s) && !strings.ContainsFunc(s, func(r rune) bool {
		return unicode.IsControl(r) || unicode.IsSpace(r) || unicode.Is(unicode.Cf, r)
	})
}

// isServerName reports whether s matches [a-z0-9][a-z0-9-]*, in at most 64 bytes (it is a file name too).
func isServerName(s string) bool {
	for i := range len(s) {
		c := s[i]
		if plain := 'a' <= c && c <= 'z' || '0' <= c && c <= '9'; !plain && (c != '-' || i == 0) {
			return false
		}
	}
	return len(s) >= 1 && len(s) <= 64
}

// hints are the boolean annotations of a tool.
func hints(raw []byte) map[string]bool {
	var m map[string]bool
	for name, value := range rawjson.Members(rawjson.Member(raw, "annotations")) {
		if b := string(value); b == "true" || b == "false" {
			if m == nil {
				m = map[string]bool{}
			}
			m[name] = b == "true"
		}
	}
	return m
}
