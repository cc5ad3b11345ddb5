package tools

import (
	"context"
	"fmt"
	"slices"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"mycelium/internal/builtin"
	"mycelium/internal/policy"
	"mycelium/internal/text"
)

// row is one tool.
type row struct {
	name, about string
	reads       bool // it changes nothing
	params      []param
	run         func(ctx context.Context, c *call, a args) (string, error)
}

// param is a parameter of a tool. Its kind is a type of JSON schema, or "strings" (a list of texts), "integers" (of whole numbers),
// "objects" (of objects with these members) or "texts" (an object of texts).
type param struct {
	name, kind, about string
	required          bool
	enum              []string
	members           []param
}

// need is a parameter that a call must have.
func need(name, kind, about string, enum ...string) param {
	return param{name: name, kind: kind, about: about, required: true, enum: enum}
}

// may is a parameter that a call may have.
func may(name, kind, about string, enum ...string) param {
	return param{name: name, kind: kind, about: about, enum: enum}
}

// objects is a parameter that is a list of objects, which a call may have.
func objects(name, about string, members ...param) param {
	return param{name: name, kind: "objects", about: about, members: members}
}

// args are the arguments of all tools.
type args struct {
	Project       string            `json:"projectDir"`
	Task          string            `json:"taskDescription"`
	Existing      []string          `json:"existingFeatures"`
	Format        string            `json:"format"`
	Feature       string            `json:"featureId"`
	Features      []string          `json:"featureIds"`
	Prompt        string            `json:"customPrompt"`
	Prompts       map[string]string `json:"customPrompts"`
	Lines         *int              `json:"lines"`
	Since         int               `json:"sinceLine"`
	Heartbeat     bool              `json:"heartbeat"`
	OutputLines   *int              `json:"outputLines"`
	IncludeOutput *bool             `json:"includeOutput"`
	Message       string            `json:"message"`
	Success       bool              `json:"success"`
	Notes         string            `json:"notes"`
	MaxRetries    *int              `json:"maxRetries"`
	ResetAttempts bool              `json:"resetAttempts"`
	Files         []string          `json:"files"`
	Command       string            `json:"command"`
	Description   string            `json:"description"`
	InsertAfter   string            `json:"insertAfter"`
	DependsOn     []string          `json:"dependsOn"`
	Confirm       bool              `json:"confirm"`
	Limit         *int              `json:"limit"`
	Offset        int               `json:"offset"`
	Threshold     *int              `json:"threshold"`
	AutoAlert     *bool             `json:"autoAlert"`
	Context       *bool             `json:"includeContext"`
	Protocols     bool              `json:"includeProtocols"`
	Strategy      string            `json:"strategy"`
	MaxConcurrent *int              `json:"maxConcurrent"`
	CheckInterval *int              `json:"checkIntervalSeconds"`

	Force     bool   `json:"forceCompetitive"`
	PromptA   string `json:"customPromptA"`
	PromptB   string `json:"customPromptB"`
	Selection string `json:"manualSelection"`
	Reason    string `json:"selectionReason"`

	MaxDoc        *int           `json:"maxDocLength"`
	MaxCode       *int           `json:"maxCodeLength"`
	MaxTotal      *int           `json:"maxTotalContext"`
	MaxRelated    *int           `json:"maxRelatedFiles"`
	Patterns      *bool          `json:"detectPatterns"`
	Documentation jsontext.Value `json:"documentation"`
	Prepared      jsontext.Value `json:"prepared"`
	Bindings      jsontext.Value `json:"protocolBindings"`
	Merge         *bool          `json:"merge"`

	Worker      string   `json:"preferredWorkerType"`
	Require     []string `json:"requiredCapabilities"`
	Exclude     []string `json:"excludeCapabilities"`
	MaxParallel *int     `json:"maxParallelism"`
	Affinity    string   `json:"affinityGroup"`
	Isolation   string   `json:"isolationLevel"`

	ReviewTypes  []string `json:"reviewTypes"`
	Rerun        bool     `json:"forceRerun"`
	Enabled      *bool    `json:"enabled"`
	SkipFailed   *bool    `json:"skipOnFailure"`
	Code         *bool    `json:"codeReviewEnabled"`
	Architecture *bool    `json:"architectureReviewEnabled"`
	AutoTrigger  *bool    `json:"autoTrigger"`
	Commands     []string `json:"commands"`
	FailOnError  *bool    `json:"failOnError"`
	Clear        bool     `json:"clear"`
	Indices      []int    `json:"issueIndices"`
	MinSeverity  string   `json:"minSeverity"`
	ReviewType   string   `json:"reviewType"`
	AutoSelect   bool     `json:"autoSelect"`
}

// or is an argument, or what it is if it is left out.
func or[T any](v *T, otherwise T) T {
	if v == nil {
		return otherwise
	}
	return *v
}

// between refuses a number that is outside of its bounds.
func between(name string, n, low, high int) error {
	if n < low || n > high {
		return fmt.Errorf("%s is from %d to %d", name, low, high)
	}
	return nil
}

// Parameters that several tools have.
var (
	feature  = need("featureId", "string", "Id of the feature, such as feature-1.")
	features = need("featureIds", "strings", "Ids of 1 to 10 features.")
	form     = may("format", "string", "compact: one line a feature; pretty: for reading (default).", compact, pretty)
)

// The formats.
const (
	compact = "compact"
	pretty  = "pretty"
	asJSON  = "json"
)

// schema is the JSON schema of a parameter.
func (p param) schema() map[string]any {
	out := map[string]any{"type": p.kind, "description": p.about}
	switch p.kind {
	case "strings":
		out["type"], out["items"] = "array", map[string]any{"type": "string"}
	case "integers":
		out["type"], out["items"] = "array", map[string]any{"type": "integer"}
	case "objects":
		out["type"], out["items"] = "array", object(p.members)
	case "texts":
		out["type"], out["additionalProperties"] = "object", map[string]any{"type": "string"}
	}
	if len(p.enum) > 0 {
		out["enum"] = p.enum
	}
	return out
}

// object is the JSON schema of an object.
func object(members []param) map[string]any {
	properties, required := map[string]any{}, []string{}
	for _, p := range members {
		properties[p.name] = p.schema()
		if p.required {
			required = append(required, p.name)
		}
	}
	return map[string]any{"type": "object", "properties": properties, "required": required, "additionalProperties": false}
}

// table returns the definitions of the tools, as clients see them, and their functions.
func table() (definitions string, funcs map[string]builtin.Func[*Server], err error) {
	funcs = map[string]builtin.Func[*Server]{}
	var all []any
	for _, r := range rows() {
		all = append(all, map[string]any{"name": r.name, "description": r.about,
			"inputSchema": object(append([]param{need("projectDir", "string", "Absolute path of the project.")}, r.params...)),
			"annotations": map[string]any{"readOnlyHint": r.reads, "openWorldHint": false}})
		funcs[r.name] = r.function()
	}
	b, err := json.Marshal(all, json.Deterministic(true))
	return string(b), funcs, err
}

// function is what a call of a tool does.
func (r row) function() builtin.Func[*Server] {
	return builtin.With(func(ctx context.Context, s *Server, scope policy.Scope, a args) (builtin.Answer, error) {
		c, err := s.enter(scope)
		if err == nil {
			err = c.here(a.Project)
		}
		var said string
		if err == nil {
			said, err = r.run(ctx, c, a)
		}
		if err != nil {
			return builtin.Answer{}, fmt.Errorf("%s", text.Describe(err))
		}
		return answer(said), nil
	})
}

// rows are the tools (requirements, C1 to C58).
func rows() []row { return slices.Concat(beginning(), preparing(), working(), reviewing(), looking()) }

// beginning are the tools that begin a session, and change its plan and its course.
func beginning() []row {
	return []row{
		{name: "orchestrator_init", run: begin,
			about: "Begin a session: divides a task into features, on a branch of its own. Nothing is started yet. Refused while a session is " +
				"open.",
			params: []param{need("taskDescription", "string", "The task. Each numbered, bulleted or verb-led line becomes a feature."),
				may("existingFeatures", "strings", "The features, one text each, if you have a list already.")}},
		{name: "auto_orchestrate", run: orchestrate,
			about: "Have the whole session worked off: workers start as features become ready, what is done is verified and merged, what failed " +
				"is tried again. Returns at once.",
			params: []param{may("strategy", "string", "Which ready feature is first. Default: adaptive.", "adaptive", "breadth-first",
				"depth-first"),
				may("maxConcurrent", "integer", "Workers at once, 1 to 10. Default: 5."),
				may("checkIntervalSeconds", "integer", "How often you want to look at it, 10 to 300. Default: 30. The driver looks all the time.")}},
		{name: "add_feature", run: addFeature, about: "Add a feature to the session.",
			params: []param{need("description", "string", "What is to be done."),
				may("insertAfter", "string", "Id of the feature behind which it stands.")}},
		{name: "set_dependencies", run: depend, about: "Say what must have landed before a feature is started.",
			params: []param{feature, need("dependsOn", "strings", "Ids of features; an empty list clears them.")}},
		{name: "set_confidence_threshold", run: setThreshold,
			about: "Set the confidence below which a worker is reported.",
			params: []param{need("threshold", "integer", "0 to 100. At the beginning: 35."),
				may("autoAlert", "boolean", "Report it. Default: true.")}},
		{name: "pause_session", run: pause, about: "Stop the workers. What they did is kept, and goes on with resume_session."},
		{name: "resume_session", run: resume, about: "Go on with a paused session, in the same worktrees."},
		{name: "orchestrator_reset", run: reset, params: []param{need("confirm", "boolean", "Must be true.")},
			about: "Give the session up: its workers are stopped and it ends. What has landed stays on its branch."},
	}
}

// working are the tools that change what becomes of a feature.
func working() []row {
	return []row{
		{name: "start_worker", run: startWorker,
			about:  "Have a worker started on a feature, before others. Refused, with the reason, if something that it depends on has not landed.",
			params: []param{feature, may("customPrompt", "string", "What its worker is told besides the feature.")}},
		{name: "start_parallel_workers", run: startWorkers,
			about:  "Have workers started on up to ten features. Those that cannot start are listed with the reason; the others start.",
			params: []param{features, may("customPrompts", "texts", "What the worker of a feature is told besides, by the feature's id.")}},
		{name: "send_worker_message", run: message, params: []param{feature, need("message", "string", "What it is told.")},
			about: "Tell a worker something. It hears it after the call that is under way, or when its turn is over."},
		{name: "mark_complete", run: markComplete,
			about: "Say that a feature is done, or has failed. Done: its worker is stopped, and its work lands if it is committed and " +
				"verified; what is missing is refused and named. Failed: the attempt is given up, and tried again up to maxRetries times.",
			params: []param{feature, need("success", "boolean", "true: it is done; false: it has failed."), may("notes", "string", "Why."),
				may("maxRetries", "integer", "How often it is tried again; 0: not. Default: 3.")}},
		{name: "retry_feature", run: retry,
			about:  "Have a feature tried again that failed or waits. Opens a session again that ended with failures.",
			params: []param{feature, may("resetAttempts", "boolean", "Forget how often it was tried.")}},
		{name: "rollback_feature", run: rollback,
			about: "Take the worktree of a feature back to the beginning of its attempt, or some of its files. Nothing is lost: the answer " +
				"names the undo point. Refused while its worker is at work.",
			params: []param{feature, may("files", "strings", "Paths in the project. Default: all.")}},
		{name: "run_verification", run: verify,
			about: "Run a command of the session's verification in the sandbox, for at most five minutes: in the worktree of a feature, or on " +
				"what has landed.",
			params: []param{need("command", "string", "The command. No shell."),
				may("featureId", "string", "The feature. Default: what has landed.")}},
		{name: "commit_progress", run: commit, params: []param{need("message", "string", "The commit message.")},
			about: "Commit what lies uncommitted in the worktrees of features whose workers are not at work, such as those of a paused session. " +
				"The person's checkout is not touched."},
	}
}

// looking are the tools that change nothing.
func looking() []row {
	all := []row{
		{name: "orchestrator_status", run: status, params: []param{form},
			about: "The session: its features, what is next, what failed and why, what is verified, and the last events. Call it first, and " +
				"after your context was compacted."},
		{name: "validate_workers", run: validate, params: []param{features},
			about: "Which of some features can start, what is in the way of the others, which would change the same things, and which are safe " +
				"side by side."},
		{name: "check_worker", run: checkWorker,
			about: "What the worker of a feature does: its state, and the last lines of its output.",
			params: []param{feature, may("lines", "integer", "The last lines, at most 500. Default: 50."),
				may("heartbeat", "boolean", "Only the state, no output."), may("sinceLine", "integer", "Only lines after this one.")}},
		{name: "check_all_workers", run: checkWorkers,
			about: "What all workers do that are at work.",
			params: []param{may("outputLines", "integer", "The last lines of each, at most 100. Default: 10."),
				may("includeOutput", "boolean", "Default: true."), may("heartbeat", "boolean", "Only their states."), form}},
		{name: "check_rollback_conflicts", run: rollbackConflicts, params: []param{feature},
			about: "Which other features have changed the files of a feature."},
		{name: "get_feature_graph", run: graph, about: "What waits for what, with the state of each feature.",
			params: []param{may("format", "string", "compact, pretty (default) or json.", compact, pretty, asJSON),
				may("includeContext", "boolean", "With the details and files of each feature. Default: true."),
				may("includeProtocols", "boolean", "Refused: there are no protocols yet.")}},
		{name: "get_feature_complexity", run: complexity,
			about:  "How hard a feature looks, 0 to 100, and what to do about it.",
			params: []param{feature, may("threshold", "integer", "From which on two plans should compete. Default: 60.")}},
		{name: "get_worker_confidence", run: confidenceOf, params: []param{feature},
			about: "How sure it is that a worker gets on, 0 to 100, with the reasons."},
		{name: "get_progress_log", run: progress, about: "What happened in the session.",
			params: []param{may("limit", "integer", "How many events, at most 500. Default: 20."),
				may("offset", "integer", "How many to skip, from the end.")}},
		{name: "get_session_stats", run: stats, params: []param{form},
			about: "Times, rates of success, workers and attempts of the session."},
	}
	all = append(all, lookingAtPlans()...)
	all = append(all, lookingAtReviews()...)
	for i := range all {
		all[i].reads = true
	}
	return all
}
