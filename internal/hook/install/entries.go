package install

import (
	"slices"

	"mycelium/internal/harness"
)

// paths are the lists that we write to, each with the names of the objects that lead to it.
func (s *Setup) paths() [][]string {
	out := [][]string{{"hooks"}}
	for _, event := range s.Agent.Events() {
		out = append(out, []string{"hooks", event})
	}
	if deny := s.Agent.Hooks.DenyPath; len(s.denials()) > 0 {
		out = append(out, deny[:1], deny)
	}
	return out
}

// lookup returns the value at a path of names, or nil.
func lookup(root *jsonNode, path []string) *jsonNode {
	for _, name := range path {
		if root == nil || root.kind != '{' {
			return nil
		}
		root = root.get(name)
	}
	return root
}

func exists(text []byte, comments bool, path []string) bool {
	root, err := parseJSON(text, comments)
	return err == nil && lookup(&root, path) != nil
}

// standing returns those of some rules that the own deny list of an agent in a file holds.
func standing(text []byte, agent harness.Agent, rules []string) []string {
	root, err := parseJSON(text, agent.Hooks.Comments)
	if err != nil {
		return nil
	}
	list := lookup(&root, agent.Hooks.DenyPath)
	if list == nil {
		return nil
	}
	held := map[string]bool{}
	for _, e := range list.elems {
		held[e.str(text)] = true
	}
	return slices.DeleteFunc(slices.Clone(rules), func(rule string) bool { return !held[rule] })
}

// strip removes our entries: hooks by their command, deny entries and switches by the note, and then our containers that are empty.
func (s *Setup) strip(text []byte, n *note) ([]byte, error) {
	for {
		root, err := parseJSON(text, s.Agent.Hooks.Comments)
		if err != nil {
			return nil, err
		}
		next := s.stripOne(text, &root, n)
		if next == nil {
			return text, nil
		}
		text = next
	}
}

// stripOne removes one thing of ours. It returns nil if there is none left.
func (s *Setup) stripOne(text []byte, root *jsonNode, n *note) []byte {
	if deny := lookup(root, s.Agent.Hooks.DenyPath); s.Agent.Hooks.DenyPath != nil && deny != nil {
		if next := stripDenied(text, deny, n); next != nil {
			return next
		}
	}
	if hooks := lookup(root, []string{"hooks"}); hooks != nil {
		for _, event := range hooks.members {
			list := event.value
			for i, group := range list.elems {
				handlers := group.get("hooks")
				switch {
				case s.isOurs(handlerAt(text, &group)), handlers != nil && len(handlers.elems) > 0 && s.allOurs(text, handlers):
					return cut(text, &list, i, i+1)
				case handlers != nil:
					for j := range handlers.elems {
						if s.isOurs(handlerAt(text, &handlers.elems[j])) {
							return cut(text, handlers, j, j+1)
						}
					}
				}
			}
		}
	}
	for _, sw := range s.Agent.Hooks.Switches {
		v := lookup(root, sw.Path)
		if v == nil || string(v.raw(text)) != sw.On || !hasPath(n.Pinned, sw.Path) {
			continue
		}
		outer := lookup(root, sw.Path[:len(sw.Path)-1])
		i := slices.IndexFunc(outer.members, func(m jsonMember) bool { return m.name == sw.Path[len(sw.Path)-1] })
		return cut(text, outer, i, i+1)
	}
	for _, path := range slices.Backward(n.Made) { // inner containers come last
		outer, name := lookup(root, path[:len(path)-1]), path[len(path)-1]
		if inner := lookup(root, path); inner == nil || len(inner.members)+len(inner.elems) > 0 || inner.kind != '{' && inner.kind != '[' {
			continue
		}
		for i := range outer.members {
			if outer.members[i].name == name {
				return cut(text, outer, i, i+1)
			}
		}
	}
	return nil
}

// stripDenied removes from a deny list those of our entries that stand first, and beside each other. It returns nil if there are none left.
func stripDenied(text []byte, deny *jsonNode, n *note) []byte {
	ours := func(e jsonNode) bool { return slices.Contains(n.Denied, e.str(text)) }
	first := slices.IndexFunc(deny.elems, ours)
	if first < 0 {
		return nil
	}
	end := first + 1
	for end < len(deny.elems) && ours(deny.elems[end]) {
		end++
	}
	return cut(text, deny, first, end)
}

func (s *Setup) allOurs(text []byte, handlers *jsonNode) bool {
	return !slices.ContainsFunc(handlers.elems, func(h jsonNode) bool { return !s.isOurs(handlerAt(text, &h)) })
}

// handler is one handler in a file; ours reports whether it runs our hook.
type handler struct {
	harness.HookEntry
	ours bool
}

// handlerAt decodes a handler, without its place in the list.
func handlerAt(text []byte, n *jsonNode) harness.HookEntry {
	h := harness.HookEntry{Command: n.get("command").str(text), Blocks: n.get("onFailure").str(text) == "block"}
	if t := n.get("timeout"); t != nil {
		h.Timeout = string(t.raw(text))
	}
	if args := n.get("args"); args != nil {
		h.Args = []string{}
		for i := range args.elems {
			h.Args = append(h.Args, args.elems[i].str(text))
		}
	}
	return h
}

// handlers returns all handlers of a file, in order.
func (s *Setup) handlers(text []byte) ([]handler, error) {
	root, err := parseJSON(text, s.Agent.Hooks.Comments)
	if err != nil {
		return nil, err
	}
	var out []handler
	hooks := lookup(&root, []string{"hooks"})
	if hooks == nil {
		return nil, nil
	}
	for _, event := range hooks.members {
		for i, group := range event.value.elems {
			add := func(j int, h *jsonNode) {
				found := handlerAt(text, h)
				found.Event, found.Group, found.Index, found.Matcher = event.name, i, j, group.get("matcher").str(text)
				out = append(out, handler{found, s.isOurs(found)})
			}
			if s.Agent.Hooks.Flat {
				add(0, &group)
			} else if inner := group.get("hooks"); inner != nil {
				for j := range inner.elems {
					add(j, &inner.elems[j])
				}
			}
		}
	}
	return out, nil
}

func hasPath(list [][]string, path []string) bool {
	return slices.ContainsFunc(list, func(p []string) bool { return slices.Equal(p, path) })
}

// off returns the switches that a file has off.
func (s *Setup) off(text []byte) [][]string {
	root, err := parseJSON(text, s.Agent.Hooks.Comments)
	if err != nil {
		return nil
	}
	var out [][]string
	for _, sw := range s.Agent.Hooks.Switches {
		if v := lookup(&root, sw.Path); v != nil && string(v.raw(text)) != sw.On {
			out = append(out, sw.Path)
		}
	}
	return out
}

// switchOn returns the text with the switches of hooks on: those that are off although they were not when a person installed our entries,
// and the one in a project's file that stands above the other files.
func (s *Setup) switchOn(text []byte, n *note) ([]byte, error) {
	n.Pinned = nil
	for _, sw := range s.Agent.Hooks.Switches {
		root, err := parseJSON(text, s.Agent.Hooks.Comments)
		if err != nil {
			return nil, err
		}
		pin := sw.Pin && s.Scope == harness.Project
		switch v := lookup(&root, sw.Path); {
		case hasPath(n.Off, sw.Path):
			continue
		case v == nil && !pin || v != nil && string(v.raw(text)) == sw.On:
			continue
		case v != nil:
			text = slices.Concat(text[:v.start], []byte(sw.On), text[v.end:])
		default:
			if text, err = addMember(text, &root, sw.Path[0], sw.On); err != nil { // a pinned switch is a member of the root
				return nil, err
			}
		}
		if pin {
			n.Pinned = append(n.Pinned, sw.Path)
		}
	}
	return text, nil
}
