package table

import (
	_ "embed"
	"strings"
	"testing"

	"mycelium/internal/shell/effect"
	"mycelium/internal/shell/program"
)

// unnamedOptions are the rows of git, of tools of projects and of languages that do not name the options of their manuals, and why.
var unnamedOptions = map[string]string{
	"git read-tree|checkout-index|update-index|maintenance|pack-refs|repack|multi-pack-index|commit-graph|write-tree|" +
		"commit-tree|hash-object|mktag|mktree|rerere|mergetool|difftool|gui|citool|stripspace|interpret-trailers|column|" +
		"fmt-merge-msg|unpack-objects|index-pack|pack-objects|merge-file|merge-index": "their handler asks always",
	"go tool compile|link|asm|cgo|dist|preprofile": "their handler names the options",
	"yq":                               "its handler takes the row of one of two programs",
	"npx":                              "its handler names the options before the package",
	"bunx":                             "likewise",
	"pnpx":                             "likewise",
	"uvx":                              "likewise",
	"pipx run":                         "likewise",
	"uv tool run":                      "likewise",
	"npm exec|x|dlx|create|init|innit": "likewise",
	"sbt":                              "its handler names the options",
	"pwsh":                             "its handler reads the options",
	"django-admin":                     "a command of the project reads them",
	"yarn workspace":                   "yarn reads them",
	"act":                              "it asks always, because it runs containers",
	"ar86":                             "it has none",
	"zig cc|c++":                       "clang reads them",
	"ant":                              "not done",
	"bazel":                            "not done",
	"buck":                             "not done",
	"scons":                            "not done",
	"xcodebuild":                       "not done",
	"cargo nextest|miri|llvm-cov|tarpaulin|expand|insta|xtask": "not done: plugins, and a program of the project",
	"bun t|tst|start|stop|restart|lint|dev|check|typecheck|format|install-test|it|setup|exec|x|dlx|create|init|innit": "the " +
		"script reads them",
	"pnpm test|t|tst|start|stop|restart|lint|build|dev|check|typecheck|format|install-test|it|exec|x|dlx|create|" +
		"init|innit": "the script reads them",
	"yarn test|t|tst|start|stop|restart|lint|build|dev|check|typecheck|format|install-test|it|setup|exec|x|dlx|create|init|innit": "the " +
		"script reads them",
}

// unnamed are further such rows, one a line.
//
//go:embed testdata/unnamed.txt
var unnamed string

// TestEveryRowNamesItsOptions: each row names the options of its manual, but for those that ask whatever their options are, and those of
// unnamedOptions and unnamed.txt.
func TestEveryRowNamesItsOptions(t *testing.T) {
	const asks = effect.Install | effect.Publish | effect.Secrets | effect.Unknown | effect.History | effect.Push | effect.InlineCode |
		effect.Database
	excused := map[string]bool{}
	for line := range strings.Lines(unnamed) {
		excused[strings.TrimSpace(line)] = true
	}
	for name := range unnamedOptions {
		excused[name] = true
	}
	named := 0
	var walk func(string, []program.Row)
	walk = func(at string, rows []program.Row) {
		for i := range rows {
			row := &rows[i]
			if row.Plain != "" {
				named++
			}
			switch {
			case row.Same != "" || row.Does&asks != 0:
			case row.Plain == "" && !excused[at+row.Name]:
				t.Errorf("%s%s does not name the options of its manual", at, row.Name)
			case row.Plain != "" && excused[at+row.Name]:
				t.Errorf("%s%s names the options of its manual, and a list says that it does not", at, row.Name)
			}
			walk(at+row.Name+" ", row.Subs)
		}
	}
	for _, family := range families {
		walk("", *family)
	}
	if named < 1300 {
		t.Errorf("%d rows name their options, want 1300", named)
	}
}
