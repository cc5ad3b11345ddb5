package review

import (
	"fmt"
	"strings"

	"mycelium/internal/swarm/book"
	"mycelium/internal/text"
)

// Prompt is what the reviewer of a review is asked to do, which writes what it finds into a file.
func Prompt(s *book.Session, r *book.Review, file string) string {
	t := typeOf(r.Type)
	var b strings.Builder
	fmt.Fprintf(&b, "You review what several workers have built: %s. You only read. Every change of a file is refused, except of the "+
		"one that takes your findings.\n\n# Review: %s\n\n", t.Looks, t.Name)
	fmt.Fprintf(&b, "The work is checked out here, at the end of the commits %.12s..%.12s (git log, git diff). These features have landed:\n",
		s.Base, r.Base)
	for _, f := range s.Features {
		if f.State == book.Completed {
			fmt.Fprintf(&b, "- %s: %s\n", f.ID, text.Cell(f.Description, 200))
		}
	}
	if s.Task != "" {
		fmt.Fprintf(&b, "\nThe task as a whole: %s\n", text.Truncate(s.Task, 2000))
	}
	b.WriteString("\nLook at what these commits have changed, and at the code around it as far as you need it. Report only what you have " +
		"seen in a file.\n\n# Categories\n\n")
	for _, c := range t.Categories {
		fmt.Fprintf(&b, "- %s: %s\n", c.Name, c.Means)
	}
	fmt.Fprintf(&b, "\n# Findings\n\nWrite them as JSON, and nothing else, into this file:\n\n    %s\n\n"+
		`    {"summary": "two sentences", "severity": "%s",
     "issues": [{"category": "one of the above", "severity": "%s", "file": "path/from/here.go", "line": 12,
                 "message": "what is wrong, and what comes of it", "suggestion": "what to do instead"}],
     "recommendations": ["what to do beyond the issues"]}

- The first severity is that of all you have found: clean if nothing must be done, critical if it must not be used as it is.
- The severity of an issue: error if it must be mended, warning if it should be, info if it is good to know.
- Without an issue, issues is an empty list. file and line may be left out.

Then end your turn with one sentence.
`, file, strings.ReplaceAll(joined(book.Severities()), ", ", "|"), strings.ReplaceAll(joined(book.Levels()), ", ", "|"))
	return b.String()
}

// Missing is what a reviewer is told whose findings cannot be taken.
func Missing(file string, why error) string {
	return fmt.Sprintf("Your findings cannot be taken: %s: %v. Write the whole file again, as JSON in the form that was asked for, and end "+
		"your turn.", file, why)
}
