package edit

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"
	"time"

	"github.com/go-json-experiment/json"

	"mycelium/internal/audit"
	"mycelium/internal/config"
	"mycelium/internal/config/accept"
	"mycelium/internal/node/api"
	"mycelium/internal/op/failure"
	"mycelium/internal/text"
)

// Act is the record of a save.
type Act struct {
	Act     string         `json:"act"`
	By      string         `json:"by"`
	Via     string         `json:"via"`
	Because string         `json:"because,omitempty"`
	Files   []SavedFile    `json:"files"`
	Diffs   []api.FileDiff `json:"diffs"` // of what is in force
}

// SavedFile is a file before and after a save, by digest; "" is no file.
type SavedFile struct {
	Name string `json:"name"`
	Was  string `json:"was"`
	Is   string `json:"is"`
}

// Recorded returns the record of the change, which a person makes on a surface.
func (s *Set) Recorded(person, via, because string) Act {
	out := Act{Act: "save files", By: person, Via: via, Because: because, Diffs: inForce(s)}
	for _, f := range s.Files {
		out.Files = append(out.Files, SavedFile{f.Name, digest(f.Was), digest(f.Data)})
	}
	return out
}

// Note says the act in a line.
func (a Act) Note() string {
	var names []string
	for _, f := range a.Files {
		names = append(names, f.Name)
	}
	note := fmt.Sprintf("%s by %s (%s): %s", a.Act, a.By, a.Via, strings.Join(names, ", "))
	if a.Because != "" {
		note += "; " + text.OneLine(a.Because)
	}
	return note
}

// Save puts an edit of a person in force, or nothing of it: if a file is no longer what the person began with, has lines that nobody has
// accepted and the person has not seen, or would not load, the reply says so. A save that cannot be recorded is not done.
func (e *Editor) Save(ctx context.Context, person string, edit api.FilesEdit) (out api.FilesSaved, err error) {
	e.saving.Lock()
	defer e.saving.Unlock()
	c, err := e.look("save", edit)
	if out.FilesChecked = c.FilesChecked; err != nil {
		return out, err
	}
	if c.Faulty() || len(c.Stale) > 0 || len(c.Unseen) > 0 {
		return out, nil
	}
	if len(c.Diffs) == 0 && !edit.Seen {
		out.Saved = true // it is what is there, and in force
		return out, nil
	}
	via := api.Answer{Device: edit.Device}.Via()
	who := person
	if edit.Device != "" {
		who = fmt.Sprintf("%s (%s)", person, via)
	}
	what := c.set.Recorded(person, via, edit.Because)
	a := c.set.Accepted()
	a.As(who)
	err = c.set.Save(func() error {
		if now, err := a.Store().Read(); err != nil || now.Digest != c.base {
			return failure.New(failure.Conflict, errors.New("save: something else was accepted meanwhile, so nothing was changed"), "try again")
		}
		out.Record, err = e.record(ctx, what)
		return err
	})
	if err != nil {
		if out.Record != "" {
			what.Act += " failed"
			_, failed := e.record(ctx, what)
			err = errors.Join(err, failed)
		}
		return out, err
	}
	out.Saved = true
	if err := e.Reload(ctx); err != nil {
		out.NotInForce = text.Describe(err)
	}
	return out, nil
}

// inForce is how what is in force changes by a set of files.
func inForce(s *Set) (out []api.FileDiff) {
	for _, f := range s.Files {
		was := s.Accepted().Accepted(f.Name)
		if s.P.File.Trust == config.TrustFolder {
			was = f.Was
		}
		out = append(out, api.FileDiff{Name: f.Name, Diff: text.Diff(string(was), string(f.Data))})
	}
	return out
}

// record writes an act into the log, and returns the id of the record.
func (e *Editor) record(ctx context.Context, what Act) (id string, err error) {
	args, err := json.Marshal(what)
	if err != nil {
		return "", fmt.Errorf("record %s: %w", what.Act, err)
	}
	surface := "cli"
	if what.Via != (api.Answer{}).Via() {
		surface = "browser"
	}
	id = audit.NewID()
	return id, e.Log.Append(context.WithoutCancel(ctx), audit.Record{ID: id, Kind: audit.Operator, Time: time.Now(), Principal: "operator",
		Surface: surface, Args: args, Note: what.Note()})
}

// The bounds of a history.
const (
	mostVersions = 100
	mostDiff     = 32 << 10 // bytes of one difference
)

// History returns the versions of files, the newest first; of all files if none is named.
func (e *Editor) History(names []string) ([]api.FileVersion, error) {
	p, err := e.Load()
	if err != nil {
		return nil, err
	}
	if err := named(p, "history", names); err != nil {
		return nil, err
	}
	one := ""
	if len(names) == 1 {
		one = names[0]
	}
	list, err := p.Store().Versions(one)
	if err != nil {
		return nil, err
	}
	now := &accept.Accepted{}
	if a, err := p.Store().Read(); err == nil {
		now = a
	}
	out := []api.FileVersion{}
	told := map[string]bool{} // files whose version in force was found
	slices.SortStableFunc(list, func(a, b accept.Version) int { return a.Time.Compare(b.Time) })
	for i, v := range slices.Backward(list) {
		if kindOf(p, v.Path) == "" || len(names) > 0 && !slices.Contains(names, v.Path) {
			continue
		}
		h := api.FileVersion{Name: v.Path, Version: v.Number, Time: v.Time, By: v.By, Gone: v.Sum == ""}
		if !told[v.Path] && v.Sum != "" && v.Sum == accepted(now, v.Path) {
			h.InForce, told[v.Path] = true, true
		}
		is, err := p.Store().Content(v)
		h.Kept = err == nil
		was, before := before(p.Store(), list[:i], v.Path)
		if (h.Kept || h.Gone) && before {
			h.Diff = text.TruncateRunes(text.Diff(string(was), string(is)), mostDiff)
		}
		if out = append(out, h); len(out) == mostVersions {
			break
		}
	}
	return out, nil
}

// before is what a file said before the end of a list of versions; false if that is not known.
func before(s accept.Store, list []accept.Version, name string) ([]byte, bool) {
	for _, v := range slices.Backward(list) {
		if v.Path == name {
			data, err := s.Content(v)
			return data, err == nil || v.Sum == ""
		}
	}
	return nil, true
}

// Version returns what a version of a file says.
func (e *Editor) Version(name string, number int) (api.FileText, error) {
	p, err := e.Load()
	if err != nil {
		return api.FileText{}, err
	}
	if err := named(p, "history", []string{name}); err != nil {
		return api.FileText{}, err
	}
	list, err := p.Store().Versions(name)
	if err != nil {
		return api.FileText{}, err
	}
	i := slices.IndexFunc(list, func(v accept.Version) bool { return v.Number == number })
	if i < 0 {
		return api.FileText{}, failure.New(failure.NotFound, fmt.Errorf("history: %s has no version %d", name, number), "")
	}
	if list[i].Sum == "" {
		return api.FileText{Name: name}, nil
	}
	data, err := p.Store().Content(list[i])
	if errors.Is(err, fs.ErrNotExist) {
		err = failure.New(failure.NotFound, fmt.Errorf("history: the text of version %d of %s is not kept", number, name), "")
	}
	return api.FileText{Name: name, Text: string(data), Digest: digest(data)}, err
}
