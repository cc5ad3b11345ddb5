package view

import (
	"slices"
	"strings"
	"unicode/utf8"

	"mycelium/internal/policy"
)

// anotherTool replaces a hidden name.
const anotherTool = "another tool"

// catalogNames are all names of one catalog, numbered.
type catalogNames struct {
	client nameSet             // as clients write them
	own    map[string]*nameSet // as a server writes its own, by server
	bare   *nameSet            // of the one server whose names clients write without a prefix; nil: there is none
	count  int32
}

// nameSet is a set of names with their numbers.
type nameSet struct {
	number  map[string]int32
	lengths [256]uint64 // by first byte: bit n for a name of n bytes, bit 63 for all longer ones. It turns nearly every word away.
}

func (n *nameSet) add(name string, number int32) {
	if n.number == nil {
		n.number = map[string]int32{}
	}
	n.number[name] = number
	n.lengths[name[0]] |= 1 << min(len(name), 63)
}

// find returns the number of a name, or -1. A nil set is empty.
func (n *nameSet) find(s string) int32 {
	if n == nil || n.lengths[s[0]]&(1<<min(len(s), 63)) == 0 {
		return -1
	}
	if number, ok := n.number[s]; ok {
		return number
	}
	return -1
}

// add adds an item and returns its number. A tool and a prompt of one name share a number.
func (c *catalogNames) add(server, name string, bare bool) int32 {
	text := server + "__" + name
	if number, ok := c.client.number[text]; ok {
		return number
	}
	number := c.count
	c.count++
	c.client.add(text, number)
	set := c.own[server]
	if set == nil {
		if c.own == nil {
			c.own = map[string]*nameSet{}
		}
		set = &nameSet{}
		c.own[server] = set
	}
	set.add(name, number)
	if bare {
		c.bare = set
	}
	return number
}

// namesOf returns the names of a world. If they are the names of old, it returns those, so that their numbers stay, and with them what
// was found in texts.
func namesOf(w World, own []policy.Definition, old *Catalog) *catalogNames {
	var all []policy.Item
	for _, d := range slices.Concat(own, w.Definitions) {
		all = append(all, d.Item)
	}
	all = append(all, w.Held...)
	if old != nil && old.Bare == w.Bare {
		distinct, known := map[string]bool{}, true
		for _, it := range all {
			if text := it.String(); countsAsName(it) {
				_, has := old.names.client.number[text]
				distinct[text], known = true, known && has
			}
		}
		if known && len(distinct) == int(old.names.count) {
			return old.names
		}
	}
	c := &catalogNames{}
	for _, it := range all {
		if countsAsName(it) {
			c.add(it.Server, it.Name, w.Bare != "" && it.Server == w.Bare)
		}
	}
	return c
}

// countsAsName reports whether texts may mention an item by name. A resource has a URI instead, and an agent's own tools are not
// hidden from it.
func countsAsName(it policy.Item) bool {
	return it.Kind != policy.Resource && it.Server != policy.AgentServer && it.Name != ""
}

// mention is a place where a text names an item.
type mention struct {
	from, to int // in bytes
	number   int32
}

// maxName bounds a name of the client's form, in bytes: server, "__" and 128 bytes. Server names are not bounded; a longer name is
// found only where it is the whole run of name bytes.
const maxName = 512

// wordByte reports whether a byte continues a word: a name begins and ends next to any other byte.
func wordByte(b byte) bool {
	return b == '_' || b >= '0' && b <= '9' || b >= 'a' && b <= 'z' || b >= 'A' && b <= 'Z'
}

// nameByte reports whether a byte can be part of a name.
func nameByte(b byte) bool { return wordByte(b) || b == '.' || b == '-' }

// mentions finds the names in a text of a server. In prose the server's own names also count without their prefix, if they are meant
// as names (see meant). In other texts (the values of a schema) only names with a prefix count: only a gateway writes those, while the
// server defines what a value such as "create_issue" means.
func (c *catalogNames) mentions(dst []mention, s, server string, prose bool) []mention {
	own := c.own[server]
	for i := 0; i < len(s); {
		if !nameByte(s[i]) {
			i++
			continue
		}
		end := i + 1
		for end < len(s) && nameByte(s[end]) {
			end++
		}
		dst = c.run(dst, s, i, end, own, prose)
		i = end
	}
	return dst
}

// run finds the names in one run of name bytes, from left to right, the longest first: a name may be followed by the dot that ends a
// sentence, or by a hyphen.
func (c *catalogNames) run(dst []mention, s string, from, end int, own *nameSet, prose bool) []mention {
	prefixed := strings.Contains(s[from:end], "__")
next:
	for at := from; at < end; at++ {
		if at > from && wordByte(s[at-1]) {
			continue
		}
		for to := min(end, at+maxName); to > at; to-- {
			if to < end && wordByte(s[to]) {
				continue
			}
			word := s[at:to]
			number := int32(-1)
			if prefixed {
				number = c.client.find(word)
			}
			if number < 0 && prose {
				if number = own.find(word); number < 0 {
					number = c.bare.find(word)
				}
				if number >= 0 && !meant(s, at, to) {
					number = -1
				}
			}
			if number >= 0 {
				dst = append(dst, mention{at, to, number})
				at = to - 1
				continue next
			}
		}
	}
	return dst
}

// meant reports whether a word that is the bare name of a tool is meant as that name. A word in the form of a name is (read_text_file,
// get-sum, readFile); a common word (search, read, echo) is only if it is quoted, called, or followed by "tool".
func meant(s string, from, to int) bool {
	for i := from; i < to; i++ {
		if b := s[i]; b == '_' || b == '-' || b == '.' || i > from && b >= 'A' && b <= 'Z' && s[i-1] >= 'a' && s[i-1] <= 'z' {
			return true
		}
	}
	rest := s[to:]
	if strings.HasPrefix(rest, "(") {
		return true
	}
	before, _ := utf8.DecodeLastRuneInString(s[:from])
	after, _ := utf8.DecodeRuneInString(rest)
	const opening, closing = "`'\"“‘「『《", "`'\"”’」』》"
	if from > 0 && to < len(s) && strings.ContainsRune(opening, before) && strings.ContainsRune(closing, after) {
		return true
	}
	rest = strings.TrimLeft(rest, " \t\n")
	for _, word := range [...]string{"tool", "Tool", "ツール"} {
		if tail, ok := strings.CutPrefix(rest, word); ok {
			tail = strings.TrimPrefix(tail, "s")
			return word == "ツール" || tail == "" || !wordByte(tail[0])
		}
	}
	return false
}

// nameBits is a set of numbers of names.
type nameBits []uint64

func (s nameBits) add(n int32)      { s[n/64] |= 1 << (n % 64) }
func (s nameBits) has(n int32) bool { return s[n/64]&(1<<(n%64)) != 0 }

// mask replaces the names in a text that are not in view, and reports whether it replaced any.
func (c *catalogNames) mask(s, server string, prose bool, view nameBits) (string, bool) {
	var buf [8]mention
	var b strings.Builder
	copied := 0
	for _, m := range c.mentions(buf[:0], s, server, prose) {
		if view.has(m.number) {
			continue
		}
		b.WriteString(s[copied:m.from])
		b.WriteString(anotherTool)
		copied = m.to
	}
	if copied == 0 {
		return s, false
	}
	b.WriteString(s[copied:])
	return b.String(), true
}

// Masked returns a text of a server with the names masked that a view does not show, and with the server's own names in the form that
// clients use: a text that says `use search first` is of no use to who knows the tool as docs__search.
func (w *Catalog) Masked(server, text string, v *Lists) string {
	var buf [8]mention
	var b strings.Builder
	own := w.names.own[server]
	copied := 0
	for _, m := range w.names.mentions(buf[:0], text, server, true) {
		word := text[m.from:m.to]
		switch {
		case !v.seen.has(m.number):
			word = anotherTool
		case own.find(word) == m.number && own != w.names.bare:
			word = server + "__" + word
		default:
			continue
		}
		b.WriteString(text[copied:m.from])
		b.WriteString(word)
		copied = m.to
	}
	b.WriteString(text[copied:])
	return b.String()
}
