package swarmed

import (
	"path/filepath"
	"slices"
	"time"

	"github.com/go-json-experiment/json"

	"mycelium/internal/gate/facts"
	"mycelium/internal/node/project"
	"mycelium/internal/policy"
	"mycelium/internal/worktree"
)

// Rights is what the policy of a project gives the workers of its swarm: the policy in force when the view was opened.
type Rights struct{ View *project.View }

// Skills are those that are active at the start of a session of a role, and those that it may have.
func (r Rights) Skills(role string) (start, open []string) {
	return r.View.Policy.StartSkills(role), r.View.Policy.OpenSkills(role)
}

// Commands reports whether a session sees a tool of the sandbox's server that runs commands.
func (r Rights) Commands(role string, skills []string) bool {
	if skills == nil {
		skills = r.View.Policy.StartSkills(role)
	}
	s := policy.Scope{Principal: policy.Principal{ID: "swarm", Role: role}, Skills: skills}
	return slices.ContainsFunc([]string{"bash", "sandbox_exec"}, func(name string) bool {
		return r.View.Policy.Visible(s, policy.Item{Server: policy.SandboxServer, Name: name})
	})
}

// readers are tools with which agents read files, and the argument that names the file.
var readers = []struct{ tool, arg string }{{"files__read_file", "path"}, {policy.AgentServer + "__Read", "file_path"}}

// Refuses says why a session may not read a file of the project; empty: it may, without asking anybody.
func (r Rights) Refuses(role string, skills []string, path string) (why string) {
	v := r.View
	for _, read := range readers {
		it, err := policy.ParseTool(read.tool)
		if err != nil {
			return err.Error()
		}
		raw, err := json.Marshal(map[string]string{read.arg: filepath.Join(v.Project.Dir, filepath.FromSlash(path))}, json.Deterministic(true))
		if err != nil {
			return err.Error()
		}
		args, err := policy.ParseArgs(raw)
		if err != nil {
			return err.Error()
		}
		trees := &worktree.Cache{Workers: v.Project.State.Workers()}
		f, err := facts.Of(it, v.Annotations(it), args, facts.At(v.Policy, v.Project.Dir, v.Project.Home, trees))
		if err != nil {
			return err.Error()
		}
		d := v.Policy.Decide(policy.Call{Scope: policy.Scope{Principal: policy.Principal{ID: "swarm", Role: role}, Skills: skills},
			Item: it, Args: args,
			Facts: f, Time: time.Now()})
		if d.Effect == policy.Allow {
			return ""
		}
		if why == "" || !d.Unknown {
			why = "the role " + role + " may not read it: " + d.Reason
			if d.Effect == policy.Ask {
				why = "the policy asks before the role " + role + " reads it"
			}
		}
	}
	return why
}
