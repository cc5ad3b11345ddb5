package approval

import (
	"cmp"
	"path"
	"regexp"
	"slices"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"mycelium/internal/policy"
	"mycelium/internal/policy/box"
)

// As says which calls an approval is about. The empty value is [ThisCall].
type As string

// The values of [As].
const (
	ThisCall    As = "call"    // this call and no other
	ThisProgram As = "program" // this program with these arguments, whatever plain words follow
	ThisHost    As = "host"    // this program or tool, to these hosts
	ThisFolder  As = "folder"  // this program or tool, on files below this folder
	ThisTool    As = "tool"    // this tool
)

// kinds are the values of [As], the narrowest first.
var kinds = []As{ThisCall, ThisProgram, ThisHost, ThisFolder, ThisTool}

// Candidate is one way to generalise an approval.
type Candidate struct {
	As    As          `json:"as"`
	Words string      `json:"words"`         // what it allows, for people
	Rule  policy.Rule `json:"rule,omitzero"` // of all but [ThisCall]
}

// tooFar are the effects that are approved call by call. The rest of a call with one of them decides what is lost, so that no pattern
// describes it.
var tooFar = []string{
	policy.EffectUnknown, policy.EffectProjectCode, policy.EffectSecrets, policy.EffectPrivilege, policy.EffectForcePush, policy.EffectInstall,
	policy.EffectDeps, policy.EffectInlineCode, policy.EffectRemoteCode, policy.EffectContainer, policy.EffectDestructive, policy.EffectAgent,
	policy.EffectOperator, policy.EffectWrittenHere, policy.EffectUnusable, policy.EffectUnclear, policy.EffectOpenRights,
	policy.EffectGiveRoot, policy.EffectServeShell, policy.EffectResetRemote, policy.EffectCleanIgnored, policy.EffectHostRights,
	policy.EffectEnterCluster,
}

// Candidates returns how an approval of a request can be generalised, the narrowest first. Every rule matches the request itself, and no
// call with an effect, a host or a program that the request has not. Base constraints and deny rules stand above all of them.
func Candidates(r Request) []Candidate {
	if r.Kind != Call {
		return nil
	}
	list := []Candidate{{As: ThisCall, Words: "this call"}}
	if !r.canWiden() {
		return list
	}
	part := &r.Facts.Parts[0]
	for _, make := range []func(*Request, *policy.Part) (Candidate, bool){asProgram, asHost, asFolder, asTool} {
		if c, ok := make(&r, part); ok && (c.As == ThisTool && len(part.Effects) == 0 || bounded(part, c.As)) && ruleMatches(c.Rule, &r) {
			list = append(list, c)
		}
	}
	return list
}

// candidate returns the candidate of this kind, if the request has one.
func candidate(r Request, as As) (Candidate, bool) {
	for _, c := range Candidates(r) {
		if c.As == as {
			return c, true
		}
	}
	return Candidate{}, false
}

// canWiden reports whether a pattern can describe what a call does: one part, all of it understood, no code out of files, no secret.
func (r *Request) canWiden() bool {
	return len(r.Facts.Parts) == 1 && len(r.Facts.Parts[0].Unclear) == 0 && !r.HoldsSecret() && r.Code.Whole() && len(r.Code.Present()) == 0 &&
		!slices.ContainsFunc(r.Facts.Parts[0].Effects, func(e string) bool { return slices.Contains(tooFar, e) })
}

// wider returns an allow rule for the request's tool and role that admits no effect, program or host besides the request's, and files in
// this folder only.
func wider(r *Request, part *policy.Part, below string) policy.Rule {
	rule := policy.Rule{Name: "approved-" + r.ID, Action: "allow", Tool: policy.Names{r.Tool}, Match: map[string]policy.Values{},
		Sandbox: r.RuleSandbox(), Place: r.RulePlace()}
	if r.Role != "" {
		rule.Role = policy.Names{r.Role}
	}
	for field, values := range map[string][]string{"effect": part.Effects, "host": part.Hosts} {
		if len(values) > 0 {
			rule.Match[field] = literals(values)
		}
	}
	if part.Program != "" {
		rule.Match["program"] = literals([]string{part.Program})
	}
	if len(part.Paths) > 0 {
		glob := strings.TrimSuffix(escapeGlob(below), "/") + "/**"
		rule.Match["path"] = policy.Values{{Literal: &below}, {Glob: &glob}}
	}
	if len(rule.Match) == 0 {
		rule.Match = nil
	}
	return rule
}

// bounded reports whether the effects of a part bound what a call of the same effects can reach: whoever reads, writes or deletes does so
// in the files of the part, and whoever uses the network does so at its hosts. A rule cannot say that a call has no files or no hosts.
// The first words of a command name where it goes, so that [ThisProgram] needs no known host: the remote of git push.
func bounded(part *policy.Part, as As) bool {
	has := func(effects ...string) bool {
		return slices.ContainsFunc(part.Effects, func(e string) bool { return slices.Contains(effects, e) })
	}
	switch {
	case len(part.Effects) == 0:
		return false
	case len(part.Paths) == 0 && has(policy.EffectRead, policy.EffectWrite, policy.EffectDelete):
		return false
	case as != ThisProgram && unnamed(part):
		return false
	}
	return true
}

// unnamed reports whether a part uses the network, and its facts do not say at which host.
func unnamed(part *policy.Part) bool {
	return len(part.Hosts) == 0 && slices.ContainsFunc(part.Effects, func(e string) bool {
		return e == policy.EffectNetwork || e == policy.EffectUpload
	})
}

// asProgram allows the program with the same first words. Options are left out: an option may change what the words before it mean. Where
// no host is known, the first three words stay, because they say where it goes: git push origin. A command of two words does not say it.
func asProgram(r *Request, part *policy.Part) (c Candidate, ok bool) {
	args, err := policy.ParseArgs(r.Args)
	command, _ := args["command"].(string)
	if err != nil || r.Tool != policy.AgentServer+"__Bash" || part.Program == "" || command != strings.Join(part.Argv, " ") {
		return c, false
	}
	words, keep := part.Argv, 2
	if unnamed(part) {
		if keep = 3; len(words) < keep {
			return c, false
		}
	}
	if len(words) > keep {
		words = words[:len(words)-1]
	}
	prefix := strings.Join(words, " ")
	pattern := regexp.QuoteMeta(prefix) + `( [A-Za-z0-9_./@=,%][A-Za-z0-9_./@=,%-]*)*`
	rule := wider(r, part, r.Dir)
	rule.Args = map[string]policy.Values{"command": {{Regex: &pattern}}}
	dir, err := jsontext.AppendQuote(nil, r.Dir)
	if err != nil {
		return c, false
	}
	rule.When = "dir == " + string(dir)
	return Candidate{As: ThisProgram, Words: prefix + " …, in " + r.Dir, Rule: rule}, true
}

// asHost allows the program, or the tool, to the same hosts.
func asHost(r *Request, part *policy.Part) (c Candidate, ok bool) {
	if len(part.Hosts) == 0 {
		return c, false
	}
	return Candidate{As: ThisHost, Words: actor(r, part) + " to " + strings.Join(part.Hosts, ", "), Rule: wider(r, part, r.Dir)}, true
}

// asFolder allows the program, or the tool, on files below the folder of the first file.
func asFolder(r *Request, part *policy.Part) (c Candidate, ok bool) {
	if len(part.Paths) == 0 || r.Dir == "" {
		return c, false
	}
	folder := path.Dir(part.Paths[0].Clean)
	if folder != r.Dir && !strings.HasPrefix(folder, r.Dir+"/") {
		return c, false
	}
	return Candidate{As: ThisFolder, Words: actor(r, part) + " below " + folder, Rule: wider(r, part, folder)}, true
}

// asTool allows the tool, within the folder in which the agent works. A shell is no tool in this sense: it is all programs. Nor is a call
// that names hosts: no candidate admits others, so that it would be [ThisHost] under a wider name.
func asTool(r *Request, part *policy.Part) (c Candidate, ok bool) {
	if part.Program != "" || len(part.Hosts) > 0 || r.Tool == policy.AgentServer+"__Bash" {
		return c, false
	}
	words := r.Tool
	if len(part.Paths) > 0 {
		words += " below " + r.Dir
	}
	return Candidate{As: ThisTool, Words: words, Rule: wider(r, part, r.Dir)}, true
}

// actor names the program of a part, or the tool.
func actor(r *Request, part *policy.Part) string {
	if part.Program != "" {
		return part.Program
	}
	return r.Tool
}

func literals(list []string) (vs policy.Values) {
	for _, s := range list {
		vs = append(vs, policy.Value{Literal: &s})
	}
	return vs
}

// escapeGlob returns a glob that matches exactly this path.
func escapeGlob(s string) string {
	return strings.NewReplacer(`\`, `\\`, "*", `\*`, "?", `\?`, "[", `\[`, "{", `\{`).Replace(s)
}

// Holds reports whether an allow rule matches a request, so that the same call is not asked about again.
func Holds(rule policy.Rule, r Request) bool { return ruleMatches(rule, &r) }

// ruleMatches reports whether an allow rule matches a request.
func ruleMatches(rule policy.Rule, r *Request) bool {
	it, err := policy.ParseTool(r.Tool)
	args, bad := policy.ParseArgs(r.Args)
	if err != nil || bad != nil {
		return false
	}
	p, _ := policy.New(policy.Source{Rules: []policy.Rule{rule}, Boxes: box.Alone(rule.Sandbox)})
	compiled := p.CompiledRules()
	if len(compiled) != 1 {
		return false
	}
	f := r.Facts
	f.Dir = cmp.Or(f.Dir, r.Dir)
	ok, err := compiled[0].Matches(policy.Call{Item: it, Args: args, Facts: f, Time: r.Created,
		Scope: policy.Scope{Principal: policy.Principal{ID: r.Principal, Role: r.Role}}}, policy.Annotations{})
	return ok && err == nil
}

// covers reports whether an approval for the session that was generalised is about this request too: the same session, principal, role and
// tool, asked by the same rule, in the same sandbox, and within the candidate that was chosen.
func (k *kept) covers(r *Request) bool {
	o := &k.request
	if k.answer.As == "" || k.answer.As == ThisCall || !k.answer.Allow || o.Session != r.Session || o.Principal != r.Principal ||
		o.Role != r.Role || o.Tool != r.Tool || o.Rule != r.Rule || !o.Sandbox.Same(r.Sandbox) || r.Kind != Call || !r.canWiden() {
		return false
	}
	c, ok := candidate(*o, k.answer.As)
	if !ok || !ruleMatches(c.Rule, r) || !r.Lacked.within(o.Lacked) {
		return false
	}
	part := &r.Facts.Parts[0] // if only its words say where it goes, it does the same there
	return !unnamed(part) || sameSet(part.Effects, o.Facts.Parts[0].Effects)
}

// sameSet reports whether two lists have the same texts.
func sameSet(a, b []string) bool {
	within := func(a, b []string) bool {
		return !slices.ContainsFunc(a, func(s string) bool { return !slices.Contains(b, s) })
	}
	return within(a, b) && within(b, a)
}

func hasCandidate(r Request, as As) bool {
	_, ok := candidate(r, as)
	return ok
}
