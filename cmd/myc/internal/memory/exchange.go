package memory

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"mycelium/cmd/myc/internal/base"
	"mycelium/internal/atomicfile"
	"mycelium/internal/memory"
	"mycelium/internal/memory/exchange"
	"mycelium/internal/node/acts"
	"mycelium/internal/op/failure"
	"mycelium/internal/text"
)

func (a *app) importCmd() *cobra.Command {
	var role, from string
	c := &cobra.Command{
		Use: "import PATH --from FORMAT", Short: "Take over the memory files of another tool", Args: base.ArgRange(1, 1, "a file or a folder"),
		Long: "PATH is a file, or a folder whose .md files are read: CLAUDE.md, AGENTS.md, GEMINI.md, the folder\n" +
			"~/.claude/projects/PROJECT/memory of Claude Code, or the file of the MCP server for memory (--from mcp).\n" +
			"Each item of a list and each paragraph becomes an entry, with its source. An entry that is there already is not added again.",
		Example: "  myc memory import --from claude CLAUDE.md\n  myc memory import --from gemini ~/.gemini/GEMINI.md --role developer",
		RunE:    func(c *cobra.Command, args []string) error { return a.take(c.Context(), from, args[0], role) },
	}
	c.Flags().StringVar(&from, "from", "", "whose files they are: "+strings.Join(exchange.Formats(), ", "))
	c.Flags().StringVar(&role, "role", "", "whose memory they become; default: session.defaultRole")
	return c
}

func (a *app) take(ctx context.Context, from, path, role string) error {
	f, p, id, err := a.ofRole("import memories", role)
	if err == nil {
		err = usage(exchange.Check(from))
	}
	if err != nil {
		return err
	}
	files, err := filesAt(path)
	if err != nil {
		return err
	}
	var notes []exchange.Note
	for _, file := range files {
		data, err := readAll(file)
		if err != nil {
			return err
		}
		list, err := exchange.Read(from, file, data)
		if err != nil {
			return fmt.Errorf("import %s: %w", file, err)
		}
		notes = append(notes, list...)
	}
	var done exchange.Added
	err = acts.Do(ctx, p, acts.Act{Act: "memory import", Item: path, Role: id}, func() (err error) {
		done, err = exchange.Add(f, id, notes, time.Now())
		return err
	})
	if err != nil {
		return err
	}
	for _, why := range done.Refused {
		fmt.Fprintf(a.Err, "myc: not imported: %s\n", text.Visible(why))
	}
	if a.JSON {
		return a.PrintJSON(done)
	}
	fmt.Fprintf(a.Out, "%s added to the memory of role %s, %d known\n", entriesOf(done.Added), id, done.Known)
	return nil
}

func entriesOf(n int) string { return fmt.Sprint(n) + " " + text.Plural(n, "entry", "entries") }

// usage makes an error one of the command line.
func usage(err error) error {
	if err == nil {
		return nil
	}
	return failure.New(failure.Usage, err, text.HintOf(err))
}

// filesAt returns a file, or the Markdown files of a folder. The index of Claude Code's folder of memories only names the others.
func filesAt(path string) ([]string, error) {
	st, err := os.Stat(path)
	if err != nil {
		return nil, failure.Usagef("import: %w", err)
	}
	if !st.IsDir() {
		return []string{path}, nil
	}
	all, err := filepath.Glob(filepath.Join(path, "*.md"))
	if err != nil {
		return nil, err
	}
	var out []string
	for _, file := range all {
		if len(all) == 1 || filepath.Base(file) != "MEMORY.md" {
			out = append(out, file)
		}
	}
	if len(out) == 0 {
		return nil, failure.Usagef("import: %s has no .md file", path)
	}
	return out, nil
}

func readAll(path string) ([]byte, error) {
	file, st, err := atomicfile.Open(path)
	if err != nil {
		return nil, failure.Usagef("import: %w", err)
	}
	defer file.Close()
	if st.Size() > memory.MaxFile {
		return nil, failure.Usagef("import: %s has %d bytes, and a memory has at most %d", path, st.Size(), memory.MaxFile)
	}
	return io.ReadAll(io.LimitReader(file, memory.MaxFile))
}

func (a *app) exportCmd() *cobra.Command {
	var role, to string
	c := &cobra.Command{
		Use: "export [FILE] --to FORMAT", Short: "Write a memory for another tool", Args: base.ArgRange(0, 1, "at most one file"),
		Long: "Without FILE it is printed. In a Markdown file that exists, it stands between two comments; a second export replaces what is\n" +
			"between them, and nothing else.",
		Example: "  myc memory export --to claude CLAUDE.md\n  myc memory export --to gemini --role developer",
		RunE:    func(_ *cobra.Command, args []string) error { return a.give(to, append(args, "")[0], role) },
	}
	c.Flags().StringVar(&to, "to", "", "for which tool: "+strings.Join(exchange.Formats(), ", "))
	c.Flags().StringVar(&role, "role", "", "whose memory; default: session.defaultRole")
	return c
}

func (a *app) give(to, path, role string) error {
	f, _, id, err := a.ofRole("export memories", role)
	if err == nil {
		err = usage(exchange.Check(to))
	}
	if err != nil {
		return err
	}
	d, _, err := f.Read(id)
	if err != nil {
		return err
	}
	out, err := exchange.Write(to, d.Entries())
	if err != nil {
		return err
	}
	if path == "" {
		fmt.Fprint(a.Out, text.Visible(string(out)))
		return nil
	}
	mode, existing := fs.FileMode(0o644), []byte(nil)
	if st, err := os.Stat(path); err == nil {
		mode = st.Mode().Perm()
		if existing, err = readAll(path); err != nil {
			return err
		}
	} else if !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	if err := atomicfile.Write(path, exchange.Merge(to, existing, out), mode); err != nil {
		return err
	}
	fmt.Fprintf(a.Out, "%s written to %s\n", entriesOf(len(d.Entries())), path)
	return nil
}
