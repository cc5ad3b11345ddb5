package root

import (
	"bytes"
	"os"
	"strings"
	"testing"

	"github.com/spf13/cobra"

	"mycelium/cmd/myc/internal/base"
	"mycelium/internal/node/project"
)

// TestOutsideOfAProject runs every command that is about a project in a folder that is none: it says so, exits with 2, and leaves neither
// the folder nor the home otherwise than they were. A new command is among them unless needOf names it.
func TestOutsideOfAProject(t *testing.T) {
	dir, home := t.TempDir(), t.TempDir()
	t.Chdir(dir)
	ran := 0
	var walk func(c *cobra.Command)
	walk = func(c *cobra.Command) {
		for _, sub := range c.Commands() {
			walk(sub)
		}
		if !c.Runnable() || path(c) == "hook" || path(c) == "claude" || needOf(c, nil) != project.NeedsProject {
			return
		}
		ran++
		args := strings.Fields(path(c))
		for _, word := range strings.Fields(c.Use)[1:] {
			if word == "|" || word[0] == '[' {
				break
			}
			args = append(args, strings.Split(strings.ToLower(word), "|")[0])
		}
		var out, errs bytes.Buffer
		code := Main(t.Context(), args, strings.NewReader(""), &out, &errs, []string{"HOME=" + home})
		if code != 2 || !strings.Contains(errs.String(), "is not a Mycelium project") || out.Len() > 0 {
			t.Errorf("myc %s: exit %d\n%s%s", strings.Join(args, " "), code, out.String(), errs.String())
		}
		for _, folder := range []string{dir, home} {
			if left, err := os.ReadDir(folder); err != nil || len(left) > 0 {
				t.Fatalf("myc %s left %v, %v", strings.Join(args, " "), left, err)
			}
		}
	}
	walk(command(&base.App{}))
	if ran < 40 {
		t.Errorf("only %d commands are about a project", ran)
	}
}
