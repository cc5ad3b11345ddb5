package demo

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"mycelium/internal/model/fake"
	"mycelium/internal/text"
)

// chat tells the story of our own agent: it asks a scripted model over the API, as it would ask a real one.
func (d *demo) chat(ctx context.Context) error {
	model := fake.New()
	defer model.Close()
	model.Play(
		fake.Step{Thinking: "The notes are a file. I read it first.", Text: "I look at the notes.", ToolUses: []fake.ToolUse{
			{Name: "files__read_file", Input: map[string]any{"path": "notes.md"}},
			{Name: "files__write_file", Input: map[string]any{"path": "notes.md", "content": "mine now"}}}},
		fake.Step{Text: "The notes say that hyphae carry what the tree needs. I have no tool that writes."},
		fake.Step{Thinking: "The summary goes into a file beside the notes; the key would be handy.", Text: "I write it.",
			ToolUses: []fake.ToolUse{
				{Name: "files__write_file", Input: map[string]any{"path": "summary.md", "content": "Hyphae carry.\n"}},
				{Name: "files__read_file", Input: map[string]any{"path": ".env"}}}},
		fake.Step{Text: "summary.md is written. The file .env is not mine to read."})
	d.env = append(d.env, "ANTHROPIC_API_KEY="+fake.Key, "ANTHROPIC_BASE_URL="+model.URL())
	if err := os.WriteFile(filepath.Join(d.dir, ".env"), []byte("KEY=secret\n"), 0o600); err != nil {
		return err
	}
	fmt.Fprintf(d.Out, "%s\n%s\n", d.bold.Render("Mycelium"), d.dim.Render("a scratch project, and our own agent with a scripted model"))
	for _, chapter := range []func(context.Context, *fake.Server) error{d.asked, d.goesOn, d.remembered} {
		if err := chapter(ctx, model); err != nil {
			return err
		}
	}
	d.ends(`myc init && myc "what is in this project?"`)
	return nil
}

// ask runs `myc` with arguments, and shows what a person sees.
func (d *demo) ask(ctx context.Context, args ...string) (string, error) {
	cmd, err := d.self(ctx, args...)
	if err != nil {
		return "", err
	}
	shown := make([]string, len(args))
	for i, a := range args {
		if shown[i] = a; strings.Contains(a, " ") {
			shown[i] = `"` + a + `"`
		}
	}
	fmt.Fprintf(d.Out, "   %s\n", d.bold.Render("$ myc "+strings.Join(shown, " ")))
	var all strings.Builder
	cmd.Stdout, cmd.Stderr = &all, &all
	err = cmd.Run()
	for line := range strings.Lines(all.String()) {
		if line = strings.TrimRight(line, "\n"); line != "" {
			fmt.Fprintf(d.Out, "   %s\n", d.dim.Render("│ "+text.TruncateCells(text.Flatten(line), 108)))
		}
	}
	if err != nil {
		return all.String(), fmt.Errorf("myc %s: %w", strings.Join(shown, " "), err)
	}
	return all.String(), nil
}

// asked shows that the model knows only the tools of its role.
func (d *demo) asked(ctx context.Context, model *fake.Server) error {
	d.title(1, "The agent starts with few tools, and knows no other")
	said, err := d.ask(ctx, "--role", "guest", "read the notes please")
	if err != nil {
		return err
	}
	first := model.Turns()[0]
	d.check(slices.Contains(first.ToolNames(), "files__read_file") && !slices.Contains(first.ToolNames(), "files__write_file"),
		fmt.Sprintf("the model was offered %s, and none that writes", text.Count(len(first.ToolNames()), "tool")))
	d.check(strings.Contains(said, "Unknown tool: files__write_file"), "it called one that writes anyway: an unknown tool")
	note, err := os.ReadFile(filepath.Join(d.dir, "notes.md"))
	d.check(err == nil && strings.Contains(string(note), "hyphae"), "the notes are as they were")
	return nil
}

// goesOn shows a conversation that goes on in another role, with a skill that follows what is said.
func (d *demo) goesOn(ctx context.Context, _ *fake.Server) error {
	d.title(2, "The conversation goes on with more, and the policy still decides")
	said, err := d.ask(ctx, "--resume", d.conversation(ctx), "--role", "developer", "edit a file: write a summary into summary.md")
	if err != nil {
		return err
	}
	_, statErr := os.Stat(filepath.Join(d.dir, "summary.md"))
	d.check(statErr == nil && strings.Contains(said, "✓"), "as developer it has tools that write: summary.md is there")
	d.check(strings.Contains(said, "Denied by policy") && !strings.Contains(said, "KEY=secret"), "and .env is denied by a rule")
	return nil
}

// conversation is the id of the only conversation.
func (d *demo) conversation(ctx context.Context) string {
	var all []struct {
		ID string `json:"id"`
	}
	if err := d.run(ctx, &all, "chat", "list", "--json"); err != nil || len(all) == 0 {
		return ""
	}
	return all[0].ID
}

// remembered shows what is kept: the conversation, and each call with the reasoning that led to it.
func (d *demo) remembered(ctx context.Context, _ *fake.Server) error {
	d.title(3, "What was said and done is kept")
	if _, err := d.ask(ctx, "chat", "list"); err != nil {
		return err
	}
	said, _, err := d.capture(ctx, "chat", "show", d.conversation(ctx))
	if err != nil {
		return err
	}
	d.check(strings.Contains(said, "read the notes please") && strings.Contains(said, "summary.md is written"),
		"the conversation can be read, and resumed")
	var calls []struct {
		Tool     string `json:"tool"`
		Outcome  string `json:"outcome"`
		Thinking struct {
			Thinking string `json:"thinking"`
		} `json:"thinking"`
	}
	if err := d.run(ctx, &calls, "audit", "query", "--json"); err != nil {
		return err
	}
	denied, why := 0, 0
	for _, c := range calls {
		if c.Outcome == "denied" {
			denied++
		}
		if c.Thinking.Thinking != "" {
			why++
		}
	}
	d.check(denied >= 2 && why >= 4, fmt.Sprintf("%d calls are on record, %d of them denied, %d with the model's reasoning", len(calls),
		denied, why))
	return nil
}
