package main

import (
	"archive/zip"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/spf13/cobra"

	"mycelium/internal/backend"
	"mycelium/internal/daemon"
	"mycelium/internal/policy"
	"mycelium/internal/rawjson"
	"mycelium/internal/rpc"
	"mycelium/internal/scan"
	"mycelium/internal/skill"
)

// Skills that servers serve. One takes effect once the operator has approved it, for the digests of its files; it may then make visible
// tools of its own server only, whatever else it asks for.

// servedSkills are the approved ones as skills, and what of them does not hold.
func servedSkills(served []backend.Served) (out []skill.Skill, problems []policy.Problem) {
	for _, s := range served {
		if s.State != backend.SkillApproved {
			continue
		}
		k, ps := servedSkill(s, s.Text)
		problems = append(problems, ps...)
		if k != nil {
			out = append(out, *k)
		}
	}
	return out, problems
}

// servedSkill reads SKILL.md of a served skill and takes from it what such a skill may have.
func servedSkill(s backend.Served, text []byte) (*skill.Skill, []policy.Problem) {
	source := skill.Source("mcp:" + s.Server)
	file := string(source) + " " + s.URI
	name := strings.TrimPrefix(s.Name, s.Server+".")
	if i := strings.IndexByte(name, '.'); i >= 0 {
		name = name[:i]
	}
	front, err := skill.FrontMatter(text)
	said := jsontext.Value(rawjson.Member(s.Raw, "frontmatter")).Clone()
	if err == nil && (said.Canonicalize() != nil || (*jsontext.Value)(&front).Canonicalize() != nil || !bytes.Equal(said, front)) {
		err = errors.New("the front matter of its SKILL.md is another than that of its entry")
	}
	if err != nil {
		return nil, []policy.Problem{{File: file, Message: err.Error(), Hint: "tell the makers of the server"}}
	}
	folder, err := oneFile(name+"/SKILL.md", text)
	if err != nil {
		return nil, []policy.Problem{{File: file, Message: err.Error()}}
	}
	list, problems := skill.LoadOne(folder, name, string(source), source)
	for i := range problems {
		problems[i].File = file
	}
	if len(list) != 1 || list[0].Name != name {
		return nil, append(problems, policy.Problem{File: file, Message: "its SKILL.md does not declare the skill " + name, Hint: "tell the makers of the server"})
	}
	k := list[0]
	asked := k.AllowedTools
	k.Grant = policy.Grant{Name: s.Name}
	for _, entry := range asked {
		if tool, ok := ownTool(s.Server, entry); ok {
			k.AllowedTools = append(k.AllowedTools, "?"+tool)
		} else {
			problems = append(problems, policy.Problem{File: file, Warning: true, Message: fmt.Sprintf("allowed-tools asks for %q, which is not a tool of %s: it is not granted", entry, s.Server)})
		}
	}
	k.Commands, k.Triggers, k.Dir, k.File = nil, nil, nil, file
	k.Instructions = fmt.Sprintf("(This skill comes from the MCP server %q. It is not the operator's own.)\n\n%s", s.Server, k.Instructions)
	return &k, problems
}

// ownTool reads an entry of a served skill's allowed-tools, if it names tools of the server itself.
func ownTool(server, entry string) (string, bool) {
	entry = strings.TrimPrefix(strings.TrimPrefix(entry, "?"), "mcp__")
	if strings.ContainsAny(entry, "( )") {
		return "", false
	}
	if !strings.Contains(entry, "__") {
		entry = server + "__" + entry
	}
	own, _, _ := strings.Cut(entry, "__")
	_, err := policy.ParsePattern(entry)
	return entry, err == nil && own == server
}

// oneFile is a file system with one file.
func oneFile(name string, data []byte) (fs.FS, error) {
	var b bytes.Buffer
	w := zip.NewWriter(&b)
	f, err := w.Create(name)
	if err == nil {
		_, err = f.Write(data)
	}
	if err == nil {
		err = w.Close()
	}
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", name, err)
	}
	return zip.NewReader(bytes.NewReader(b.Bytes()), int64(b.Len()))
}

// servedProblem says why a served skill takes no effect.
func servedProblem(s backend.Served) problemShape {
	p := problemShape{File: "mcp:" + s.Server + " " + s.URI, Hint: "read and approve it: myc skill approve " + s.Name}
	switch s.State {
	case backend.SkillChanged:
		p.Message = "its files changed since it was approved: the approval is void, and it grants nothing"
	case backend.SkillUnbound:
		p.Message, p.Hint = "its entry has no digests, so that it cannot be approved", "its server would have to list its files"
	default:
		p.Message = "a server serves it, and nobody has approved it: it grants nothing"
	}
	return p
}

// servedRows are the served skills that take no effect.
func servedRows(served []backend.Served) []skillRow {
	rows := []skillRow{}
	for _, s := range served {
		if s.State != backend.SkillApproved {
			rows = append(rows, skillRow{Name: s.Name, Description: s.Description, Roles: []string{}, Tools: []string{}, Triggers: []string{}, Problems: []problemShape{servedProblem(s)}, Source: "mcp:" + s.Server})
		}
	}
	return rows
}

// doctorServed tells of served skills whose approval is void.
func (v *view) doctorServed(add report) {
	for _, s := range v.pool.Catalog().Skills {
		if s.State == backend.SkillChanged {
			p := servedProblem(s)
			add("warning", "skill "+s.Name, p.Message, p.Hint)
		}
	}
}

func (a *app) skillApproveCmd() *cobra.Command {
	var yes bool
	c := &cobra.Command{
		Use: "approve NAME", Short: "Let a skill that a server serves take effect",
		Long: "Shows SKILL.md and what it would grant, and approves it for the digests of its files: when one of them changes, the approval is\n" +
			"void. Such a skill grants tools of its own server only, to the roles whose file lists it.",
		Example: "  myc skill approve docs.refunds", Args: argRange(1, 1, "one skill of a server"),
		RunE: func(c *cobra.Command, args []string) error { return a.skillApprove(c.Context(), args[0], yes) },
	}
	c.Flags().BoolVarP(&yes, "yes", "y", false, "do not ask")
	return c
}

// servedReply is a served skill as an operator sees it before approving it.
type servedReply struct {
	Name     string         `json:"name"`
	Digest   string         `json:"digest"`
	Text     string         `json:"text"`
	Tools    []string       `json:"tools"`
	Problems []string       `json:"problems"`
	Findings []scan.Finding `json:"findings"`
}

type servedParams struct {
	Name   string `json:"name"`
	Digest string `json:"digest,omitempty"`
}

func (a *app) skillApprove(ctx context.Context, name string, yes bool) error {
	if err := a.needPerson("approve a skill"); err != nil {
		return err
	}
	c, err := a.connect(ctx)
	if err != nil {
		return err
	}
	defer c.done()
	if err := a.learnPending(ctx, c); err != nil {
		return err
	}
	var r servedReply
	if err := c.ask(ctx, "skill/served", servedParams{Name: name}, &r); err != nil {
		return err
	}
	if !a.json {
		fmt.Fprintf(a.out, "%s, digest %s\ngrants %s\n", visible(r.Name), r.Digest, orDash(strings.Join(r.Tools, ", ")))
		for _, p := range r.Problems {
			fmt.Fprintln(a.out, p)
		}
		for _, f := range r.Findings {
			fmt.Fprintf(a.out, "%s %s: %s: %s\n", f.Severity, f.Family, f.Why, f.Excerpt)
		}
		fmt.Fprintln(a.out)
		for line := range strings.SplitSeq(r.Text, "\n") {
			fmt.Fprintln(a.out, "  "+scan.Visible(line))
		}
	}
	if !yes && stdinIsTerminal(a.in) && !a.agreed("Approve it? [y/N] ") {
		return deniedError(fmt.Errorf("skill approve: nothing was approved"), "")
	}
	if err := c.ask(ctx, "skill/approve", servedParams{Name: name, Digest: r.Digest}, nil); err != nil {
		return err
	}
	if a.json {
		return a.printJSON(r)
	}
	fmt.Fprintf(a.err, "myc: approved %s: it is open to the roles whose file lists it in allowedSkills\n", visible(name))
	return nil
}

// served reads a served skill from its server.
func (n *node) served(ctx context.Context, name string) (backend.Served, []byte, *rpc.Error) {
	skills := n.pool.Catalog().Skills
	i := slices.IndexFunc(skills, func(s backend.Served) bool { return s.Name == name })
	if i < 0 {
		return backend.Served{}, nil, &rpc.Error{Code: rpc.CodeInvalidParams, Message: fmt.Sprintf("skill %q: no server serves it; myc skill list shows those that are served", name)}
	}
	text, err := n.pool.SkillText(ctx, skills[i])
	if err != nil {
		return backend.Served{}, nil, internalError(err)
	}
	return skills[i], text, nil
}

// servedMethod shows a served skill to an operator.
func (n *node) servedMethod(ctx context.Context, _ daemon.Caller, params []byte) (any, *rpc.Error) {
	var p servedParams
	if e := decode(params, &p); e != nil {
		return nil, e
	}
	s, text, e := n.served(ctx, p.Name)
	if e != nil {
		return nil, e
	}
	r := servedReply{Name: s.Name, Digest: s.Digest, Text: string(text), Tools: []string{}, Problems: []string{}}
	k, problems := servedSkill(s, text)
	for _, pr := range problems {
		r.Problems = append(r.Problems, problemText(pr))
	}
	if k == nil {
		return nil, internalError(fmt.Errorf("skill %s: %s", s.Name, strings.Join(r.Problems, "; ")))
	}
	for _, t := range k.AllowedTools {
		r.Tools = append(r.Tools, strings.TrimPrefix(t, "?"))
	}
	quoted := rawjson.Set(nil, "description", rawjson.Quote(string(text)))
	r.Findings = scan.New().Server(scan.Context{Own: []string{s.Name}}).Definition(quoted)
	return r, nil
}

// approveMethod approves a served skill as it was shown. What cannot be recorded is not done.
func (n *node) approveMethod(ctx context.Context, _ daemon.Caller, params []byte) (any, *rpc.Error) {
	var p servedParams
	if e := decode(params, &p); e != nil {
		return nil, e
	}
	s, text, e := n.served(ctx, p.Name)
	if e != nil {
		return nil, e
	}
	if k, problems := servedSkill(s, text); k == nil {
		return nil, internalError(fmt.Errorf("skill %s: %s", s.Name, problemText(problems[len(problems)-1])))
	}
	if err := n.recordAct(ctx, act{Act: "skill approve", Item: s.Name, Digest: p.Digest}, s.Server, "the skill "+s.Name+" of a server is approved"); err != nil {
		return nil, internalError(err)
	}
	if err := n.pool.ApproveSkill(s.Name, p.Digest, text); err != nil {
		_ = n.recordAct(ctx, act{Act: "skill approve failed", Item: s.Name, Digest: p.Digest}, s.Server, "the skill "+s.Name+" was not approved: "+err.Error())
		return nil, &rpc.Error{Code: rpc.CodeInvalidParams, Message: err.Error()}
	}
	n.recompile()
	return struct{}{}, nil
}
