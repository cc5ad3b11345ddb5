package harness

import (
	"errors"
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"mycelium/internal/rawjson"
	"mycelium/internal/text"
)

// What a hook adds to the arguments of a tool, for the gate, which makes facts of it (gate/facts).
const (
	// GlobPaths are the globs of files that a search reads.
	GlobPaths = "globPaths"
	// UnknownFields are the names of the arguments that this program does not know: they may name files.
	UnknownFields = "unknownFields"
)

// toolFields are the arguments of a tool, by its canonical name: those of every agent and version that has it, after reshape has renamed
// them. An argument that names files says how, after a colon:
//
//	text    the text of a command
//	path    a path; with a name that ends in "paths", a list of paths
//	list    a glob of names that are only listed, below the argument path
//	search  globs of rg, below the argument path: the files are read
//	glob    a list of globs below the working directory: the files are read
//
// Marked with "!", it is what the tool works on: a call without one of the arguments that are marked cannot be decided, because an allow
// needs what it is about. What is done to a path follows from the tool (policy.KindOf). Any other argument names no file. An argument
// that is not listed is unclear.
type toolFields struct{ tool, fields string }

var fieldTable = [...]toolFields{
	{"Bash", "command:text! timeout description run_in_background dangerouslyDisableSandbox " + // Claude Code
		"is_background delay_ms " + // Gemini CLI
		"auto_background_after " + // Crush
		"justification login max_output_tokens prefix_rule sandbox_permissions tty yield_time_ms timeout_ms " + // Codex
		"with_escalated_permissions"},
	{"Monitor", "command description timeout_ms persistent ws"},
	{"PowerShell", "command timeout description run_in_background"},
	{"BashOutput", "bash_id shell_id filter wait block pid lines delay_ms"},
	{"KillShell", "shell_id bash_id"},

	{"Read", "file_path:path! path:path! paths:glob! offset limit pages allow_large start_line end_line mode indentation detail " +
		"exclude recursive useDefaultExcludes file_filtering_options"},
	{"NotebookRead", "notebook_path:path! cell_id"},
	{"Write", "file_path:path! path:path! content modified_by_user ai_proposed_content"},
	{"Edit", "file_path:path! path:path! old_string new_string replace_all edits instruction allow_multiple expected_replacements " +
		"modified_by_user ai_proposed_string paths:path! deletedPaths:path! patch"},
	{"MultiEdit", "file_path:path! edits"},
	{"NotebookEdit", "notebook_path:path! cell_id new_source cell_type edit_mode"},
	{"LS", "path:path ignore depth offset limit file_filtering_options respect_git_ignore respect_gemini_ignore"},
	{"Glob", "pattern:list path:path case_sensitive respect_git_ignore respect_gemini_ignore"},
	{"Grep", "pattern path:path glob:search include:search include_pattern:search output_mode -B -A -C context -n -i -o type " +
		"head_limit offset multiline literal_text limit exclude_pattern names_only max_matches_per_file total_max_matches case_sensitive " +
		"fixed_strings before after no_ignore"},
	{"LSP", "operation filePath:path file_path:path path:path line character symbol"},
	{"RemoteTrigger", "action trigger_id session_id cursor body"},
	{"SendFeedback", "type title details area failure_mode task_category"},
	{"Workflow", "script name description title args scriptPath:path resumeFromRunId"},
	{"EnterWorktree", "name path:path"},
	{"ExitWorktree", "action discard_changes"},
	{"Artifact", "action file_path:path file_paths:path out_dir:path favicon icon limit page_token scope title description label url " +
		"prompt force pin asset_id after capabilities contract"},

	{"WebFetch", "url urls prompt offset format timeout"},
	{"WebSearch", "query allowed_domains blocked_domains max_results"},
	{"Download", "url file_path:path! timeout"},

	{"Task", "description prompt subagent_type model effort run_in_background isolation name team_name mode agent_name " +
		"message items fork_context reasoning_effort"},
	{"TaskCreate", "subject description activeForm metadata"},
	{"TaskGet", "taskId"},
	{"TaskList", ""},
	{"TaskUpdate", "taskId subject description activeForm status addBlocks addBlockedBy owner metadata"},
	{"TaskOutput", "task_id block timeout"},
	{"TaskStop", "task_id shell_id"},
	{"TodoRead", ""},
	{"TodoWrite", "todos plan explanation"},
	{"AskUserQuestion", "questions answers annotations metadata"},
	{"EnterPlanMode", "reason"},
	{"ExitPlanMode", "plan allowedPrompts plan_path:path plan_filename"},
	{"Skill", "skill args name"},
	{"SlashCommand", "command"},
	{"ToolSearch", "query max_results"},
	{"ListMcpResourcesTool", "server mcp_name"},
	{"ReadMcpResourceTool", "server uri mcp_name"},
	{"ReadMcpResourceDirTool", "server uri"},
	{"ListAgents", "channel q cursor"},
	{"SendMessage", "to summary message"},
	{"ReportFindings", "level findings"},
	{"ScheduleWakeup", "delaySeconds reason prompt stop noop"},
	{"CronCreate", "cron prompt recurring durable"},
	{"CronDelete", "id"},
	{"CronList", ""},
	{"PushNotification", "message status"},
}

// everywhere is an argument that Gemini CLI adds to its tools.
const everywhere = "wait_for_previous"

// fieldsOf returns the arguments of a tool and how they name files; "" for one that names none. known is false for a tool without a row.
func fieldsOf(tool string) (fields map[string]string, known bool) {
	for _, row := range fieldTable {
		if row.tool == tool {
			fields = map[string]string{}
			for word := range strings.FieldsSeq(row.fields) {
				name, how, _ := strings.Cut(word, ":")
				fields[name] = how
			}
			return fields, true
		}
	}
	return nil, false
}

// Arguments are the arguments that agents send to one of their own tools, by its canonical name, sorted: those of every agent and version
// that has it. known is false for a tool that has no row here.
func Arguments(tool string) (names []string, known bool) {
	fields, known := fieldsOf(tool)
	return slices.Sorted(maps.Keys(fields)), known
}

// addFiles adds to the arguments of one of the agent's own tools what its other arguments say about files: the globs that it reads, and
// which arguments are not known.
func (e *Event) addFiles() error {
	fields, known := fieldsOf(strings.TrimPrefix(e.Tool, own+"__"))
	if !known || e.Input.Kind() != '{' {
		return nil
	}
	var members, added []rawjson.Field
	var globs, unknown []string
	below := ""
	for name, value := range rawjson.Members(e.Input) {
		if name == "path" {
			below = stringOf(value)
		}
	}
	for name, value := range rawjson.Members(e.Input) {
		how, listed := fields[name]
		switch {
		case name == GlobPaths || name == UnknownFields: // nobody else adds them
			unknown = append(unknown, name)
			continue
		case !listed && name != everywhere:
			unknown = append(unknown, text.TruncateRunes(name, maxName))
		case isGlob(how) && string(value) != "null":
			list, err := texts(value)
			if err != nil {
				return fmt.Errorf("the argument %s of the tool %s is neither a text nor a list of texts", name,
					text.TruncateRunes(e.Native, maxName))
			}
			more, folders := globsOf(strings.TrimSuffix(how, "!"), list, below)
			globs = append(globs, more...)
			added = append(added, folders...)
		}
		members = append(members, rawjson.Field{Name: name, Value: value})
	}
	if len(globs) > 0 {
		added = append(added, rawjson.Field{Name: GlobPaths, Value: textList(globs)})
	}
	if len(unknown) > 0 {
		added = append(added, rawjson.Field{Name: UnknownFields, Value: textList(unknown)})
	}
	if len(added) > 0 {
		e.Input = rawjson.Object(append(members, added...)...)
	}
	return nil
}

// isGlob reports whether an argument is a glob, or a list of globs.
func isGlob(how string) bool {
	how = strings.TrimSuffix(how, "!")
	return how == "list" || how == "search" || how == "glob"
}

// named returns an error if the arguments of one of the agent's own tools do not name what it works on, or name it by something else than
// a text.
func (e *Event) named() error {
	fields, _ := fieldsOf(strings.TrimPrefix(e.Tool, own+"__"))
	if e.Server != "" {
		return nil
	}
	var required []string
	for name, how := range fields {
		if strings.HasSuffix(how, "!") {
			required = append(required, name)
		}
	}
	found := len(required) == 0
	for name, value := range rawjson.Members(e.Input) {
		how := fields[name]
		if how == "" || string(value) == "null" {
			continue
		}
		var list []string
		if jsontext.Value(value).Kind() == '"' || strings.HasSuffix(strings.ToLower(name), "paths") {
			list, _ = texts(value)
		}
		must := strings.HasSuffix(how, "!")
		if len(list) == 0 && !isGlob(how) || slices.Contains(list, "") && must {
			return fmt.Errorf("the argument %s of the tool %s is not a text, or is empty", name, text.TruncateRunes(e.Native, maxName))
		}
		found = found || must
	}
	if !found {
		slices.Sort(required)
		return fmt.Errorf("the arguments of the tool %s do not say what it works on: %s is missing", text.TruncateRunes(e.Native, maxName),
			strings.Join(required, " or "))
	}
	return nil
}

// texts returns the texts of an argument that is a text or a list of texts.
func texts(v jsontext.Value) (list []string, err error) {
	if v.Kind() == '"' {
		return []string{stringOf(v)}, nil
	}
	err = rawjson.Decode(v, &list)
	if err == nil && v.Kind() != '[' {
		err = errors.New("not a list")
	}
	return list, err
}

// globsOf returns the globs of files that an argument makes a tool read, and, for a glob of names that are only listed, the folder in which
// it begins as an argument of its own.
func globsOf(how string, list []string, below string) (globs []string, added []rawjson.Field) {
	for _, s := range list {
		switch how {
		case "glob":
			globs = append(globs, s)
		case "search":
			for _, one := range splitGlobs(s) {
				globs = append(globs, searched(one, below)...)
			}
		case "list":
			folder, rest := literalFolder(s)
			at := folder
			if !path.IsAbs(folder) && !strings.HasPrefix(folder, "~") {
				at = path.Join(below, folder)
				if !strings.HasPrefix(at, "/") && !strings.HasPrefix(at, "~") {
					at = "./" + at
				}
			}
			if folder != "" {
				added = append(added, rawjson.Field{Name: "paths", Value: textList([]string{at})})
			}
			if literal := path.Base(rest); rest != "" && !strings.ContainsAny(literal, globSigns) || aimedFolder(rest) {
				globs = append(globs, strings.TrimSuffix(quoteGlob(at), "/")+"/"+rest)
			}
		}
	}
	return globs, added
}

// globSigns are the characters that make a text a glob.
const globSigns = `*?[{\`

// literalFolder splits a glob into the folder that it names as text, and the glob below it. A glob without a sign is a folder.
func literalFolder(glob string) (folder, rest string) {
	i := strings.IndexAny(glob, globSigns)
	if i < 0 {
		return glob, ""
	}
	i = strings.LastIndexByte(glob[:i], '/')
	if i == 0 {
		return "/", glob[1:]
	}
	if i < 0 {
		return "", glob
	}
	return glob[:i], glob[i+1:]
}

// aimedFolder reports whether a glob chooses among folders by name: only then are other names listed than those of a folder that is named.
func aimedFolder(glob string) bool {
	names := strings.Split(glob, "/")
	return slices.ContainsFunc(names[:len(names)-1], func(s string) bool { return s != "**" && s != "*" })
}

// splitGlobs splits a text into globs, at white space and at commas outside braces, as Claude Code does.
func splitGlobs(s string) []string {
	depth := 0
	return strings.FieldsFunc(s, func(r rune) bool {
		switch r {
		case '{':
			depth++
		case '}':
			depth = max(0, depth-1)
		case ' ', '\t', '\n':
			return true
		}
		return r == ',' && depth == 0
	})
}

// searched returns the globs of files that a glob of rg means below a folder: a name without a slash is looked for in every folder. A glob
// that only leaves files out reads the others, which is what the folder says.
func searched(glob, below string) []string {
	if strings.HasPrefix(glob, "!") {
		return nil
	}
	root := quoteGlob(below)
	if root == "" {
		root = "."
	}
	rooted := strings.TrimPrefix(glob, "/")
	at := []string{root + "/" + rooted, root + "/" + rooted + "/**"} // a folder stands for what is in it
	if strings.HasPrefix(glob, "/") {
		at = append(at, glob) // of a program that takes it for an absolute path
	}
	if !strings.Contains(strings.TrimSuffix(rooted, "/"), "/") {
		at = append(at, root+"/**/"+rooted)
	}
	return at
}

// quoteGlob quotes a text, so that as a glob it means itself.
func quoteGlob(s string) string {
	return strings.NewReplacer(`\`, `\\`, `*`, `\*`, `?`, `\?`, `[`, `\[`, `{`, `\{`).Replace(s)
}
