package node

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"mycelium/internal/backend"
	"mycelium/internal/backend/pin"
	"mycelium/internal/node/acts"
	"mycelium/internal/node/api"
	"mycelium/internal/node/project"
	"mycelium/internal/op/failure"
	"mycelium/internal/policy/sign"
	"mycelium/internal/rawjson"
	"mycelium/internal/scan"
)

// Skills are those that servers serve, which take effect when the operator has approved them.
type Skills struct {
	pool  *backend.Pool
	files *reloader
	acts  acts.Recorder
}

// Show reads a served skill from its server, and says what it would grant.
func (s *Skills) Show(ctx context.Context, name string) (api.ServedSkillReply, error) {
	served, text, err := s.read(ctx, name)
	if err != nil {
		return api.ServedSkillReply{}, err
	}
	r := api.ServedSkillReply{Name: served.Name, Digest: served.Digest, Text: string(text), Tools: []string{}, Problems: []string{}}
	k, problems := project.ServedSkill(served, text)
	for _, p := range problems {
		r.Problems = append(r.Problems, project.ProblemText(p))
	}
	if k == nil {
		return r, fmt.Errorf("skill %s: %s", served.Name, strings.Join(r.Problems, "; "))
	}
	for _, t := range k.AllowedTools {
		r.Tools = append(r.Tools, strings.TrimPrefix(t, "?"))
	}
	r.Findings = findings(served.Name, text)
	return r, nil
}

// findings is what the scan finds in the text of a skill.
func findings(name string, text []byte) []scan.Finding {
	quoted := rawjson.Set(nil, "description", rawjson.Quote(string(text)))
	return scan.New().Server(scan.Context{Own: []string{name}}).Definition(quoted)
}

// Approve lets a served skill take effect as it was shown, with this digest, for a person. One in which the scan finds something dangerous
// demands the second sign. What cannot be recorded is not done.
func (s *Skills) Approve(ctx context.Context, name, digest string, second sign.Sign, by acts.By) error {
	served, text, err := s.read(ctx, name)
	if err != nil {
		return err
	}
	if k, problems := project.ServedSkill(served, text); k == nil {
		return fmt.Errorf("skill %s: %s", served.Name, project.ProblemText(problems[len(problems)-1]))
	}
	shown := api.ServedSkillReply{Name: served.Name, Findings: findings(served.Name, text)}
	if err := shown.Demand().Check(second); err != nil {
		return err
	}
	if err := s.acts.Record(ctx, acts.Act{Act: "skill approve", Item: served.Name, Digest: digest, By: by}, served.Server,
		"the skill "+served.Name+" of a server is approved"); err != nil {
		return err
	}
	if err := s.pool.ApproveSkill(served.Name, digest, text); err != nil {
		_ = s.acts.Record(ctx, acts.Act{Act: "skill approve failed", Item: served.Name, Digest: digest, By: by}, served.Server,
			"the skill "+served.Name+" was not approved: "+err.Error())
		return failure.New(failure.Invalid, err, "")
	}
	s.files.Recompile()
	return nil
}

// read returns a served skill and the text of its SKILL.md.
func (s *Skills) read(ctx context.Context, name string) (pin.Served, []byte, error) {
	skills := s.pool.Catalog().Skills
	i := slices.IndexFunc(skills, func(k pin.Served) bool { return k.Name == name })
	if i < 0 {
		return pin.Served{}, nil, failure.New(failure.NotFound,
			fmt.Errorf("skill %q: no server serves it; myc skill list shows those that are served", name), "")
	}
	text, err := s.pool.SkillText(ctx, skills[i])
	return skills[i], text, err
}
