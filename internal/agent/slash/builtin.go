package slash

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/go-json-experiment/json"

	"mycelium/internal/agent"
	"mycelium/internal/text"
)

// builtin is the table of the commands that every chat has.
func builtin() []Command {
	return []Command{
		{Name: "help", About: "show the commands", run: help},
		{Name: "roles", About: "choose another role", run: roles},
		{Name: "role", Args: "ROLE", About: "switch to a role", run: role},
		{Name: "skills", About: "show the active skills", run: skills},
		{Name: "all", About: "show all skills that are open to the role", run: all},
		{Name: "add", Args: "SKILL", About: "activate a skill", run: change("add", "+")},
		{Name: "remove", Args: "SKILL", About: "deactivate a skill", run: change("remove", "-")},
		{Name: "tools", About: "show the tools that the agent sees", run: tools},
		{Name: "model", Args: "[MODEL]", About: "go on with another model", run: model},
		{Name: "status", About: "show the session: role, skills, tools, limits", run: status},
		{Name: "usage", About: "show tokens and cost, and where they are", run: use},
		{Name: "save", Args: "NAME", About: "give this conversation a name", run: save},
		{Name: "sessions", About: "list saved conversations", run: sessions},
		{Name: "resume", Args: "[ID]", About: "go on with a saved conversation", run: resume},
		{Name: "compress", Args: "[ID]", About: "make a conversation shorter", run: compress},
		{Name: "fork", Args: "[ID]", About: "go on with a copy of a conversation", run: fork},
		{Name: "export", Args: "[ID] [FORMAT]", About: "write a conversation to a file: markdown, json or html", run: export},
		{Name: "approved", About: "show the calls that were allowed by an answer", run: answered("approved", "allow")},
		{Name: "denied", About: "show the calls that were refused", run: answered("denied", "deny")},
		{Name: "reset", About: "forget the answers for the rest of the session", run: reset},
		{Name: "context", About: "show what the agent is told about its session", run: situation},
		{Name: "clear", About: "begin a new conversation", run: func(context.Context, *Set, Now, []string) (Result, error) {
			return Result{Clear: true, Next: &Start{New: true}}, nil
		}},
		{Name: "quit", About: "end the chat", run: quit},
		{Name: "exit", About: "end the chat", run: quit},
	}
}

func quit(context.Context, *Set, Now, []string) (Result, error) { return Result{Quit: true}, nil }

func help(_ context.Context, s *Set, _ Now, _ []string) (Result, error) {
	var b strings.Builder
	brought := false
	for _, c := range s.All() {
		if c.Skill != "" && !brought {
			brought = true
			b.WriteString("\nBrought by skills:\n")
		}
		about := c.About
		if c.Skill != "" {
			about += " [" + c.Skill + "]"
		}
		fmt.Fprintf(&b, "  %-22s %s\n", "/"+strings.TrimSpace(c.Name+" "+c.Args), text.Flatten(about))
	}
	b.WriteString("\nKeys:\n" + Keys)
	return Result{Text: strings.TrimRight(b.String(), "\n")}, nil
}

// Keys are the keys of the screen, for people.
const Keys = `  Enter                  send
  Alt-Enter, Ctrl-J      a new line, and so is Enter behind a \
  Up, Down               what you wrote before
  Tab                    complete /commands and @files
  PgUp, PgDn             scroll
  Ctrl-O                 unfold a call; Up and Down choose another one
  Esc, Ctrl-C            cancel the turn
  Ctrl-C twice, Ctrl-D   end the chat`

// ask calls a control tool of the gateway and decodes its answer.
func ask(ctx context.Context, s *Set, tool string, into any) error {
	r, err := s.call(ctx, tool, none{})
	switch {
	case err != nil:
		return err
	case r.Failed:
		return fmt.Errorf("%s: %s", tool, text.Flatten(text.Prefix(r.Text, 1000)))
	}
	if err := json.Unmarshal([]byte(r.Text), into, json.MatchCaseInsensitiveNames(true)); err != nil {
		return fmt.Errorf("%s: read the answer: %w", tool, err)
	}
	return nil
}

// call calls a tool through the door. args becomes a JSON object.
func (s *Set) call(ctx context.Context, tool string, args any) (agent.Result, error) {
	raw, err := json.Marshal(args)
	if err != nil {
		return agent.Result{}, err
	}
	return s.Door.Call(ctx, agent.Use{ID: "slash", Tool: tool, Args: raw}, func(agent.Waiting) {})
}

type none struct{}

func roles(ctx context.Context, s *Set, now Now, _ []string) (Result, error) {
	var list struct {
		Roles []struct {
			ID, Name, Description string
			Current               bool
		}
	}
	if err := ask(ctx, s, "mycelium-router__list_roles", &list); err != nil {
		return Result{}, err
	}
	c := &Choice{Title: "Roles", Then: func(ctx context.Context, id string) (Result, error) {
		return role(ctx, s, now, []string{id})
	}}
	for _, r := range list.Roles {
		c.Options = append(c.Options, Option{ID: r.ID, Name: cmp.Or(r.Name, r.ID), About: r.Description, Current: r.Current})
	}
	c.Options = append(c.Options, s.others(ctx, now, c.Options)...)
	if len(c.Options) == 0 {
		return Result{Text: "This session has no role to switch to."}, nil
	}
	return Result{Choose: c}, nil
}

// others are the roles that the person may give to the session, and that the agent may not take.
func (s *Set) others(ctx context.Context, now Now, known []Option) (out []Option) {
	raw, err := s.Run(ctx, now, "--json", "roles", "list")
	var list []struct{ Role string }
	if err != nil || json.Unmarshal([]byte(raw), &list, json.MatchCaseInsensitiveNames(true)) != nil {
		return nil // those that the gateway tells are enough
	}
	for _, r := range list {
		if !slices.ContainsFunc(known, func(o Option) bool { return o.ID == r.Role }) {
			out = append(out, Option{ID: r.Role, Name: r.Role, About: "yours to give; the agent cannot take it"})
		}
	}
	return out
}

func role(ctx context.Context, s *Set, now Now, args []string) (Result, error) {
	if len(args) != 1 {
		return Result{}, usage("role", "which role? /roles lets you choose")
	}
	_, err := s.Run(ctx, now, "session", "set-role", now.Session, args[0])
	return Result{}, err
}

// change activates or deactivates skills.
func change(name, sign string) func(context.Context, *Set, Now, []string) (Result, error) {
	return func(ctx context.Context, s *Set, now Now, args []string) (Result, error) {
		if len(args) == 0 {
			return Result{}, usage(name, "which skill? /all shows them")
		}
		words := []string{"session", "skills", now.Session}
		for _, a := range args {
			words = append(words, sign+a)
		}
		_, err := s.Run(ctx, now, words...)
		return Result{}, err
	}
}

// listed is a skill as the gateway lists it.
type listed struct {
	ID, Name, Description string
	Active                bool
}

func skillsOf(ctx context.Context, s *Set) ([]listed, error) {
	var list struct{ Skills []listed }
	err := ask(ctx, s, "mycelium-skills__list_skills", &list)
	return list.Skills, err
}

func skills(ctx context.Context, s *Set, now Now, args []string) (Result, error) {
	list, err := skillsOf(ctx, s)
	if err != nil {
		return roles(ctx, s, now, args) // a role that hides its skills has roles
	}
	return Result{Text: skillLines(slices.DeleteFunc(list, func(l listed) bool { return !l.Active }),
		"No skill is active. /all shows those that are open to the role.")}, nil
}

func all(ctx context.Context, s *Set, _ Now, _ []string) (Result, error) {
	list, err := skillsOf(ctx, s)
	return Result{Text: skillLines(list, "No skill is open to the role.")}, err
}

func skillLines(list []listed, empty string) string {
	if len(list) == 0 {
		return empty
	}
	var b strings.Builder
	for _, l := range list {
		mark := "○"
		if l.Active {
			mark = "●"
		}
		fmt.Fprintf(&b, "%s %-24s %s\n", mark, text.OneLine(l.ID), text.Flatten(text.FirstLine(l.Description)))
	}
	return strings.TrimRight(b.String(), "\n")
}

// tools shows one line a tool: those of the gateway itself first, so that the others are above the line that is written next.
func tools(ctx context.Context, s *Set, now Now, _ []string) (Result, error) {
	list, err := s.Door.Tools(ctx)
	if err != nil {
		return Result{}, err
	}
	own := func(t agent.Tool) int {
		if strings.HasPrefix(t.Name, "mycelium-r") || strings.HasPrefix(t.Name, "mycelium-skills__") {
			return 0
		}
		return 1
	}
	slices.SortStableFunc(list, func(a, b agent.Tool) int { return own(a) - own(b) })
	wide := 0
	for _, t := range list {
		wide = min(max(wide, text.Width(text.OneLine(t.Name))), 40)
	}
	var b strings.Builder
	for _, t := range list {
		line := fmt.Sprintf("%-*s  %s", wide, text.OneLine(t.Name), text.Flatten(text.FirstLine(t.Description)))
		if now.Width > 0 {
			line = text.TruncateCells(line, now.Width)
		}
		b.WriteString(line + "\n")
	}
	return Result{Text: b.String() + text.Count(len(list), "tool") + " visible to the agent."}, nil
}

func model(_ context.Context, _ *Set, now Now, args []string) (Result, error) {
	then := func(_ context.Context, id string) (Result, error) {
		return Result{Next: &Start{Model: id}, Text: "The next turn is for " + text.OneLine(id) + "."}, nil
	}
	if len(args) > 0 {
		return then(nil, args[0])
	}
	c := &Choice{Title: "Models", Then: then}
	for _, m := range [][2]string{{"opus", "the most able"}, {"sonnet", "able and fast"}, {"haiku", "the fastest and cheapest"}} {
		c.Options = append(c.Options, Option{ID: m[0], Name: m[0], About: m[1], Current: strings.Contains(now.Model, m[0])})
	}
	return Result{Choose: c}, nil
}

// contextAnswer is what get_context answers; see gate/control.
type contextAnswer struct {
	Session, Role   string
	AvailableRoles  []string
	ActiveSkills    []string
	AvailableSkills []string
	ToolCount       int
	Promotion       string
	StartedAt       time.Time
	HowToGetMore    string
	Notice          string
	Limits          []struct {
		What       string
		Used, Most int
	}
}

func status(ctx context.Context, s *Set, now Now, _ []string) (Result, error) {
	var c contextAnswer
	if err := ask(ctx, s, "mycelium-router__get_context", &c); err != nil {
		return Result{}, err
	}
	rows := [][2]string{
		{"session", c.Session}, {"role", cmp.Or(c.Role, "–")},
		{"skills", fmt.Sprintf("%d of %d active: %s", len(c.ActiveSkills), len(c.AvailableSkills),
			cmp.Or(strings.Join(c.ActiveSkills, ", "), "–"))},
		{"tools", fmt.Sprintf("%d visible", c.ToolCount)}, {"promotion", c.Promotion},
		{"agent", strings.TrimSpace(now.Engine + " " + now.Model)}, {"conversation", cmp.Or(now.Conversation, "not saved")},
		{"turns", fmt.Sprint(now.Turns)}, {"notice", c.Notice},
	}
	return Result{Text: rowsText(rows)}, nil
}

func rowsText(rows [][2]string) string {
	var b strings.Builder
	for _, r := range rows {
		if r[1] != "" {
			fmt.Fprintf(&b, "%-14s %s\n", r[0], text.Flatten(r[1]))
		}
	}
	return strings.TrimRight(b.String(), "\n")
}

// situation shows what the agent is told about its session: the answer of get_context, in its own words.
func situation(ctx context.Context, s *Set, _ Now, _ []string) (Result, error) {
	var c contextAnswer
	if err := ask(ctx, s, "mycelium-router__get_context", &c); err != nil {
		return Result{}, err
	}
	return Result{Text: rowsText([][2]string{{"role", c.Role}, {"may take", strings.Join(c.AvailableRoles, ", ")},
		{"active", strings.Join(c.ActiveSkills, ", ")}, {"open", strings.Join(c.AvailableSkills, ", ")},
		{"more", c.HowToGetMore}, {"notice", c.Notice}})}, nil
}
