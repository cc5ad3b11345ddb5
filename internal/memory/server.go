package memory

import (
	"context"
	_ "embed"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"mycelium/internal/builtin"
	"mycelium/internal/policy"
	"mycelium/internal/store"
	"mycelium/internal/text"
)

// definitions are the tools of a scope that may not ask for the memories of every role, and wider those of one that may: the second have
// the arguments role_id and all_roles. They have the same names, sorted.
//
//go:embed tools.json
var definitions string

//go:embed tools_all.json
var wider string

// maxAnswer bounds the texts of one answer, in bytes.
const maxAnswer = 512 << 10

// Server is the built-in server mycelium-memory. It is safe for concurrent use. Until Open is called it refuses every call.
type Server struct {
	folder Folder
	opened atomic.Pointer[opened]
	narrow *builtin.Table[*Server]
	wide   *builtin.Table[*Server]
}

// opened is what a server has while a project runs.
type opened struct {
	db     *store.DB
	policy func() *policy.Policy
	guard  Guard
}

// NewServer makes the server over a folder.
func NewServer(f Folder) (*Server, error) {
	s := &Server{folder: f}
	funcs := map[string]builtin.Func[*Server]{
		"list_memories": builtin.Entered((*Server).enter, listMemories), "recall_memory": builtin.Entered((*Server).enter, recall),
		"save_memory": builtin.Entered((*Server).enter, save),
	}
	var err error
	if s.narrow, err = builtin.Parse(policy.MemoryServer, definitions, funcs); err != nil {
		return nil, err
	}
	s.wide, err = builtin.Parse(policy.MemoryServer, wider, funcs)
	return s, err
}

// Open lets the server answer: db has the index, and policy returns the policy in force.
func (s *Server) Open(db *store.DB, policy func() *policy.Policy, g Guard) {
	s.opened.Store(&opened{db, policy, g})
}

// Definitions returns the tools of a scope that reads its own memory only. The caller must not change them.
func (s *Server) Definitions() []policy.Definition { return s.narrow.Definitions() }

// Wider returns the tools of a scope for which Widens is true. The caller must not change them.
func (s *Server) Wider() []policy.Definition { return s.wide.Definitions() }

// Widens reports whether a scope may ask for the memories of every role. It depends on the roles of the principal and its ancestors only.
func Widens(p *policy.Policy, scope policy.Scope) bool {
	a := Of(p, scope)
	return a.Own != "" && a.All
}

// Do answers an MCP request as [builtin.Table.Do] does. What a scope may ask is checked against its own definitions.
func (s *Server) Do(ctx context.Context, scope policy.Scope, method string, params []byte, _ func(method string, params []byte)) (result,
	rpcErr []byte, err error) {
	table := s.narrow
	if o := s.opened.Load(); o != nil && Widens(o.policy(), scope) {
		table = s.wide
	}
	return table.Do(ctx, s, scope, method, params)
}

// errUnread stands for an error whose text has paths of the operator.
func errUnread() error {
	return errors.New("the memory cannot be read; a person finds out why with myc doctor")
}

// call is what a call works with.
type call struct {
	Access
	Guard
	x Index
}

// enter returns what a call needs, or why it is refused.
func (s *Server) enter(scope policy.Scope) (call, error) {
	o := s.opened.Load()
	if o == nil {
		return call{}, errors.New("the memory is not open")
	}
	a := Of(o.policy(), scope)
	if a.Own == "" {
		return call{}, errNothing()
	}
	return call{a, o.guard, Index{Folder: s.folder, DB: o.db}}, nil
}

func save(_ context.Context, c call, args struct {
	Content string   `json:"content"`
	Type    string   `json:"type"`
	Tags    []string `json:"tags"`
	Source  string   `json:"source"`
}) (builtin.Answer, error) {
	now := time.Now()
	e, err := New(args.Content, args.Type, args.Tags, args.Source, now)
	if err == nil {
		e, err = c.keep(e)
	}
	if err == nil {
		err = c.x.Folder.Save(c.Own, now, e)
	}
	if err != nil {
		return builtin.Answer{}, err
	}
	e.Role = c.Own
	out := builtin.Text("Saved as %s to the memory of role %s.", e.ID, c.Own)
	out.Structured = map[string]any{"id": e.ID, "role": e.Role, "type": e.Type}
	return out, nil
}

// query has the arguments of recall_memory.
type query struct {
	Query    string   `json:"query"`
	Type     string   `json:"type"`
	Tags     []string `json:"tags"`
	Limit    int      `json:"limit"`
	AllRoles bool     `json:"all_roles"`
}

// recalled is the structured answer of recall_memory.
type recalled struct {
	Memories []Entry `json:"memories"`
	Total    int     `json:"total"`
	Withheld int     `json:"withheld,omitzero"` // of those that were found, because of what they say
}

func recall(ctx context.Context, c call, q query) (builtin.Answer, error) {
	roles, err := c.roles(c.x.Folder, "", q.AllRoles)
	if err != nil {
		return builtin.Answer{}, err
	}
	found, err := c.x.Search(ctx, Query{Text: q.Query, Roles: roles, Type: q.Type, Tags: q.Tags, Limit: q.Limit})
	if err != nil {
		return builtin.Answer{}, errUnread()
	}
	out := recalled{Memories: []Entry{}, Total: found.Total}
	var b strings.Builder
	for _, e := range found.Entries {
		if b.Len()+len(e.Content) > maxAnswer {
			break
		}
		e, why := c.entry(e)
		if why != "" {
			out.Withheld++
			continue
		}
		out.Memories = append(out.Memories, e)
		write(&b, e)
	}
	if out.Withheld > 0 {
		fmt.Fprintf(&b, "%d withheld, because what is written there may mislead a model. A person finds it with myc doctor.\n", out.Withheld)
	}
	switch n := len(out.Memories) + out.Withheld; {
	case found.Total == 0:
		b.WriteString("There is no memory of this.")
	case n < found.Total:
		fmt.Fprintf(&b, "%d of %d memories. Ask with more words, a type or tags for others.", n, found.Total)
	}
	if len(found.Unread) > 0 {
		b.WriteString("\nNot everything could be read. A person finds out why with myc doctor.")
	}
	return builtin.Answer{Content: []builtin.Block{builtin.TextBlock(strings.TrimSpace(b.String()))}, Structured: out}, nil
}

// write writes an entry for a model.
func write(b *strings.Builder, e Entry) {
	fmt.Fprintf(b, "[%s] %s of role %s", e.ID, e.Type, e.Role)
	if !e.Created.IsZero() {
		b.WriteString(", " + e.Created.Format(time.DateOnly))
	}
	if len(e.Tags) > 0 {
		b.WriteString(", tags " + strings.Join(e.Tags, ", "))
	}
	if e.Source != "" {
		b.WriteString(", from " + e.Source)
	}
	b.WriteString("\n" + e.Content + "\n\n")
}

// roles returns the roles that a call is about: one, every role, or the usual ones.
func (a Access) roles(f Folder, one string, every bool) ([]string, error) {
	if one == "" && !every {
		return a.Usual(), nil
	}
	if !a.All {
		return nil, errNothing() // the definitions of the scope do not have the arguments
	}
	if one != "" {
		return []string{one}, nil
	}
	return f.Roles()
}

// Summary is what the memory of a role holds.
type Summary struct {
	Role     string         `json:"role"`
	Total    int            `json:"total"`
	Types    map[string]int `json:"types"`
	Tags     []string       `json:"tags"`
	Last     time.Time      `json:"lastSaved,omitzero"`
	Problems int            `json:"problems,omitzero"` // parts of the file that are no entry
}

// Summarise counts what a file holds.
func Summarise(d *Doc) Summary {
	out := Summary{Role: d.Role, Types: map[string]int{}, Tags: []string{}, Problems: len(d.Problems)}
	for _, e := range d.Entries() {
		out.Total++
		out.Types[e.Type]++
		out.Tags = append(out.Tags, e.Tags...)
		if e.Created.After(out.Last) {
			out.Last = e.Created
		}
	}
	slices.Sort(out.Tags)
	out.Tags = slices.Compact(out.Tags)
	return out
}

func listMemories(_ context.Context, c call, args struct {
	RoleID   string `json:"role_id"`
	AllRoles bool   `json:"all_roles"`
}) (builtin.Answer, error) {
	roles, err := c.roles(c.x.Folder, args.RoleID, args.AllRoles)
	if err != nil {
		return builtin.Answer{}, err
	}
	list := []Summary{}
	var b strings.Builder
	for _, role := range roles {
		d, _, err := c.x.Folder.Read(role)
		if err != nil {
			fmt.Fprintf(&b, "Role %s: %s\n", role, errUnread())
			continue
		}
		m := Summarise(d)
		m.Tags = c.tags(m.Tags)
		list = append(list, m)
		fmt.Fprintf(&b, "Role %s: %d", role, m.Total)
		for _, kind := range Types() {
			if n := m.Types[kind]; n > 0 {
				fmt.Fprintf(&b, ", %s %d", kind, n)
			}
		}
		if len(m.Tags) > 0 {
			fmt.Fprintf(&b, "; tags %s", text.Truncate(strings.Join(m.Tags, ", "), 2000))
		}
		b.WriteString("\n")
	}
	if b.Len() == 0 {
		b.WriteString("There are no memories.")
	}
	return builtin.Answer{Content: []builtin.Block{builtin.TextBlock(strings.TrimSpace(b.String()))},
		Structured: map[string]any{"roles": list}}, nil
}
