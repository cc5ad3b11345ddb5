package transcript

import (
	"context"
	_ "embed"
	"errors"
	"sync/atomic"

	"github.com/go-json-experiment/json"

	"mycelium/internal/builtin"
	"mycelium/internal/policy"
	"mycelium/internal/transcript/page"
)

// Name is the name of the built-in server.
const Name = "mycelium-session"

//go:embed tools.json
var definitions string

// maxAnswer bounds what one call returns, in bytes. A person can export more.
const maxAnswer = 1 << 20

// Server has the tools with which agents keep conversations. It is safe for concurrent use.
type Server struct {
	open  atomic.Pointer[opened]
	tools *builtin.Table[*Server]
}

// opened is a book, with the model that writes summaries.
type opened struct {
	book  *Book
	model func(ctx context.Context, said string, tokens int) (string, error)
}

// NewServer makes the server. Until Open is called its tools are defined, and each fails.
func NewServer() (*Server, error) {
	tools, err := builtin.Parse(Name, definitions, map[string]builtin.Func[*Server]{
		"session_add_message": entered(addMessage),
		"session_add_tags":    entered(tag),
		"session_compress":    entered(compress),
		"session_delete":      entered(remove),
		"session_export":      entered(export),
		"session_fork":        entered(fork),
		"session_list":        entered(list),
		"session_load":        entered(load),
		"session_rename":      entered(rename),
		"session_save":        entered(save),
	})
	if err != nil {
		return nil, err
	}
	return &Server{tools: tools}, nil
}

// Open gives the server its book, and the model that writes summaries; nil: there is none.
func (s *Server) Open(b *Book, model func(ctx context.Context, said string, tokens int) (string, error)) {
	s.open.Store(&opened{b, model})
}

// Definitions returns the tools. The caller must not change them.
func (s *Server) Definitions() []policy.Definition { return s.tools.Definitions() }

// Do answers an MCP request as [builtin.Table.Do] does.
func (s *Server) Do(ctx context.Context, scope policy.Scope, method string, params []byte, _ func(method string, params []byte)) (result,
	rpcErr []byte, err error) {
	return s.tools.Do(ctx, s, scope, method, params)
}

// request has the arguments of all tools.
type request struct {
	Session  string    `json:"sessionId"`
	Name     string    `json:"name"`
	Role     string    `json:"roleId"`
	Tags     []string  `json:"tags"`
	Messages []message `json:"messages"`
	Limit    *int      `json:"limit"`
	From     *int      `json:"fromMessageIndex"`

	Strategy string `json:"strategy"`
	Keep     *int   `json:"keepRecentMessages"`
	Target   *int   `json:"targetTokens"`

	Format   string `json:"format"`
	Calls    bool   `json:"includeToolCalls"`
	Thinking bool   `json:"includeThinking"`
	Metadata *bool  `json:"includeMetadata"`

	MessageRole string `json:"role"`
	Content     string `json:"content"`
}

// message is a message as an agent writes it.
type message struct {
	Role    string `json:"role"`
	Content string `json:"content"`
}

// limits of how much one call lists.
const (
	defaultList  = 20 // requirements, A39
	defaultLoad  = 50
	mostPerLoad  = 500
	mostPerSave  = 500
	mostPerEvery = 500 // conversations in one list
)

// call is what a call works with: the book, and whose conversations they are.
type call struct {
	*opened
	Caller
}

// entered returns a function of the server that is called with a caller who may have conversations. A roleId that is not the role of the
// session is refused, whether there is such a role or not.
func entered(f func(ctx context.Context, c call, r request) (builtin.Answer, error)) builtin.Func[*Server] {
	return builtin.Entered((*Server).enter, func(ctx context.Context, c call, r request) (builtin.Answer, error) {
		if r.Role != "" && r.Role != c.Role {
			return builtin.Answer{}, errors.New("roleId is not the role of this session: conversations belong to its role; leave roleId out")
		}
		return f(ctx, c, r)
	})
}

func (s *Server) enter(scope policy.Scope) (call, error) {
	o := s.open.Load()
	if o == nil {
		return call{}, errors.New("conversations are kept by the daemon of the project, and this process is none")
	}
	w := Caller{Principal: scope.Principal.ID, Role: scope.Principal.Role}
	return call{o, w}, w.check()
}

func save(ctx context.Context, k call, r request) (builtin.Answer, error) {
	if len(r.Messages) > mostPerSave {
		return builtin.Answer{}, errors.New("one call saves at most 500 messages; session_add_message adds more")
	}
	c := Conversation{Name: r.Name, Tags: r.Tags}
	for _, m := range r.Messages {
		c.Messages = append(c.Messages, Message{Role: m.Role, Content: m.Content})
	}
	saved, err := k.book.Save(ctx, k.Caller, c)
	if err != nil {
		return builtin.Answer{}, err
	}
	saved.Messages = nil
	return structured(saved)
}

func list(ctx context.Context, k call, r request) (builtin.Answer, error) {
	all, err := k.book.List(ctx, k.Caller, r.Tags, min(max(1, or(r.Limit, defaultList)), mostPerEvery))
	if err != nil {
		return builtin.Answer{}, err
	}
	return structured(map[string]any{"sessions": all})
}

// loaded is a part of a conversation.
type loaded struct {
	*Conversation
	From int `json:"fromMessageIndex"` // the index of the first message here
}

// load returns the last messages, or those from an index on.
func load(ctx context.Context, k call, r request) (builtin.Answer, error) {
	c, err := k.book.Load(ctx, k.Caller, r.Session)
	if err != nil {
		return builtin.Answer{}, err
	}
	most := min(max(1, or(r.Limit, defaultLoad)), mostPerLoad)
	from := min(or(r.From, max(0, len(c.Messages)-most)), len(c.Messages))
	end, size := from, 0
	for end < min(from+most, len(c.Messages)) {
		if size += sizeOf(&c.Messages[end]); size > maxAnswer/2 && end > from { // text and structure both have it
			break
		}
		end++
	}
	c.Messages = c.Messages[from:end]
	return structured(loaded{c, from})
}

func remove(ctx context.Context, k call, r request) (builtin.Answer, error) {
	if err := k.book.Delete(ctx, k.Caller, r.Session); err != nil {
		return builtin.Answer{}, err
	}
	return structured(map[string]string{"deleted": r.Session})
}

func compress(ctx context.Context, k call, r request) (builtin.Answer, error) {
	done, err := k.book.Compress(ctx, k.Caller, r.Session, Compression{Strategy: r.Strategy, Keep: or(r.Keep, DefaultKeep),
		Target: or(r.Target, DefaultTarget), Model: k.model})
	if err != nil {
		return builtin.Answer{}, err
	}
	return structured(done)
}

func fork(ctx context.Context, k call, r request) (builtin.Answer, error) {
	c, err := k.book.Fork(ctx, k.Caller, r.Session, or(r.From, -1), r.Name)
	if err != nil {
		return builtin.Answer{}, err
	}
	c.Messages = nil
	return structured(c)
}

func export(ctx context.Context, k call, r request) (builtin.Answer, error) {
	c, err := k.book.Load(ctx, k.Caller, r.Session)
	if err != nil {
		return builtin.Answer{}, err
	}
	out, err := Export(c, r.Format, page.Options{Calls: r.Calls, Thinking: r.Thinking, Metadata: r.Metadata == nil || *r.Metadata})
	if err != nil {
		return builtin.Answer{}, err
	}
	if len(out) > maxAnswer {
		return builtin.Answer{}, errors.New("the export is larger than 1 MiB: compress the conversation, or ask a person for myc chat export")
	}
	return builtin.Answer{Content: []builtin.Block{builtin.TextBlock(out)}}, nil
}

func rename(ctx context.Context, k call, r request) (builtin.Answer, error) {
	name, err := k.book.Rename(ctx, k.Caller, r.Session, r.Name)
	if err != nil {
		return builtin.Answer{}, err
	}
	return structured(map[string]string{"id": r.Session, "name": name})
}

func tag(ctx context.Context, k call, r request) (builtin.Answer, error) {
	tags, err := k.book.AddTags(ctx, k.Caller, r.Session, r.Tags)
	if err != nil {
		return builtin.Answer{}, err
	}
	return structured(map[string]any{"id": r.Session, "tags": tags})
}

func addMessage(ctx context.Context, k call, r request) (builtin.Answer, error) {
	index, id, err := k.book.AddMessage(ctx, k.Caller, r.Session, Message{Role: r.MessageRole, Content: r.Content})
	if err != nil {
		return builtin.Answer{}, err
	}
	return structured(map[string]any{"id": id, "index": index})
}

func or(n *int, otherwise int) int {
	if n == nil {
		return otherwise
	}
	return *n
}

// structured makes an answer of a value, as JSON text and as a structure.
func structured(v any) (builtin.Answer, error) {
	data, err := json.Marshal(v)
	if err != nil {
		return builtin.Answer{}, err
	}
	return builtin.Answer{Content: []builtin.Block{builtin.TextBlock(string(data))}, Structured: v}, nil
}
