package edit

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"
	"strings"
	"sync"
	"unicode/utf8"

	"mycelium/internal/audit"
	"mycelium/internal/config"
	"mycelium/internal/config/accept"
	"mycelium/internal/config/meaning"
	"mycelium/internal/node/acts"
	"mycelium/internal/node/api"
	"mycelium/internal/node/project"
	"mycelium/internal/node/replay"
	"mycelium/internal/op"
	"mycelium/internal/op/failure"
	"mycelium/internal/op/socket"
	"mycelium/internal/policy"
	"mycelium/internal/text"
	"mycelium/internal/yamlfile"
)

// Editor reads, checks and saves the files that govern a project, for the person at a terminal or in a browser.
type Editor struct {
	View   func() *project.View            // what is in force
	Load   func() (*config.Project, error) // reads the files anew
	Reload func(context.Context) error     // puts accepted files in force
	Log    *audit.Log

	saving sync.Mutex // held while files are checked and saved
}

// Methods adds what the editor answers to the requests of a node.
func (e *Editor) Methods(to socket.Table) {
	socket.Handle(to, api.FilesList, func(context.Context, op.Caller, op.None) ([]api.GovernedFile, error) { return e.List() })
	socket.Handle(to, api.FilesRead, func(_ context.Context, _ op.Caller, p api.FilesParams) ([]api.FileText, error) {
		return e.Read(p.Names)
	})
	socket.Handle(to, api.FilesCheck, func(_ context.Context, _ op.Caller, p api.FilesEdit) (api.FilesChecked, error) {
		return e.Check(p)
	})
	socket.Handle(to, api.FilesSave, func(ctx context.Context, c op.Caller, p api.FilesEdit) (api.FilesSaved, error) {
		return e.Save(ctx, acts.User(c.UID), p)
	})
	socket.Handle(to, api.FilesHistory, func(_ context.Context, _ op.Caller, p api.FilesParams) ([]api.FileVersion, error) {
		return e.History(p.Names)
	})
	socket.Handle(to, api.FilesReplay, func(ctx context.Context, _ op.Caller, p api.FilesEdit) (replay.Report, error) {
		return e.Replay(ctx, p)
	})
	socket.Handle(to, api.Declared, func(context.Context, op.Caller, op.None) (api.DeclaredReply, error) {
		return e.Declared(), nil
	})
	socket.Handle(to, api.FilesVersion, func(_ context.Context, _ op.Caller, p api.VersionParams) (api.FileText, error) {
		return e.Version(p.Name, p.Version)
	})
}

// List returns the files of which the configuration of the project consists, as they are on disk and as they were accepted.
func (e *Editor) List() ([]api.GovernedFile, error) {
	p, err := e.Load()
	if err != nil {
		return nil, err
	}
	c, err := config.OwnCandidate(p)
	if err != nil {
		return nil, err
	}
	found := map[string]api.GovernedFile{}
	if a, err := p.Store().Read(); err == nil {
		for _, f := range a.Files {
			found[f.Path] = api.GovernedFile{Name: f.Path}
		}
	}
	for _, ch := range c.Changes {
		found[ch.File] = api.GovernedFile{Name: ch.File, Waits: ch.Kind, Shipped: ch.Shipped}
	}
	ships, err := p.Shipped(p)
	if err != nil {
		return nil, err
	}
	out := []api.GovernedFile{}
	for name, f := range found {
		if f.Kind = kindOf(p, name); f.Kind != "" {
			f.Shipped = f.Shipped || ships[name] != nil
			out = append(out, f)
		}
	}
	slices.SortFunc(out, func(a, b api.GovernedFile) int { return strings.Compare(a.Name, b.Name) })
	return out, nil
}

// Read returns what files say now.
func (e *Editor) Read(names []string) ([]api.FileText, error) {
	p, err := e.Load()
	if err != nil {
		return nil, err
	}
	if err := named(p, "read", names); err != nil {
		return nil, err
	}
	out := []api.FileText{}
	for _, name := range names {
		f, err := e.read(&Set{Act: "read", P: p}, name)
		if err != nil {
			return nil, err
		}
		out = append(out, f)
	}
	return out, nil
}

// read returns what a file says now.
func (e *Editor) read(s *Set, name string) (api.FileText, error) {
	data, ships, err := s.Read(name)
	if err != nil {
		return api.FileText{}, failure.New(failure.Invalid, fmt.Errorf("%s: %w", s.Act, err), "")
	}
	if len(data) > yamlfile.MaxSize || !utf8.Valid(data) {
		return api.FileText{}, failure.New(failure.Invalid, fmt.Errorf("%s: %s is no text, or has more than %d KiB", s.Act, name,
			yamlfile.MaxSize>>10), "change it in the folder, and accept it: myc trust")
	}
	f := api.FileText{Name: name, Text: string(data), Digest: digest(data), Shipped: ships}
	if s.P.File.Trust == config.TrustFolder || ships {
		return f, nil
	}
	if was := s.Accepted().Accepted(name); string(was) != f.Text || (was == nil) != (data == nil) {
		f.Waits = true
		if utf8.Valid(was) {
			f.Accepted = string(was)
		}
	}
	return f, nil
}

// digest is the digest of a content by which an edit names it; "" of none.
func digest(data []byte) string {
	if data == nil {
		return ""
	}
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:])
}

// change is an edit that was looked at.
type change struct {
	set  *Set
	cand *config.Candidate // nil: it cannot be looked at yet
	base string            // digest of what was accepted then
	api.FilesChecked
}

// Check says what an edit would do.
func (e *Editor) Check(p api.FilesEdit) (api.FilesChecked, error) {
	c, err := e.look("check", p)
	return c.FilesChecked, err
}

// look reads the files anew, and says what an edit would do.
func (e *Editor) look(act string, edit api.FilesEdit) (c change, err error) {
	c.FilesChecked = api.FilesChecked{Problems: []api.FileProblem{}, Means: []meaning.Change{}, Diffs: []api.FileDiff{},
		Stale: []api.FileText{}, Unseen: []api.FileText{}}
	p, err := e.Load()
	if err != nil {
		return c, err
	}
	c.set = &Set{Act: act, P: p}
	if err := wellFormed(p, act, edit); err != nil {
		return c, err
	}
	if err := c.set.Untrusted(); err != nil {
		return c, err
	}
	if a, err := p.Store().Read(); err == nil {
		c.base = a.Digest
	}
	for _, f := range edit.Files {
		now, err := e.read(c.set, f.Name)
		if err != nil {
			return c, err
		}
		is := &File{Name: f.Name, Shipped: now.Shipped, Data: []byte(f.Text)}
		if now.Digest != "" {
			is.Was = []byte(now.Text)
		}
		if f.Gone {
			is.Data = nil
		}
		if now.Digest != f.Digest {
			c.Stale = append(c.Stale, now)
		} else if now.Waits && !edit.Seen {
			c.Unseen = append(c.Unseen, now)
		}
		c.set.Files = append(c.set.Files, is)
		if diff := text.Diff(string(is.Was), string(is.Data)); diff != "" || is.Changed() {
			c.Diffs = append(c.Diffs, api.FileDiff{Name: f.Name, Diff: diff})
		}
	}
	if c.cand, err = c.set.Candidate(); err != nil {
		return c, fmt.Errorf("%s: %w", act, err)
	}
	v := e.View()
	c.Problems = problems(v.With(p), c.set, c.cand)
	names := make([]string, len(c.cand.Changes))
	for i, ch := range c.cand.Changes {
		names[i] = ch.File
	}
	if len(c.cand.Why) == 0 {
		c.Means = append(c.Means, meaning.Compare(p, c.cand.Project, v.Catalog, names)...)
	}
	return c, nil
}

// wellFormed is an error if an edit names what is no file of the configuration, a file twice, or has a text that no file may have.
func wellFormed(p *config.Project, act string, edit api.FilesEdit) error {
	var names []string
	for _, f := range edit.Files {
		if slices.Contains(names, f.Name) {
			return failure.New(failure.Invalid, fmt.Errorf("%s: %s is named twice", act, f.Name), "")
		}
		if names = append(names, f.Name); len(f.Text) > yamlfile.MaxSize {
			return failure.New(failure.Invalid, fmt.Errorf("%s: %s has more than %d KiB", act, f.Name, yamlfile.MaxSize>>10), "")
		}
	}
	if len(names) == 0 {
		return failure.New(failure.Invalid, fmt.Errorf("%s: no file is named", act), "")
	}
	return named(p, act, names)
}

// problems lists what is wrong with the files as they would be: in the files of the change, and elsewhere what is not wrong now. What
// loading finds, and names that do not exist, are in the way; the rest is for the person to know.
func problems(now *project.View, s *Set, c *config.Candidate) []api.FileProblem {
	out := []api.FileProblem{}
	add := func(p policy.Problem, blocks bool) {
		if !slices.ContainsFunc(out, func(o api.FileProblem) bool { return o.Problem == p }) {
			out = append(out, api.FileProblem{Problem: p, Column: column(s, p), Blocks: blocks})
		}
	}
	for _, p := range c.Why {
		add(p, true)
	}
	now.Compile()
	for _, p := range now.Unnamed(c) {
		add(p, true)
	}
	before := now.CheckFiles()
	next := now.With(c.Project)
	next.Compile()
	for _, p := range next.CheckFiles() {
		edited := slices.ContainsFunc(s.Files, func(f *File) bool { return f.Name == p.File })
		if edited || !slices.ContainsFunc(before, func(o policy.Problem) bool { return o.File == p.File && o.Message == p.Message }) {
			add(p, false)
		}
	}
	slices.SortStableFunc(out, func(a, b api.FileProblem) int {
		if a.File != b.File {
			return strings.Compare(a.File, b.File)
		}
		return a.Line - b.Line
	})
	return out
}

// column is where a problem stands in its line, in characters: at the word that it quotes, or where the text of the line begins.
func column(s *Set, p policy.Problem) int {
	i := slices.IndexFunc(s.Files, func(f *File) bool { return f.Name == p.File })
	if i < 0 || p.Line < 1 {
		return 0
	}
	lines := strings.Split(string(s.Files[i].Data), "\n")
	if p.Line > len(lines) {
		return 1
	}
	line := lines[p.Line-1]
	at := len(line) - len(strings.TrimLeft(line, " \t-"))
	if _, rest, ok := strings.Cut(p.Message, `"`); ok {
		if word, _, ok := strings.Cut(rest, `"`); ok && word != "" && strings.Contains(line, word) {
			at = strings.Index(line, word)
		}
	}
	return utf8.RuneCountInString(line[:min(at, len(line))]) + 1
}

// accepted returns the version of a file that is in force; "" if none is.
func accepted(a *accept.Accepted, name string) string {
	for _, f := range a.Files {
		if f.Path == name {
			return f.Sum
		}
	}
	return ""
}
