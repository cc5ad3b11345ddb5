package policy

import (
	"slices"
	"strings"
	"unicode"
)

// ToolKind is what the name of a tool says about the tool. It is a guess, except for the tools of the built-in files server and the
// agents' own tools: those are known.
type ToolKind struct {
	Group    string // what it is about, for lists of tools: filesystem, search, command … general
	Category string // what its calls do: CategoryFileWrite …
	Acts     bool   // it does more than look: its name does not begin with a verb such as get or list
	Changes  bool   // it may change something
	Commands bool   // it runs commands: an argument is the text of one
}

// KindOf judges a tool by whole words of its name and of its server's name: server "shell" with tool "exec" runs commands, tool
// "mutex_exec_plan" does not. An item that is not a tool only looks.
func KindOf(it Item) ToolKind {
	name := toolWords(it.Name)
	k := ToolKind{Group: groupOf(name), Category: CategoryGeneral}
	if it.Kind != Tool {
		return k
	}
	if known := knownTool(it); known != unknownTool {
		k.Category = known.category()
		k.Acts = known != looks && known != lists
		k.Changes, k.Commands = known == writes || known == deletes || known == moves || known == commands, known == commands
		return k
	}
	k.Acts = len(name) == 0 || !in(lookingVerbs, name[0])
	k.Changes = true
	k.Category = categoryOf(append(toolWords(it.Server), name...), name, k.Acts)
	k.Commands = k.Category == CategoryShell || slices.ContainsFunc(name, runsCommands)
	return k
}

// GroupOf is the group of tools that a text, such as a description, is about.
func GroupOf(text string) string { return groupOf(toolWords(text)) }

// knownUse is what a known tool does.
type knownUse uint8

const (
	unknownTool knownUse = iota
	looks                // reads its paths
	lists                // reads its paths, or the working directory where the call names none
	writes
	deletes
	moves
	reaches  // asks another machine
	commands // runs a command
	inside   // acts within the agent: its children and shells are decided themselves
)

func (u knownUse) category() string {
	switch u {
	case writes, deletes, moves:
		return CategoryFileWrite
	case reaches:
		return CategoryNetwork
	case commands:
		return CategoryShell
	default:
		return CategoryGeneral
	}
}

// knownTool looks a tool up in the table of known tools: those of the files server, and those of agents by their canonical name.
func knownTool(it Item) knownUse {
	if it.Server != "files" && it.Server != AgentServer && it.Server != SandboxServer && it.Kind != Resource {
		return unknownTool
	}
	switch it.Name {
	case "read_file", "stat_file", "Read", "NotebookRead", "LSP", "ReadMcpResourceTool", "ReadMcpResourceDirTool",
		"sandbox_capabilities", "sandbox_profiles":
		return looks
	case "list_directory", "search_files", "Glob", "Grep", "LS":
		return lists
	case "write_file", "edit_file", "create_directory", "Write", "Edit", "MultiEdit", "NotebookEdit", "Download",
		"EnterWorktree":
		return writes
	case "delete_file", "ExitWorktree":
		return deletes
	case "move_file":
		return moves
	case "WebFetch", "WebSearch", "Artifact", "PushNotification", "RemoteTrigger", "SendFeedback":
		return reaches
	case "Bash", "Monitor", "PowerShell", "bash", "sandbox_exec", "sandbox_exec_script":
		return commands
	case "Task", "TaskOutput", "TaskStop", "TaskCreate", "TaskGet", "TaskList", "TaskUpdate", "TodoWrite", "AskUserQuestion",
		"EnterPlanMode", "ExitPlanMode", "BashOutput", "KillShell", "Skill", "SlashCommand", "ToolSearch", "ListMcpResourcesTool", "TodoRead",
		"ListAgents", "SendMessage", "ReportFindings", "ScheduleWakeup", "CronCreate", "CronDelete", "CronList", "Workflow":
		return inside
	}
	return unknownTool
}

// toolGroups are the groups of tools, each with its words. A tool belongs to the first group that has a word of its name (requirements,
// A51 and D8).
var toolGroups = [...]struct{ name, words string }{
	{"vcs", vcsThings},
	{"search", "search find grep glob lookup"},
	{"chain", "chain chains"},
	{"task", "task tasks todo"},
	{"session", "session sessions"},
	{"command", "command commands shell bash sh zsh powershell cmd terminal console ssh"},
	{"execution", "exec execute run eval spawn script process sandbox interpreter repl"},
	{"network", "http https fetch url urls web browser download upload request webhook navigate"},
	{"filesystem", "file files directory directories folder folders path filesystem"},
}

func groupOf(words []string) string {
	for _, g := range toolGroups {
		if slices.ContainsFunc(words, func(w string) bool { return in(g.words, w) }) {
			return g.name
		}
	}
	return "general"
}

// The words that give a call of an unknown tool its category. A category needs both a thing and a verb, each anywhere in the names of
// server and tool. That excludes list_runs, format_url and dry_run.
const (
	shellThings = "shell bash sh zsh powershell cmd terminal console ssh command commands process script scripts code python javascript " +
		"sandbox interpreter repl"
	shellVerbs  = "exec execute run eval evaluate spawn start launch invoke"
	fileThings  = "file files filesystem fs directory directories folder folders dir path disk document"
	changeVerbs = "write delete move edit create rename remove append patch replace copy truncate overwrite " +
		"save unlink rm mv mkdir touch upload insert update"

	networkThings  = "http https web browser internet webpage website url urls page webhook curl puppeteer playwright"
	networkVerbs   = "request fetch get post put download upload navigate open browse crawl scrape send visit call search click"
	databaseThings = "database db sql postgres postgresql mysql mariadb sqlite mongo mongodb redis table bigquery snowflake clickhouse duckdb"
	databaseVerbs  = "execute exec write insert update delete drop create alter run truncate migrate query"
	vcsThings      = "git github gitlab bitbucket svn hg commit commits branch branches rebase checkout repository repo stash blame"

	lookingVerbs = "get list read search show describe find view stat status count lookup query help ping echo info version diff log " +
		"validate check preview explain"

	// A word of either list in a tool's own name means that the tool runs commands: exec, bash, runCommand, open-terminal.
	interpreters = "shell bash sh zsh powershell terminal cmd console ssh"
	runs         = "exec execute run spawn command commands"
)

func runsCommands(word string) bool { return in(interpreters, word) || in(runs, word) }

// in reports whether a word is in a list of words. Most are not: then nothing is copied.
func in(list, word string) bool {
	return strings.Contains(list, word) && strings.Contains(" "+list+" ", " "+word+" ")
}

// categoryOf returns the category of an unknown tool: the strictest one that fits. words are those of its server and its name.
func categoryOf(words, name []string, acts bool) string {
	has := func(list string) bool { return slices.ContainsFunc(words, func(w string) bool { return in(list, w) }) }
	aboutData, tries := has(databaseThings), slices.Contains(words, "dry")
	interprets := slices.ContainsFunc(name, func(w string) bool { return in(interpreters, w) })
	onlyRuns := len(name) > 0 && !slices.ContainsFunc(name, func(w string) bool { return !runsCommands(w) })
	switch {
	case acts && !tries && !aboutData && (interprets || onlyRuns || has(shellThings) && has(shellVerbs)):
		return CategoryShell
	case aboutData && has(databaseVerbs) && (acts || slices.Contains(words, "query")):
		return CategoryDatabase
	case acts && has(fileThings) && has(changeVerbs):
		return CategoryFileWrite
	case has(vcsThings):
		return CategoryVCS
	case has(networkThings) && has(networkVerbs):
		return CategoryNetwork
	}
	return CategoryGeneral
}

// toolWords are the words of a name in small letters, without digits at their ends: python3 is python.
func toolWords(name string) []string {
	words := NameWords(name)
	for i, w := range words {
		words[i] = strings.ToLower(strings.TrimRight(w, "0123456789"))
	}
	return slices.DeleteFunc(words, func(w string) bool { return w == "" })
}

// NameWords splits a name into words. A character other than a letter or digit ends a word, and a capital letter begins one: readFile is
// "read", "File"; HTTPServer is "HTTP", "Server".
func NameWords(name string) []string {
	var words []string
	for field := range strings.FieldsFuncSeq(name, func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) }) {
		r, start := []rune(field), 0
		for i := 1; i < len(r); i++ {
			if unicode.IsUpper(r[i]) && (unicode.IsLower(r[i-1]) || i+1 < len(r) && unicode.IsUpper(r[i-1]) && unicode.IsLower(r[i+1])) {
				words = append(words, string(r[start:i]))
				start = i
			}
		}
		words = append(words, string(r[start:]))
	}
	return words
}
