package gate

import (
	"slices"
	"strings"
	"unicode/utf8"

	"mycelium/internal/policy"
)

// The names of tools and prompts, to be found in texts that others wrote: what a session is shown must not name what is hidden
// from it (decision 5).

// anotherTool stands where a hidden name stood.
const anotherTool = "another tool"

// catalogNames are all names of one world, numbered.
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

// find is the number of a name, or -1. A set of nothing may be nil.
func (n *nameSet) find(s string) int32 {
	if n == nil || n.lengths[s[0]]&(1<<min(len(s), 63)) == 0 {
		return -1
	}
	if number, ok := n.number[s]; ok {
		return number
	}
	return -1
}

// add takes an item and returns its number: a tool and a prompt of one name have one.
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

// namesOf are the names of a catalog. Where they are those of the world before, its numbers stay, and with them what was found in
// texts.
func namesOf(w World, old *world) *catalogNames {
	var all []policy.Item
	for _, d := range slices.Concat(ControlDefinitions(), w.Definitions) {
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

// countsAsName reports whether an item has a name that texts may mention: a resource has a URI, and an agent's own tools are
// no secret of ours.
func countsAsName(it policy.Item) bool {
	return it.Kind != policy.Resource && it.Server != policy.AgentServer && it.Name != ""
}

// mention is where a text names an item.
type mention struct {
	from, to int // in bytes
	number   int32
}

// maxName bounds a name of the client's form: server, "__" and 128 bytes. Server names are not bounded; a longer one than this is
// found only where nothing but the name stands.
const maxName = 512

// wordByte tells the bytes that a word cannot go on without ending: a name has begun and ended where none of them stands.
func wordByte(b byte) bool {
	return b == '_' || b >= '0' && b <= '9' || b >= 'a' && b <= 'z' || b >= 'A' && b <= 'Z'
}

// nameByte tells the bytes of which names are made.
func nameByte(b byte) bool { return wordByte(b) || b == '.' || b == '-' }

// mentions finds the names in a text of a server. In prose a server's own names count without prefix too, where they can be
// meant as names: see meant. In other texts (the values of a schema) only names with their prefix count: nothing but a gateway
// writes those, while a value such as "create_issue" is the server's to define.
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

// run finds the names in one run of name bytes, from left to right, the longest first: a name may end in a dot that ends a
// sentence, or be followed by a hyphen.
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

// meant reports whether a word that is the bare name of a tool is meant as that name. A word that is made like a name is
// (read_text_file, get-sum, readFile); a common word (search, read, echo) only where it is quoted, called, or said to be a tool.
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

// mask replaces the names in a text that are not in view. Without any it returns the text itself.
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
