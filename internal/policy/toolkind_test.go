package policy

import (
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// TestKindOfATool is the corpus of names. It has what each of four older guesses knew: which tools run commands (by any one word), which
// risk a tool has (by a thing and a doing in the names of server and tool), in which group lists show it, and the table of known tools.
func TestKindOfATool(t *testing.T) {
	const (
		commands = 1 << iota
		acts
		changes
	)
	look, does, shell := changes, acts|changes, acts|changes|commands
	for name, want := range map[string]struct {
		group, category string
		flags           int
	}{
		// the requirements' own examples (A30)
		"fs__write_file":    {"filesystem", CategoryFileWrite, does},
		"fs__delete_file":   {"filesystem", CategoryFileWrite, does},
		"fs__move_file":     {"filesystem", CategoryFileWrite, does},
		"shell__exec":       {"execution", CategoryShell, shell},
		"bash__run":         {"execution", CategoryShell, shell},
		"sandbox__exec":     {"execution", CategoryShell, shell},
		"http__request":     {"network", CategoryNetwork, does},
		"fetch__url":        {"network", CategoryNetwork, does},
		"postgres__execute": {"execution", CategoryDatabase, shell},
		"database__write":   {"general", CategoryDatabase, does},
		// commands, by one word of the tool's name or by a thing and a doing
		"x__exec":                  {"execution", CategoryShell, shell},
		"x__execute":               {"execution", CategoryShell, shell},
		"x__run":                   {"execution", CategoryShell, shell},
		"x__shell":                 {"command", CategoryShell, shell},
		"x__bash":                  {"command", CategoryShell, shell},
		"x__ssh":                   {"command", CategoryShell, shell},
		"x__zsh":                   {"command", CategoryShell, shell},
		"x__cmd":                   {"command", CategoryShell, shell},
		"x__console":               {"command", CategoryShell, shell},
		"x__powershell":            {"command", CategoryShell, shell},
		"x__spawn":                 {"execution", CategoryShell, shell},
		"x__run_command":           {"command", CategoryShell, shell},
		"x__execute_command":       {"command", CategoryShell, shell},
		"x__runCommand":            {"command", CategoryShell, shell},
		"x__open-terminal":         {"command", CategoryShell, shell},
		"x__openHTTPShell":         {"command", CategoryShell, shell},
		"x__sandbox_exec":          {"execution", CategoryShell, shell},
		"x__start_process":         {"execution", CategoryShell, shell},
		"x__evaluate_script":       {"execution", CategoryShell, shell},
		"x__run-python3-code":      {"execution", CategoryShell, shell},
		"desktop__runShellCommand": {"command", CategoryShell, shell},
		"x__RunCommand2":           {"command", CategoryShell, shell},
		"x__list_commands2":        {"command", CategoryGeneral, look | commands},
		"ci__get_run":              {"execution", CategoryGeneral, look | commands},
		"shell__dry_run":           {"execution", CategoryGeneral, shell},
		"app__dry_run":             {"execution", CategoryGeneral, shell},
		// names that only contain such a word
		"ci__list_runs":         {"general", CategoryGeneral, look},
		"ci__runner_status":     {"general", CategoryGeneral, does},
		"x__shellfish":          {"general", CategoryGeneral, does},
		"maths__mutexec":        {"general", CategoryGeneral, does},
		"text__rewrite":         {"general", CategoryGeneral, does},
		"x__prune":              {"general", CategoryGeneral, does},
		"shop__get_curly_price": {"general", CategoryGeneral, look},
		"links__format_url":     {"network", CategoryGeneral, does},
		"x__profile":            {"general", CategoryGeneral, does},
		"x__frobnicate":         {"general", CategoryGeneral, does},
		"x__greet":              {"general", CategoryGeneral, does},
		"x__query":              {"general", CategoryGeneral, look},
		// files, network, databases, repositories
		"x__read_file":                  {"filesystem", CategoryGeneral, look},
		"notes__save_file":              {"filesystem", CategoryFileWrite, does},
		"x__search_files":               {"search", CategoryGeneral, look},
		"web__fetch":                    {"network", CategoryNetwork, does},
		"x__fetch":                      {"network", CategoryGeneral, does},
		"x__navigate_page":              {"network", CategoryNetwork, does},
		"puppeteer__click":              {"general", CategoryNetwork, does},
		"docs__search":                  {"search", CategoryGeneral, look},
		"pg__run_sql":                   {"execution", CategoryDatabase, shell},
		"db__query":                     {"general", CategoryDatabase, look},
		"mysql__drop_table":             {"general", CategoryDatabase, does},
		"github__create_issue":          {"general", CategoryVCS, does},
		"git__status":                   {"general", CategoryVCS, look},
		"x__git_diff":                   {"vcs", CategoryVCS, does},
		"x__checkout":                   {"vcs", CategoryVCS, does},
		"github__create_or_update_file": {"filesystem", CategoryFileWrite, does},
		// groups of lists
		"x__task_list":     {"task", CategoryGeneral, does},
		"x__chain_status":  {"chain", CategoryGeneral, does},
		"x__spawn_session": {"session", CategoryGeneral, shell},
		"x__todo":          {"task", CategoryGeneral, does},
		// known tools
		"files__read_file":        {"filesystem", CategoryGeneral, 0},
		"files__stat_file":        {"filesystem", CategoryGeneral, 0},
		"files__list_directory":   {"filesystem", CategoryGeneral, 0},
		"files__search_files":     {"search", CategoryGeneral, 0},
		"files__write_file":       {"filesystem", CategoryFileWrite, does},
		"files__edit_file":        {"filesystem", CategoryFileWrite, does},
		"files__create_directory": {"filesystem", CategoryFileWrite, does},
		"files__delete_file":      {"filesystem", CategoryFileWrite, does},
		"files__move_file":        {"filesystem", CategoryFileWrite, does},
		"agent__Read":             {"general", CategoryGeneral, 0},
		"agent__NotebookRead":     {"general", CategoryGeneral, 0},
		"agent__Glob":             {"search", CategoryGeneral, 0},
		"agent__Grep":             {"search", CategoryGeneral, 0},
		"agent__LS":               {"general", CategoryGeneral, 0},
		"agent__Write":            {"general", CategoryFileWrite, does},
		"agent__Edit":             {"general", CategoryFileWrite, does},
		"agent__MultiEdit":        {"general", CategoryFileWrite, does},
		"agent__NotebookEdit":     {"general", CategoryFileWrite, does},
		"agent__WebFetch":         {"network", CategoryNetwork, acts},
		"agent__WebSearch":        {"search", CategoryNetwork, acts},
		"agent__Bash":             {"command", CategoryShell, shell},
		"agent__Monitor":          {"general", CategoryShell, shell},
		"agent__PowerShell":       {"command", CategoryShell, shell},
		"agent__Task":             {"task", CategoryGeneral, acts},
		"agent__BashOutput":       {"command", CategoryGeneral, acts},
		"agent__KillShell":        {"command", CategoryGeneral, acts},
		"agent__TodoWrite":        {"task", CategoryGeneral, acts},
		"agent__TodoRead":         {"task", CategoryGeneral, acts},
		"agent__SendMessage":      {"general", CategoryGeneral, acts},
		"agent__LSP":              {"general", CategoryGeneral, 0},
		"agent__EnterWorktree":    {"general", CategoryFileWrite, does},
		"agent__ExitWorktree":     {"general", CategoryFileWrite, does},
		// an agent's own tool that the table does not have
		"agent__RunTerminalCommand": {"command", CategoryShell, shell},
	} {
		it, err := ParseTool(name)
		if err != nil {
			t.Fatal(err)
		}
		w := ToolKind{Group: want.group, Category: want.category, Acts: want.flags&acts != 0, Changes: want.flags&changes != 0,
			Commands: want.flags&commands != 0}
		if got := KindOf(it); got != w {
			t.Errorf("%s: %+v, want %+v", name, got, w)
		}
	}
	if got := KindOf(Item{Kind: Resource, Server: "x", Name: "file:///run/command"}); got.Acts || got.Changes || got.Commands {
		t.Errorf("a resource is read: %+v", got)
	}
}

func TestNameWords(t *testing.T) {
	for name, want := range map[string]string{
		"readFile": "read File", "HTTPServer": "HTTP Server", "get-URL": "get URL", "a_b.c:d": "a b c d", "python3_code": "python3 code", "": "",
		"日本__語": "日本 語", "__": "",
	} {
		got := ""
		for i, w := range NameWords(name) {
			if i > 0 {
				got += " "
			}
			got += w
		}
		if got != want {
			t.Errorf("%q: %q, want %q", name, got, want)
		}
	}
}

// TestIn: a word is in a list only as a whole word.
func TestIn(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		words := rapid.SliceOfN(rapid.StringMatching(`[ab]{1,3}`), 1, 9).Draw(t, "words")
		word := rapid.StringMatching(`[ab]{0,3}`).Draw(t, "word")
		if got, want := in(strings.Join(words, " "), word), slices.Contains(words, word); got != want {
			t.Errorf("in(%q, %q) = %t, want %t", words, word, got, want)
		}
	})
}
