package approval

import (
	"slices"
	"strings"
	"unicode"

	"mycelium/internal/policy"
)

// The categories of calls (requirements, A30; VCS and GENERAL are of A51).
const (
	FileWrite = "FILE_WRITE"
	ShellExec = "SHELL_EXEC"
	Network   = "NETWORK"
	Database  = "DATABASE"
	VCS       = "VCS"
	General   = "GENERAL"
)

// Assess says how much harm a call can do and what kind of call it is. It looks at what the call would do (its facts), at what the
// operator lets the server say of the tool (its hints), and at whole words of its names: server "shell" with tool "exec" runs
// commands, tool "mutex_exec_plan" does not. Where it cannot tell, it says the higher risk. It decides nothing: the policy has asked
// already. But a critical call is never for a model alone to allow.
func Assess(it policy.Item, notes policy.Annotations, f policy.Facts) (risk Risk, category string) {
	if it.Server == policy.AgentServer && it.Name == "Bash" {
		return assessCommand(f)
	}
	own := it.Server == policy.AgentServer || it.Server == "files" // their facts come from the table of known tools, not from a guess
	category, acts := categoryOf(it, own, f)
	readOnly := notes["readOnlyHint"]
	switch {
	case category == ShellExec && !readOnly:
		risk = Critical // what runs is in an argument that nobody has read
	case category == ShellExec:
		risk = High
	case (category == FileWrite || category == Database) && !readOnly:
		risk = High
	case category == Network:
		risk = Medium
	case readOnly || !acts && !notes["destructiveHint"]:
		risk = Low
	default:
		risk = Medium
	}
	if notes["destructiveHint"] && !readOnly {
		risk = worse(risk, High)
	}
	for _, p := range f.Parts {
		for _, e := range p.Effects {
			if guessed := !own && (e == policy.EffectRead || e == policy.EffectWrite || e == policy.EffectDelete); !guessed {
				risk = worse(risk, riskOf(e))
			}
		}
		if own && leaves(f.Dir, p.Paths) {
			risk = Critical
		}
	}
	return risk, category
}

// assessCommand judges a shell command by its facts, part by part; the worst part counts. A command without facts was not read.
func assessCommand(f policy.Facts) (Risk, string) {
	if len(f.Parts) == 0 {
		return Critical, ShellExec
	}
	risk, category := Low, ""
	for _, p := range f.Parts {
		kind := ShellExec
		switch {
		case slices.Contains(p.Effects, policy.EffectDatabase):
			kind = Database
		case p.Program == "git" || p.Program == "gh" || p.Program == "hg" || p.Program == "svn":
			kind = VCS
		}
		if category != "" && category != kind {
			kind = ShellExec
		}
		category = kind
		for _, e := range p.Effects {
			risk = worse(risk, riskOf(e))
		}
		unread := len(p.Unclear) > 0 || slices.Contains(p.Effects, policy.EffectUnclear)
		switch hidden := p.Program == "" || slices.Contains(p.Effects, policy.EffectInlineCode); {
		case unread && hidden:
			risk = Critical // it runs what nobody has read
		case unread:
			risk = worse(risk, High)
		}
		if leaves(f.Dir, p.Paths) {
			risk = Critical
		}
	}
	return risk, category
}

// riskOf is what one effect is worth. An effect that is not listed here is one that we do not know.
func riskOf(effect string) Risk {
	switch effect {
	case policy.EffectRead:
		return Low
	case policy.EffectExecute, policy.EffectNetwork:
		return Medium
	case policy.EffectWrite, policy.EffectDelete, policy.EffectPush, policy.EffectHistory, policy.EffectPublish, policy.EffectInstall,
		policy.EffectInlineCode, policy.EffectProcess, policy.EffectContainer, policy.EffectCloud, policy.EffectDatabase,
		policy.EffectWrittenHere, policy.EffectUnclear:
		return High
	default: // privilege, forced pushes, remote code, destruction, ungoverned agents, acts of the operator
		return Critical
	}
}

// leaves reports whether something outside the working directory and the folders for temporary files is changed.
func leaves(dir string, paths []policy.Path) bool {
	for _, p := range paths {
		if p.Access != policy.Write && p.Access != policy.Delete {
			continue
		}
		for _, form := range []string{p.Clean, p.Resolved} {
			if form != "" && !below(form, dir) && !below(form, "/tmp") && !below(form, "/var/tmp") && form != "/dev/null" {
				return true
			}
		}
		if p.Clean == "" { // relative to a folder that nobody knows
			return true
		}
	}
	return false
}

// below reports whether an absolute clean path is a folder or lies in it. In no folder lies nothing.
func below(path, dir string) bool {
	dir = strings.TrimSuffix(dir, "/")
	return dir != "" && (path == dir || strings.HasPrefix(path, dir+"/"))
}

// ranks are the risks in their order.
var Ranks = []Risk{Low, Medium, High, Critical}

// worse is the higher of two risks; a word that is no risk counts as the highest.
func worse(a, b Risk) Risk {
	i, j := slices.Index(Ranks, a), slices.Index(Ranks, b)
	if i < 0 || j < 0 {
		return Critical
	}
	return Ranks[max(i, j)]
}

// The words by which tools are told apart. A kind needs what it is done to and the doing, each anywhere in the two names; that
// keeps list_runs, format_url and dry_run out.
var (
	shellThings    = []string{"shell", "bash", "sh", "zsh", "powershell", "cmd", "terminal", "console", "command", "commands", "process", "script", "scripts", "code", "python", "javascript", "sandbox", "interpreter", "repl"}
	shellVerbs     = []string{"exec", "execute", "run", "eval", "evaluate", "spawn", "start", "launch", "invoke"}
	fileThings     = []string{"file", "files", "filesystem", "fs", "directory", "directories", "folder", "folders", "dir", "path", "disk", "document"}
	changeVerbs    = []string{"write", "delete", "move", "edit", "create", "rename", "remove", "append", "patch", "replace", "copy", "truncate", "overwrite", "save", "unlink", "rm", "mv", "mkdir", "touch", "upload", "insert", "update"}
	networkThings  = []string{"http", "https", "web", "browser", "internet", "webpage", "website", "url", "urls", "page", "webhook", "curl", "puppeteer", "playwright"}
	networkVerbs   = []string{"request", "fetch", "get", "post", "put", "download", "upload", "navigate", "open", "browse", "crawl", "scrape", "send", "visit", "call", "search", "click"}
	databaseThings = []string{"database", "db", "sql", "postgres", "postgresql", "mysql", "mariadb", "sqlite", "mongo", "mongodb", "redis", "table", "bigquery", "snowflake", "clickhouse", "duckdb"}
	databaseVerbs  = []string{"execute", "exec", "write", "insert", "update", "delete", "drop", "create", "alter", "run", "truncate", "migrate", "query"}
	vcsThings      = []string{"git", "github", "gitlab", "bitbucket", "svn", "hg", "repo", "repository", "branch", "commit", "rebase"}
	readVerbs      = []string{"get", "list", "read", "search", "show", "describe", "find", "view", "stat", "status", "count", "lookup", "query", "help", "ping", "echo", "info", "version", "diff", "log", "validate", "check", "preview", "explain"}
)

// categoryOf tells the kind of a tool from whole words of its names, and from facts where they are known. acts is false for a tool
// whose name begins with a verb that only looks.
func categoryOf(it policy.Item, own bool, f policy.Facts) (category string, acts bool) {
	if it.Kind != policy.Tool {
		return General, false
	}
	words := append(wordsOf(it.Server), wordsOf(it.Name)...)
	has := func(list []string) bool {
		return slices.ContainsFunc(words, func(w string) bool { return slices.Contains(list, w) })
	}
	name := wordsOf(it.Name)
	acts = len(name) == 0 || !slices.Contains(readVerbs, name[0])
	tries := slices.Contains(words, "dry")
	switch {
	case own:
		return ownCategory(f)
	case !tries && acts && has(shellThings) && has(shellVerbs) && !has(databaseThings):
		return ShellExec, true
	case has(databaseThings) && has(databaseVerbs) && (acts || slices.Contains(words, "query")):
		return Database, true
	case has(vcsThings):
		return VCS, acts
	case acts && has(fileThings) && has(changeVerbs):
		return FileWrite, true
	case has(networkThings) && has(networkVerbs):
		return Network, true
	}
	return General, acts
}

// ownCategory is the category of an agent's own tool or of the built-in files server: what its facts say. One that does nothing but
// read only looks; one of which nothing is known may act.
func ownCategory(f policy.Facts) (category string, acts bool) {
	category, acts = General, len(f.Parts) == 0 || len(f.Parts[0].Effects) == 0
	for _, p := range f.Parts {
		for _, e := range p.Effects {
			acts = acts || e != policy.EffectRead
			switch e {
			case policy.EffectExecute:
				return ShellExec, true
			case policy.EffectWrite, policy.EffectDelete:
				category = FileWrite
			case policy.EffectNetwork:
				if category == General {
					category = Network
				}
			}
		}
	}
	return category, acts
}

// wordsOf splits a name at everything that is no letter or digit, and where a capital letter begins a word.
func wordsOf(name string) []string {
	var out []string
	plain := func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) }
	for field := range strings.FieldsFuncSeq(name, plain) {
		start, before := 0, rune(0)
		for i, r := range field {
			if unicode.IsUpper(r) && unicode.IsLower(before) {
				out = append(out, strings.ToLower(field[start:i]))
				start = i
			}
			before = r
		}
		out = append(out, strings.ToLower(field[start:]))
	}
	return out
}
