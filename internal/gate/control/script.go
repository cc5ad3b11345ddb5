package control

import (
	"context"
	"crypto/sha256"
	"io/fs"
	"path"
	"slices"

	"mycelium/internal/approval"
	"mycelium/internal/credential"
	"mycelium/internal/gate/facts"
	"mycelium/internal/gate/session"
	"mycelium/internal/policy"
	"mycelium/internal/skill"
)

// Script is a script of a skill that is to run.
type Script struct {
	Skill string
	Files fs.FS    // the skill's folder, as a person accepted it
	Path  string   // of the script, inside Files
	Argv  []string // the interpreter with its options; the path and Args follow
	Args  []string
	// Sandbox is the profile that the skill asks for; empty: the narrow one.
	Sandbox string
	Folder  string            // the linked worktree of the project that it is run on; empty: the project's own folder
	Closed  policy.Closed     // the names that the rules close to the caller
	Tell    func(line string) // is told each line of the output; it never waits
}

// ScriptResult says how a script ended (requirements, A20).
type ScriptResult struct {
	Success  bool     `json:"success"`
	ExitCode int      `json:"exitCode"`
	Stdout   string   `json:"stdout"`
	Stderr   string   `json:"stderr"`
	TimedOut bool     `json:"timedOut,omitzero"`
	Dropped  []string `json:"violations,omitempty"` // what it made and was not kept
}

// Runner runs a script in the sandbox and waits for it. An error means that nothing has run; its text is for the agent too.
type Runner func(ctx context.Context, s Script) (ScriptResult, error)

func scriptTool() tool {
	return tool{
		item: skillItem("run_script"), title: "Run a script of a skill", run: runScript,
		description: "Runs a script of an active skill in the sandbox, in the skill's folder. Its ending chooses the interpreter: " +
			".py python3, .sh bash, .js node, .ts npx tsx.",
		params: []param{
			{name: "skill", kind: "string", required: true, description: "Name of the skill."},
			{name: "path", kind: "string", required: true, description: "Path of the script inside the skill."},
			{name: "args", kind: "strings", description: "Arguments of the script."},
		},
	}
}

// ActiveSkill returns a skill that is active in a session; nil: it is not, or is not there.
func ActiveSkill(sc *session.Snapshot, name string) *skill.Skill {
	if !slices.Contains(sc.Scope.Skills, name) || !slices.Contains(sc.Open, name) {
		return nil
	}
	if k, ok := sc.World.Skills.Skill(name); ok {
		return k
	}
	return nil
}

// ScriptFiles returns the script that a call of run_script would run, with the digest of its content: that of the accepted copy, which the
// facts of the call do not tell.
func ScriptFiles(sc *session.Snapshot, args policy.Args) []approval.CodeFile {
	name, _ := args["skill"].(string)
	file, _ := args["path"].(string)
	k := ActiveSkill(sc, name)
	if k == nil {
		return nil
	}
	f := approval.CodeFile{Path: "skill " + name + ": " + file}
	if data, err := k.Resource(file); err == nil {
		f.Size, f.Digest = int64(len(data)), sha256.Sum256(data)
	}
	return []approval.CodeFile{f}
}

// ScriptSandbox is the profile of the sandbox in which a call of run_script runs: what the skill says.
func ScriptSandbox(sc *session.Snapshot, args policy.Args) string {
	name, _ := args["skill"].(string)
	if k := ActiveSkill(sc, name); k != nil && k.Sandbox != "" {
		return k.Sandbox
	}
	return "standard"
}

func runScript(ctx context.Context, x *Tools, c *Call, a arguments) (any, error) {
	k := ActiveSkill(c.Caller, a.text("skill"))
	if k == nil {
		return nil, session.UnknownSkill(c.Caller, a.text("skill"), session.ByAgent)
	}
	file := a.text("path")
	if _, err := k.Resource(file); err != nil {
		x.Logger.Info("a script of a skill was not run", "skill", k.Name, "path", credential.Excerpt(file, session.MaxEcho), "error", err)
		return nil, failure("Unknown script: " + credential.Excerpt(file, session.MaxEcho))
	}
	argv, ok := facts.Interpreters[path.Ext(file)]
	if !ok {
		return nil, failure("No interpreter is known for this ending. There are .py, .sh, .js and .ts")
	}
	if x.Scripts == nil {
		return nil, failure("Scripts cannot be run here")
	}
	closed, err := c.Caller.Closed()
	if err != nil {
		return nil, failure("The script was not run: " + err.Error())
	}
	result, err := x.Scripts(ctx, Script{Skill: k.Name, Closed: closed, Files: k.Dir, Path: file, Argv: argv, Args: a.list("args"), Sandbox: k.Sandbox,
		Folder: c.Caller.Scope.Folder, Tell: c.Tell})
	if err != nil {
		x.Logger.Error("a script of a skill was not run", "call", c.ID, "skill", k.Name, "path", file, "error", err)
		return nil, failure("The script was not run: " + err.Error())
	}
	return result, nil
}
