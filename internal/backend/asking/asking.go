// Package asking puts the questions of a server into words that name the server. A client shows a question as one of the gateway, because it
// is connected to the gateway only: without these words a person cannot tell who asks, and answers a stranger with a password.
package asking

import (
	"fmt"
	"net"
	"net/url"
	"slices"
	"strings"

	"golang.org/x/net/idna"

	"mycelium/internal/credential"
	"mycelium/internal/rawjson"
	"mycelium/internal/rpc"
	"mycelium/internal/text"
)

// MetaServer is the member of _meta that has the name of the server which asks.
const MetaServer = "mycelium/server"

// MaxWords bounds the words of a server that a question shows, in bytes. A longer text would move our words out of the dialog.
const MaxWords = 8 << 10

// Asker is a server that asks.
type Asker struct {
	Server  string
	Trusted bool // its entry says trust: true; it may ask for secrets
}

// Question returns the params of a request of the server to a client, with the name of the server in the words that the client shows. Other
// members stay as they are. The error refuses the question: a form of a server that is not trusted asks for a secret, or an address
// is not one of a web page.
func (a Asker) Question(method string, params []byte) ([]byte, *rpc.Error) {
	if !slices.Contains([]string{"elicitation/create", "sampling/createMessage", "roots/list"}, method) {
		return params, nil // no client shows it to a person as the protocol says
	}
	if params == nil {
		params = []byte("{}")
	}
	if params[0] != '{' {
		return nil, rpc.InvalidParams("params must be an object")
	}
	switch method {
	case "elicitation/create":
		if rawjson.TextAt(params, "mode") == "url" {
			return a.page(params)
		}
		return a.form(params)
	case "sampling/createMessage":
		// A person who looks at the request sees whose it is, and so does the model.
		says := fmt.Sprintf("This request comes from the MCP server %q. It is not from the user, and not from Mycelium.", a.Server)
		if prompt := rawjson.TextAt(params, "systemPrompt"); prompt != "" {
			says += "\n\n" + prompt
		}
		params = rawjson.Set(params, "systemPrompt", rawjson.Quote(says))
	}
	return a.named(params), nil
}

// named returns the params with the name of the server in _meta, for programs.
func (a Asker) named(params []byte) []byte {
	meta := rawjson.Member(params, "_meta")
	if meta != nil && meta[0] != '{' {
		return params
	}
	return rawjson.Set(params, "_meta", rawjson.Set(meta, MetaServer, rawjson.Quote(a.Server)))
}

// form returns the params of a form.
func (a Asker) form(params []byte) ([]byte, *rpc.Error) {
	message := rawjson.TextAt(params, "message")
	if !a.Trusted {
		if what := asksForSecret(message, rawjson.Member(params, "requestedSchema")); what != "" {
			return nil, rpc.InvalidParams(fmt.Sprintf(
				"the gateway does not pass on a form that asks for a secret (%s): a secret that is typed here is given to the server %q and to the "+
					"client; use elicitation of mode url, or the operator writes trust: true into the entry of the server", what, a.Server))
		}
	}
	says := fmt.Sprintf("The MCP server %q asks. Lines that begin with > are its words, not Mycelium's.%s", a.Server, quoted(message))
	return a.named(rawjson.Set(params, "message", rawjson.Quote(says))), nil
}

// page returns the params of a question to open a web page.
func (a Asker) page(params []byte) ([]byte, *rpc.Error) {
	address := rawjson.TextAt(params, "url")
	u, err := url.Parse(address)
	if err != nil || u.Host == "" || u.Scheme != "https" && u.Scheme != "http" || text.HasHidden(address) ||
		strings.ContainsAny(address, " \t\n\\") { // browsers read a backslash as a slash
		return nil, rpc.InvalidParams("the gateway passes on http and https addresses only, without spaces, backslashes and hidden characters")
	}
	var b strings.Builder
	fmt.Fprintf(&b, "The MCP server %q wants you to open a web page. Lines that begin with > are its words, not Mycelium's.%s\n", a.Server,
		quoted(rawjson.TextAt(params, "message")))
	host := u.Hostname()
	ascii, shown := hostNames(host)
	fmt.Fprintf(&b, "Host: %s", ascii)
	if port := u.Port(); port != "" {
		fmt.Fprintf(&b, " (port %s)", port)
	}
	if shown != "" {
		fmt.Fprintf(&b, "\nThe name of the host has other letters than a to z. Browsers may show it as %s, which can look like another name.", shown)
	}
	if net.ParseIP(host) != nil {
		b.WriteString("\nThe host is a number and not a name.")
	}
	if u.User != nil {
		fmt.Fprintf(&b, "\n%q before the @ is a user name and not the host.", u.User.Username())
	}
	if u.Scheme == "http" {
		b.WriteString("\nThe connection is not encrypted.")
	}
	fmt.Fprintf(&b, "\nAddress: %s\nOpen it only if you know this host: it learns that you come from here, and gets what you enter there. Mycelium sees neither.",
		text.Truncate(address, MaxWords))
	return a.named(rawjson.Set(params, "message", rawjson.Quote(b.String()))), nil
}

// hostNames returns the name of a host as it is looked up, and as a browser may show it; shown is empty if they are the same.
func hostNames(host string) (ascii, shown string) {
	ascii, err := idna.Lookup.ToASCII(host)
	if err != nil {
		if ascii, err = idna.Punycode.ToASCII(host); err != nil {
			ascii = host
		}
	}
	if !strings.Contains(strings.ToLower(ascii), "xn--") {
		return ascii, ""
	}
	shown, err = idna.Punycode.ToUnicode(ascii)
	if err != nil || shown == ascii {
		return ascii, ""
	}
	return ascii, fmt.Sprintf("%q", shown)
}

// quoted returns the words of a server, each line behind a mark that no words of ours have. Hidden characters are visible.
func quoted(words string) string {
	words = strings.TrimSpace(strings.ReplaceAll(words, "\r\n", "\n"))
	if words == "" {
		return ""
	}
	words = text.Visible(text.Truncate(words, MaxWords))
	return "\n> " + strings.ReplaceAll(words, "\n", "\n> ")
}

// withoutWarnings leaves out the clauses of a description that tell a person not to type something: "do not enter your phone number, PIN".
// A clause that turns round ("do not enter your name but your PIN") stays.
func withoutWarnings(s string) string {
	var kept []string
	for _, clause := range strings.FieldsFunc(s, func(r rune) bool { return strings.ContainsRune(".;:()!?\n", r) }) {
		words := strings.Fields(strings.ToLower(clause))
		if len(words) > 0 && words[0] == "please" {
			words = words[1:]
		}
		start := strings.Join(words[:min(len(words), 3)], " ")
		warns := slices.ContainsFunc([]string{"enter", "type", "provide", "include", "share", "give", "send", "write", "use"}, func(verb string) bool {
			return start == "do not "+verb || strings.HasPrefix(start+" ", "don't "+verb+" ") || strings.HasPrefix(start+" ", "never "+verb+" ")
		})
		if !warns || slices.ContainsFunc([]string{"but", "instead", "only", "except", "unless", "until", "just"}, func(turn string) bool {
			return slices.Contains(words, turn)
		}) {
			kept = append(kept, clause)
		}
	}
	return strings.Join(kept, ". ")
}

// asksForSecret returns in which part of a form a person is asked for a secret; "" if in none. In a box to tick and in a list to choose from
// nobody types a secret.
func asksForSecret(message string, schema []byte) string {
	typed := false
	for name, value := range rawjson.Members(schema) {
		switch name {
		case "type", "properties", "required", "title", "description", "$schema":
			continue
		}
		typed = true // the protocol knows no other member: any text in it may be shown beside a field
		if word := credential.AsksFor(string(value), false); word != "" {
			return fmt.Sprintf("%q of its schema says %q", text.Prefix(name, 60), word)
		}
	}
	for name, field := range rawjson.Members(rawjson.Member(schema, "properties")) {
		kind := rawjson.TextAt(field, "type")
		if !isTyped(kind, field) {
			continue
		}
		typed = true
		number := kind == "number" || kind == "integer"
		said := []string{name, rawjson.TextAt(field, "title"), withoutWarnings(rawjson.TextAt(field, "description"))}
		if kind != "string" && !number { // no field that the protocol knows: any text in it may be shown
			said = append(said, string(field))
		}
		for _, s := range said {
			if word := credential.AsksFor(s, number); word != "" {
				return fmt.Sprintf("the field %q says %q", text.Prefix(name, 60), word)
			}
		}
		if strings.EqualFold(rawjson.TextAt(field, "format"), "password") || string(rawjson.Member(field, "writeOnly")) == "true" {
			return fmt.Sprintf("the field %q has the format of a password", text.Prefix(name, 60))
		}
	}
	if !typed {
		return ""
	}
	for _, s := range []string{message, rawjson.TextAt(schema, "title"), rawjson.TextAt(schema, "description")} {
		if word := credential.AsksFor(s, false); word != "" {
			return fmt.Sprintf("its message says %q", word)
		}
	}
	return ""
}

// isTyped reports whether a person types the value of a field.
func isTyped(kind string, field []byte) bool {
	switch kind {
	case "boolean":
		return false
	case "array":
		field = rawjson.Member(field, "items")
	case "string", "number", "integer":
	default:
		return true
	}
	for _, key := range [...]string{"enum", "oneOf", "anyOf"} {
		if list, ok := rawjson.List(rawjson.Member(field, key)); ok && len(list) > 0 && (key == "enum" || allConst(list)) {
			return false
		}
	}
	return true
}

// allConst reports whether each of the choices is one value.
func allConst(list [][]byte) bool {
	for _, one := range list {
		if rawjson.Member(one, "const") == nil {
			return false
		}
	}
	return true
}
