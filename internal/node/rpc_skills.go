package node

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"mycelium/internal/backend/pin"
	"mycelium/internal/daemon"
	"mycelium/internal/node/api"
	"mycelium/internal/node/project"
	"mycelium/internal/rawjson"
	"mycelium/internal/rpc"
	"mycelium/internal/scan"
)

// served reads a served skill from its server.
func (n *Node) served(ctx context.Context, name string) (pin.Served, []byte, *rpc.Error) {
	skills := n.pool.Catalog().Skills
	i := slices.IndexFunc(skills, func(s pin.Served) bool { return s.Name == name })
	if i < 0 {
		return pin.Served{}, nil, &rpc.Error{Code: rpc.CodeInvalidParams, Message: fmt.Sprintf("skill %q: no server serves it; myc skill list shows those that are served", name)}
	}
	text, err := n.pool.SkillText(ctx, skills[i])
	if err != nil {
		return pin.Served{}, nil, internalError(err)
	}
	return skills[i], text, nil
}

// servedMethod shows a served skill to an operator.
func (n *Node) servedMethod(ctx context.Context, _ daemon.Caller, params []byte) (any, *rpc.Error) {
	var p api.ServedParams
	if e := decode(params, &p); e != nil {
		return nil, e
	}
	s, text, e := n.served(ctx, p.Name)
	if e != nil {
		return nil, e
	}
	r := api.ServedReply{Name: s.Name, Digest: s.Digest, Text: string(text), Tools: []string{}, Problems: []string{}}
	k, problems := project.ServedSkill(s, text)
	for _, pr := range problems {
		r.Problems = append(r.Problems, project.ProblemText(pr))
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
func (n *Node) approveMethod(ctx context.Context, _ daemon.Caller, params []byte) (any, *rpc.Error) {
	var p api.ServedParams
	if e := decode(params, &p); e != nil {
		return nil, e
	}
	s, text, e := n.served(ctx, p.Name)
	if e != nil {
		return nil, e
	}
	if k, problems := project.ServedSkill(s, text); k == nil {
		return nil, internalError(fmt.Errorf("skill %s: %s", s.Name, project.ProblemText(problems[len(problems)-1])))
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
