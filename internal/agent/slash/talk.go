package slash

import (
	"context"
	"fmt"
	"strings"

	"github.com/go-json-experiment/json"

	lm "mycelium/internal/model"
	"mycelium/internal/text"
	"mycelium/internal/transcript"
)

func use(ctx context.Context, s *Set, now Now, _ []string) (Result, error) {
	u := now.Spent.Usage
	list, err := s.Door.Tools(ctx)
	if err != nil {
		return Result{}, err
	}
	const window = lm.Window
	tools := 0
	for _, t := range list {
		tools += text.Tokens(t.Name) + text.Tokens(t.Description) + text.Tokens(string(t.Schema))
	}
	rows := [][2]string{
		{"context", fmt.Sprintf("%d tokens, %.1f %% of %d", now.Spent.Context, 100*float64(now.Spent.Context)/window, window)},
	}
	for _, p := range now.Spent.Parts {
		if p.Name != "tools" { // the list of now says it better
			rows = append(rows, [2]string{"  " + p.Name, about(p.Tokens)})
		}
	}
	return Result{Text: rowsText(append(rows, [][2]string{
		{"  tools", fmt.Sprintf("%s, %s with their schemas", about(tools), text.Count(len(list), "tool"))},
		{"input", fmt.Sprintf("%d tokens, and %d written to the cache, %d read from it", u.Input, u.CacheWrite, u.CacheRead)},
		{"output", fmt.Sprintf("%d tokens", u.Output)},
		{"cost", fmt.Sprintf("%.4f USD", now.Spent.Cost)},
	}...))}, nil
}

// about is an estimate of tokens; "" for none.
func about(tokens int) string {
	if tokens == 0 {
		return ""
	}
	return fmt.Sprintf("about %d tokens", tokens)
}

// talk returns the conversation that a command names, or else the present one.
func talk(name string, now Now, args []string) (string, error) {
	switch {
	case len(args) > 0:
		return args[0], nil
	case now.Conversation == "":
		return "", usage(name, "nothing was said yet; name a saved conversation: /sessions lists them")
	}
	return now.Conversation, nil
}

func save(ctx context.Context, s *Set, now Now, args []string) (Result, error) {
	id, err := talk("save", now, nil)
	if err != nil {
		return Result{}, err
	}
	name := strings.Join(args, " ")
	if name == "" {
		return Result{Text: id + " is saved as it happens. /save NAME gives it a name."}, nil
	}
	return s.program(ctx, now, "chat", "rename", id, name)
}

// program shows what a command of myc prints.
func (s *Set) program(ctx context.Context, now Now, args ...string) (Result, error) {
	out, err := s.Run(ctx, now, args...)
	return Result{Text: strings.TrimRight(out, "\n")}, err
}

func sessions(ctx context.Context, s *Set, now Now, _ []string) (Result, error) {
	return s.program(ctx, now, "chat", "list", "--limit", "20")
}

func resume(ctx context.Context, s *Set, now Now, args []string) (Result, error) {
	if len(args) > 0 {
		return goOn(args[0]), nil
	}
	out, err := s.Run(ctx, now, "--json", "chat", "list", "--limit", "20")
	if err != nil {
		return Result{}, err
	}
	var list []struct{ ID, Name, Agent, Updated string }
	if err := json.Unmarshal([]byte(out), &list, json.MatchCaseInsensitiveNames(true)); err != nil {
		return Result{}, fmt.Errorf("/resume: read the conversations: %w", err)
	}
	c := &Choice{Title: "Conversations", Then: func(_ context.Context, id string) (Result, error) { return goOn(id), nil }}
	for _, l := range list {
		if l.Agent != transcript.Own {
			continue // another agent goes on with it: myc chat resume tells how
		}
		c.Options = append(c.Options, Option{ID: l.ID, Name: l.Name,
			About: l.ID, Current: l.ID == now.Conversation})
	}
	if len(c.Options) == 0 {
		return Result{Text: "No conversation of this agent is saved."}, nil
	}
	return Result{Choose: c}, nil
}

func goOn(id string) Result { return Result{Clear: true, Next: &Start{Resume: id}} }

// compress shortens the present conversation by its own agent, and another one as `myc chat compress` does it.
func compress(ctx context.Context, s *Set, now Now, args []string) (Result, error) {
	id, err := talk("compress", now, args)
	if err != nil {
		return Result{}, err
	}
	if id != now.Conversation {
		return s.program(ctx, now, "chat", "compress", id)
	}
	if err := s.Shorten(ctx); err != nil {
		return Result{}, fmt.Errorf("/compress: %w", err)
	}
	return Result{Text: "The agent goes on with a summary of what was said."}, nil
}

// fork goes on with a copy of a conversation of this agent. Of another one it makes a copy that can be read.
func fork(ctx context.Context, s *Set, now Now, args []string) (Result, error) {
	id, err := talk("fork", now, args)
	if err != nil {
		return Result{}, err
	}
	made, err := s.Copy(id)
	switch {
	case err != nil && id != now.Conversation:
		return s.program(ctx, now, "chat", "fork", id)
	case err != nil:
		return Result{}, fmt.Errorf("/fork: %w", err)
	}
	return Result{Next: &Start{Resume: made, Keep: id == now.Conversation}, Clear: id != now.Conversation,
		Text: "Goes on with " + text.OneLine(made) + ", a copy of " + text.OneLine(id) + "."}, nil
}

func export(ctx context.Context, s *Set, now Now, args []string) (Result, error) {
	format := "markdown"
	if n := len(args); n > 0 && (args[n-1] == "markdown" || args[n-1] == "json" || args[n-1] == "html") {
		format, args = args[n-1], args[:n-1]
	}
	id, err := talk("export", now, args)
	if err != nil {
		return Result{}, err
	}
	file := strings.Map(func(r rune) rune {
		if strings.ContainsRune(`/\.`, r) {
			return '-'
		}
		return r
	}, id) + "." + map[string]string{"markdown": "md", "json": "json", "html": "html"}[format]
	if _, err := s.Run(ctx, now, "chat", "export", id, "--format", format, "--tool-calls", "-o", file); err != nil {
		return Result{}, err
	}
	return Result{Text: "Written: " + text.OneLine(file)}, nil
}

// answered shows the calls of the session that an answer or the policy decided, out of the log.
func answered(name, effect string) func(context.Context, *Set, Now, []string) (Result, error) {
	return func(ctx context.Context, s *Set, now Now, _ []string) (Result, error) {
		args := []string{"audit", "query", "--session", now.Session, "--effect", effect, "--limit", "20"}
		if name == "approved" {
			args = append(args, "--by", "person")
		}
		r, err := s.program(ctx, now, args...)
		if err == nil && !strings.Contains(r.Text, "\n") { // a table without rows
			r.Text = "No call of this session was " + name + "."
		}
		return r, err
	}
}

func reset(ctx context.Context, s *Set, now Now, _ []string) (Result, error) {
	return s.program(ctx, now, "approvals", "reset", now.Session)
}
