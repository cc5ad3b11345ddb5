package push

import (
	"cmp"
	"slices"
	"strings"

	"mycelium/internal/approval"
	"mycelium/internal/credential"
	"mycelium/internal/policy"
	"mycelium/internal/text"
)

// The lengths of what a notification shows, in characters. A push service takes 4,096 bytes in all.
const (
	titleRoom = 120
	bodyRoom  = 400
	itemRoom  = 160
	maxItems  = 4
)

// content is what a browser gets. The script in assets/sw.js reads it.
type content struct {
	Kind   string `json:"kind"` // waits, or settled
	Tag    string `json:"tag"`  // of the request: a notification takes the place of the one before with the same tag
	Title  string `json:"title"`
	Body   string `json:"body"`
	URL    string `json:"url"`             // the page that a press opens, on this site
	Until  int64  `json:"until,omitzero"`  // when the request ends, in milliseconds since 1970; 0: it has no deadline
	Ticket string `json:"ticket,omitzero"` // with which its buttons answer; empty: it has none
	Yes    string `json:"yes,omitzero"`    // what the buttons say
	No     string `json:"no,omitzero"`
}

// shown is a text of an agent as a notification shows it: on one line, with what nobody sees as its number, and with secrets masked. The
// queue has masked them already; what is sent to another company is masked whatever it comes from.
func shown(s string, room int) string { return approval.Short(credential.Mask(s), room) }

// waits is the notification of a request that waits in a project.
func waits(project, key string, r approval.Request) content {
	id := key + "/" + r.ID
	c := content{Kind: "waits", Tag: id, URL: "/inbox#card-" + key + "-" + r.ID, Yes: "Approve", No: "Deny"}
	if !r.Deadline.IsZero() {
		c.Until = r.Deadline.UnixMilli()
	}
	who := shown(r.Name(60), 60)
	switch r.Kind {
	case approval.Stop:
		c.Title, c.Yes, c.No = who+" wants to stop", "Go on", "Let it stop"
	case approval.Question:
		c.Title = who + " asks you something"
	case approval.Call:
		c.Title = shown(cmp.Or(string(r.Risk), "unknown")+" risk: "+program(r), titleRoom)
		if at := targets(r); len(at) > 0 {
			c.Body = shown(strings.Join(at, ", "), bodyRoom) + "\n"
		}
	}
	c.Body += who + " in " + shown(project, 60)
	if !answerable(r) {
		c.Yes, c.No = "", ""
		c.Body += "\nOpen the inbox to answer."
	}
	return c
}

// program is what a call runs, else the name of its tool.
func program(r approval.Request) string {
	var all []string
	for _, p := range r.Facts.Parts {
		if p.Program != "" && !slices.Contains(all, p.Program) {
			all = append(all, p.Program)
		}
	}
	return cmp.Or(strings.Join(few(all), ", "), strings.TrimPrefix(r.Tool, "agent__"), "a call")
}

// targets are the hosts, files and branches that a call reaches: those that it changes first.
func targets(r approval.Request) []string {
	var first, then []string
	add := func(to *[]string, s string) {
		if s = text.TruncateRunes(s, itemRoom); !slices.Contains(first, s) && !slices.Contains(then, s) {
			*to = append(*to, s)
		}
	}
	for _, p := range r.Facts.Parts {
		for _, h := range p.Hosts {
			add(&first, h)
		}
		for _, at := range p.Paths {
			to := &first
			if at.Access == policy.Read {
				to = &then
			}
			add(to, string(at.Access)+" "+cmp.Or(at.Resolved, at.Clean, at.Raw))
		}
	}
	return few(append(first, then...))
}

// few are the first of many.
func few(all []string) []string {
	if len(all) <= maxItems {
		return all
	}
	return append(slices.Clone(all[:maxItems]), "and more")
}

// settled is the notification that takes the place of one whose request has ended.
func settled(key string, r approval.Request) content {
	c := content{Kind: "settled", Tag: key + "/" + r.ID, URL: "/inbox"}
	said := map[approval.State]string{approval.Allowed: "Allowed", approval.Denied: "Denied", approval.Expired: "Over"}[r.State]
	what := program(r)
	if r.Kind != approval.Call {
		what = r.Name(60)
	}
	c.Title = shown(said+": "+what, titleRoom)
	switch a := r.Answer; {
	case a == nil:
		c.Body = "It waits no longer."
	case a.By == approval.ByDeadline:
		c.Body = text.OneLine(r.Kind.Lapse())
	default:
		c.Body = "By " + shown(a.Name(), 60)
	}
	return c
}
