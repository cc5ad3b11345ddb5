// Package slash is the commands that a person types in the chat: /help, /roles, and those that skills bring.
//
// A command knows nothing of its own. What the session is and may do it asks the gateway, through the session's own door; what a person
// does (switch the role, activate a skill, export a conversation) is the command of myc with which people do it elsewhere.
package slash

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"

	"mycelium/internal/agent"
	"mycelium/internal/text"
)

// Set are the commands of a chat.
type Set struct {
	Door agent.Door // of the chat's own session: the one through which its agent calls tools
	// Run runs a command of myc as the person, and returns what it prints.
	Run func(ctx context.Context, now Now, args ...string) (string, error)

	// Copy copies a conversation of this agent, and returns the id of the copy. Shorten has the agent put a summary in the place of the
	// present one.
	Copy    func(id string) (string, error)
	Shorten func(ctx context.Context) error

	mu      sync.Mutex
	brought []Command // by skills
}

// Now is what the chat knows when a command begins.
type Now struct {
	Session      string // the gate's
	Conversation string // id of the saved one; empty: it is not saved
	Engine       string
	Model        string
	Role         string
	Skills       []string
	Turns        int
	Width        int // of the screen, in cells; 0: not known
	Spent        agent.Spent
}

// Command is one command.
type Command struct {
	Name  string // without the slash
	Args  string // what stands behind it, for people: "ID [FORMAT]"
	About string
	Skill string // that brings it; empty: it is built in

	run func(ctx context.Context, s *Set, now Now, args []string) (Result, error)
}

// Result is what a command came to.
type Result struct {
	Text     string  // is shown as it is
	Markdown bool    // Text is Markdown
	Choose   *Choice // the person chooses
	Next     *Start  // the chat goes on so
	Clear    bool    // the screen is empty again
	Quit     bool    // the chat ends
}

// Choice lets a person choose one of some things.
type Choice struct {
	Title   string
	Options []Option
	Then    func(ctx context.Context, id string) (Result, error)
}

// Option is one thing to choose.
type Option struct {
	ID, Name, About string
	Current         bool
}

// Start says how a conversation begins.
type Start struct {
	Model  string // empty: the one of before
	Resume string // id of a saved conversation; empty: New decides
	New    bool   // a new conversation; else the present one goes on
	Keep   bool   // with the role and the skills of before
}

// After completes a start with the conversation and the model of before: they stay, unless s says otherwise.
func (s Start) After(conversation, model string) Start {
	if !s.New && s.Resume == "" {
		s.Resume, s.Keep = conversation, true
	}
	if s.Model == "" {
		s.Model = model
	}
	return s
}

// usage is an error about what was typed.
func usage(c string, format string, args ...any) error {
	return text.Hinted(fmt.Errorf("/%s: %s", c, fmt.Sprintf(format, args...)), "/help shows the commands")
}

// All returns the commands, the built-in ones first. A command of a skill that is called like a built-in one is left out.
func (s *Set) All() []Command {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append(builtin(), s.brought...)
}

// find returns the command with a name.
func (s *Set) find(name string) (Command, bool) {
	all := s.All()
	i := slices.IndexFunc(all, func(c Command) bool { return c.Name == name })
	if i < 0 {
		return Command{}, false
	}
	return all[i], true
}

// IsCommand reports whether a line is a command and not a text for the agent: it begins with a slash and a letter, and its first word is
// no path.
func IsCommand(line string) bool {
	name, _, _ := strings.Cut(strings.TrimSpace(line), " ")
	return len(name) > 1 && name[0] == '/' && !strings.ContainsAny(name[1:], "/.\n")
}

// Do runs the command of a line. An unknown one is answered with the nearest.
func (s *Set) Do(ctx context.Context, now Now, line string) (Result, error) {
	words, err := fields(strings.TrimSpace(line))
	if err != nil {
		return Result{}, err
	}
	name := strings.TrimPrefix(words[0], "/")
	c, ok := s.find(name)
	if !ok {
		var known []string
		for _, c := range s.All() {
			known = append(known, c.Name)
		}
		err := fmt.Errorf("there is no command /%s", text.OneLine(text.Prefix(name, 64)))
		if near := text.Nearest(name, known); near != "" {
			return Result{}, text.Hinted(err, "did you mean /"+near+"?")
		}
		return Result{}, text.Hinted(err, "/help shows the commands")
	}
	return c.run(ctx, s, now, words[1:])
}

// fields divides a line into words. Quotes keep spaces.
func fields(line string) ([]string, error) {
	var out []string
	var b strings.Builder
	var quote rune
	in := false
	for _, r := range line {
		switch {
		case quote != 0 && r == quote:
			quote = 0
		case quote != 0:
			b.WriteRune(r)
		case (r == '"' || r == '\'') && !in:
			quote, in = r, true
		case r == ' ' || r == '\n' || r == '\t' || r == '　':
			if in {
				out = append(out, b.String())
				b.Reset()
			}
			in = false
		default:
			b.WriteRune(r)
			in = true
		}
	}
	if quote != 0 {
		return nil, fmt.Errorf("the quotation mark %c is not closed", quote)
	}
	if in {
		out = append(out, b.String())
	}
	return out, nil
}

// Match returns the commands that a person may mean by the beginning of a name, the likeliest first: those that begin so, then those
// that contain it, then those that have its letters in this order.
func (s *Set) Match(begun string) []Command {
	begun = strings.ToLower(begun)
	var by [3][]Command
	for _, c := range s.All() {
		switch name := strings.ToLower(c.Name); {
		case strings.HasPrefix(name, begun):
			by[0] = append(by[0], c)
		case strings.Contains(name, begun):
			by[1] = append(by[1], c)
		case Fuzzy(name, begun):
			by[2] = append(by[2], c)
		}
	}
	return slices.Concat(by[0], by[1], by[2])
}

// Fuzzy reports whether a word has the letters of another one in their order.
func Fuzzy(word, letters string) bool {
	rest := []rune(letters)
	for _, r := range word {
		if len(rest) > 0 && r == rest[0] {
			rest = rest[1:]
		}
	}
	return len(rest) == 0
}

// Standing asks the gateway for the role and the active skills of the session.
func (s *Set) Standing(ctx context.Context) (agent.Standing, error) { return s.Door.Said(ctx, "") }
