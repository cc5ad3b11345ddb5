package approval

import (
	"bytes"
	"slices"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"mycelium/internal/credential"
	"mycelium/internal/policy"
)

// masked returns a request with its secrets masked, for people, models and the database. Digest stays that of the request before.
func (r Request) masked() Request {
	for _, text := range []*string{&r.Agent, &r.Label, &r.Dir, &r.Tool, &r.Rule, &r.Reason, &r.Category, &r.Thinking, &r.Text, &r.Opinion,
		&r.Changed, &r.Sandbox.Profile, &r.Project, &r.Outside, &r.Facts.Walls.No, &r.Facts.Walls.Asked, &r.Facts.Walls.Lacked,
		&r.Facts.Walls.Profile} {
		*text = credential.Mask(*text)
	}
	r.Args, r.Lacked = maskedArgs(r.Args), r.Lacked.masked()
	r.Sandbox = r.Sandbox.Each(maskedTexts)
	r.Facts.Dir, r.Facts.Worktrees = credential.Mask(r.Facts.Dir), maskedTexts(r.Facts.Worktrees)
	r.Facts.Parts = slices.Clone(r.Facts.Parts)
	for i := range r.Facts.Parts {
		maskPart(&r.Facts.Parts[i])
	}
	r.Code.Files, r.Code.Unread = slices.Clone(r.Code.Files), maskedTexts(r.Code.Unread)
	for i := range r.Code.Files {
		r.Code.Files[i].Path = credential.Mask(r.Code.Files[i].Path)
	}
	r.Questions = slices.Clone(r.Questions)
	for i := range r.Questions {
		q := &r.Questions[i]
		q.Header, q.Text, q.Options = credential.Mask(q.Header), credential.Mask(q.Text), maskedTexts(q.Options)
	}
	return r
}

func maskPart(p *policy.Part) {
	p.Program = credential.Mask(p.Program)
	p.Argv, p.Hosts, p.Effects, p.Unclear = maskedTexts(p.Argv), maskedTexts(p.Hosts), maskedTexts(p.Effects), maskedTexts(p.Unclear)
	p.Branches, p.Trees, p.Dir = maskedTexts(p.Branches), maskedTexts(p.Trees), credential.Mask(p.Dir)
	p.Paths = slices.Clone(p.Paths)
	for i := range p.Paths {
		path := &p.Paths[i]
		path.Raw, path.Clean, path.Resolved = credential.Mask(path.Raw), credential.Mask(path.Clean), credential.Mask(path.Resolved)
		path.Only, path.Content = policy.Only(credential.Mask(string(path.Only))), policy.Content(credential.Mask(string(path.Content)))
		path.Except = maskedTexts(path.Except)
	}
	p.Moves = slices.Clone(p.Moves)
	for i := range p.Moves {
		m := &p.Moves[i]
		m.From, m.To = credential.Mask(m.From), credential.Mask(m.To)
	}
	p.Archives = slices.Clone(p.Archives)
	for i := range p.Archives {
		a := &p.Archives[i]
		a.Path, a.Dir, a.Only = credential.Mask(a.Path), credential.Mask(a.Dir), maskedTexts(a.Only)
	}
}

func maskedTexts(texts []string) []string {
	out := slices.Clone(texts)
	for i := range out {
		out[i] = credential.Mask(out[i])
	}
	return out
}

// maskedArgs masks the strings in a JSON text. Other text is masked as a whole.
func maskedArgs(raw jsontext.Value) jsontext.Value {
	if !credential.Possible(raw) && bytes.IndexByte(raw, '\\') < 0 {
		return raw
	}
	var out bytes.Buffer
	lax := json.JoinOptions(jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true), jsontext.PreserveRawStrings(true))
	d := jsontext.NewDecoder(bytes.NewReader(raw), lax)
	e := jsontext.NewEncoder(&out, lax)
	for d.PeekKind() != jsontext.KindInvalid {
		t, err := d.ReadToken()
		if err == nil && t.Kind() == '"' {
			t = jsontext.String(credential.Mask(t.String()))
		}
		if err == nil {
			err = e.WriteToken(t)
		}
		if err != nil {
			break
		}
	}
	if d.StackDepth() > 0 || d.InputOffset() < int64(len(bytes.TrimSpace(raw))) {
		return jsontext.Value(credential.Mask(string(raw)))
	}
	return bytes.TrimSpace(out.Bytes())
}

// HoldsSecret reports whether a secret in the arguments was masked.
func (r *Request) HoldsSecret() bool { return bytes.Contains(r.Args, []byte(credential.Redacted)) }
