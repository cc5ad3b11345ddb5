// Package catalog is what a server offers: its lists, the definitions in them, what the server said of itself, and the file that keeps
// them for the next start.
package catalog

import (
	"fmt"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"mycelium/internal/policy"
	"mycelium/internal/rawjson"
	"mycelium/internal/rpc"
	"mycelium/internal/text"
)

// Bounds of what one server may offer: ten times the largest known catalogs, and far below what would fill the memory.
const (
	MaxPages = 200
	MaxItems = 10_000   // of one kind
	MaxBytes = 16 << 20 // bytes of raw definitions, all kinds together
	maxURI   = 4096     // bytes
)

// Kind is one of the lists that a server has.
type Kind uint8

// The lists, in the order in which they are asked for.
const (
	Tools Kind = iota
	Prompts
	Resources
	Templates
	Skills
	Kinds // how many there are
)

// kindNames are the members that have the items, in the result of a list and in a stored catalog.
var kindNames = [Kinds]string{"tools", "prompts", "resources", "resourceTemplates", "skills"}

// kindMethods are the methods that list them.
var kindMethods = [Kinds]string{"tools/list", "prompts/list", "resources/list", "resources/templates/list", "skills/list"}

// kindKeys are the members that name an item.
var kindKeys = [Kinds]string{"name", "name", "uri", "uriTemplate", "uri"}

// String is the member of a list's result that holds the items, and of a stored catalog.
func (k Kind) String() string { return kindNames[k] }

// Method is the method that lists the items.
func (k Kind) Method() string { return kindMethods[k] }

// Key is the member that names an item.
func (k Kind) Key() string { return kindKeys[k] }

// KindOf is the kind of a list by its name; Kinds: there is none.
func KindOf(list string) Kind {
	for k := range Kinds {
		if kindNames[k] == list {
			return k
		}
	}
	return Kinds
}

// Policy is the kind as the policy has it.
func (k Kind) Policy() policy.Kind {
	switch k {
	case Tools:
		return policy.Tool
	case Prompts:
		return policy.Prompt
	default:
		return policy.Resource
	}
}

// Listing is what a server offers, raw, as it sent it.
type Listing [Kinds][][]byte

// Page reads one page of a list: its items and the cursor of the next page (empty: the last one).
func Page(k Kind, result []byte) (items [][]byte, next string, err error) {
	array := rawjson.Member(result, k.String())
	if array == nil {
		return nil, "", fmt.Errorf("the answer has no %q", k.String())
	}
	items, ok := rawjson.List(array)
	if !ok {
		return nil, "", fmt.Errorf("%q: not an array", k.String())
	}
	cursor := rawjson.Member(result, "nextCursor")
	if cursor == nil || string(cursor) == "null" {
		return items, "", nil
	}
	if next, ok = rawjson.Text(cursor); !ok {
		return nil, "", fmt.Errorf("\"nextCursor\" is not a string")
	}
	return items, next, nil
}

// Definitions makes definitions of the items that can be used, and lists what is left out with the reason. Annotations of tools are taken
// only from a server that the operator trusts.
func (l *Listing) Definitions(server string, trust bool) (defs, temps []policy.Definition, leftOut []string) {
	for k := range Skills {
		list, out := Define(server, k, l[k])
		leftOut = append(leftOut, out...)
		for i := range list {
			if trust && k == Tools {
				list[i].Annotations = Annotations(list[i].Raw)
			}
		}
		if k == Templates {
			temps = append(temps, list...)
		} else {
			defs = append(defs, list...)
		}
	}
	slices.SortFunc(defs, CompareDefinitions)
	slices.SortFunc(temps, CompareDefinitions)
	return defs, temps, leftOut
}

// CompareDefinitions orders definitions by name, then by text.
func CompareDefinitions(a, b policy.Definition) int {
	if c := strings.Compare(a.Item.Server, b.Item.Server); c != 0 {
		return c
	}
	if a.Item.Kind != b.Item.Kind {
		return int(a.Item.Kind) - int(b.Item.Kind)
	}
	return strings.Compare(a.Item.Name, b.Item.Name)
}

// Define makes definitions of the items of one kind. Items whose names could be mistaken for one another are all left out (T8), because a
// rule for one of them would otherwise decide about another.
func Define(server string, k Kind, raw [][]byte) (defs []policy.Definition, leftOut []string) {
	claims := map[string][]string{}
	for _, r := range raw {
		name, err := ItemName(k, r)
		if err != nil {
			leftOut = append(leftOut, err.Error())
			continue
		}
		key := name
		if k == Tools || k == Prompts {
			key = strings.ToLower(name)
		}
		claims[key] = append(claims[key], name)
		defs = append(defs, policy.Definition{Item: policy.Item{Kind: k.Policy(), Server: server, Name: name}, Raw: r})
	}
	defs = slices.DeleteFunc(defs, func(d policy.Definition) bool {
		key := d.Item.Name
		if k == Tools || k == Prompts {
			key = strings.ToLower(key)
		}
		return len(claims[key]) > 1
	})
	for _, names := range claims {
		if len(names) > 1 {
			slices.Sort(names)
			leftOut = append(leftOut, fmt.Sprintf("%s %s: %d definitions have one name (or differ only in case); none is used",
				k.String(), strings.Join(slices.Compact(names), ", "), len(names)))
		}
	}
	slices.Sort(leftOut)
	return defs, leftOut
}

// ItemName is the name or URI of an item. The error says why the item cannot be used.
func ItemName(k Kind, raw []byte) (string, error) {
	if len(raw) == 0 || raw[0] != '{' {
		return "", fmt.Errorf("%s: an item is not an object", k.String())
	}
	name, ok := rawjson.Text(rawjson.Member(raw, k.Key()))
	switch {
	case !ok:
		return "", fmt.Errorf("%s: an item has no %q", k.String(), k.Key())
	case rpc.CheckCase(raw, k.Key()) != nil:
		return "", fmt.Errorf("%s %.80q: a second member is a case variant of %q", k.String(), name, k.Key())
	case k == Tools || k == Prompts:
		if !isToolName(name) {
			return "", fmt.Errorf("%s %.150q: a name has 1 to 128 letters, digits, '_', '.' and '-'", k.String(), name)
		}
	case !isURI(name):
		return "", fmt.Errorf("%s %.80q: not a usable URI (1 to %d bytes without spaces and control characters)", k.String(), name, maxURI)
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
		// no spaces, and no control or format characters
		return unicode.IsSpace(r) || !slices.Contains([]text.Kind{text.Shown, text.Selector, text.Filler, text.Private, text.Unassigned},
			text.KindOf(r))
	})
}

// Annotations are the boolean annotations of a tool.
func Annotations(raw []byte) map[string]bool {
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

// ItemNames are the "name" members of all items.
func (l *Listing) ItemNames() []string {
	var out []string
	for k := range Kinds {
		for _, raw := range l[k] {
			if name, ok := rawjson.Text(rawjson.Member(raw, "name")); ok {
				out = append(out, name)
			}
		}
	}
	return out
}
