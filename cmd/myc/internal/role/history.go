package role

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strconv"
	"strings"
	"time"

	"mycelium/cmd/myc/internal/base"
	"mycelium/internal/config"
	"mycelium/internal/config/accept"
	"mycelium/internal/config/meaning"
	"mycelium/internal/config/source"
	"mycelium/internal/node/failure"
	"mycelium/internal/skill"
	"mycelium/internal/text"
)

// shownVersions is how many versions are listed without --all: each is loaded, to say what it changed.
const shownVersions = 20

// version is one version in the shape of `myc roles history --json`.
type version struct {
	Version int              `json:"version"`
	Time    time.Time        `json:"time"`
	By      string           `json:"by,omitempty"`
	File    string           `json:"file"`
	InForce bool             `json:"inForce"`
	Deleted bool             `json:"deleted,omitzero"`
	Kept    bool             `json:"kept"` // its content can be restored
	Changes []meaning.Change `json:"changes"`
	Summary string           `json:"summary"`
}

// versionsOf returns the file of a role, present or past, and its versions, the oldest first.
func versionsOf(p *config.Project, act, role string) (file string, list []accept.Version, err error) {
	file, why := fileOf(p, act, role)
	if why != nil && failure.Of(why).Kind != failure.NotFound {
		return "", nil, why
	}
	for _, ext := range []string{".yaml", ".yml"} {
		name := file
		if why != nil {
			if name = path.Join(source.RolesFolder, role+ext); name != path.Clean(name) || path.Dir(name) != source.RolesFolder {
				return "", nil, why
			}
		}
		if list, err = p.Store().Versions(name); err != nil || len(list) > 0 {
			return name, list, err
		}
	}
	return file, nil, why
}

func (a *app) history(role string, all bool) error {
	const act = "roles history"
	p, err := a.load(act)
	if err != nil {
		return err
	}
	file, list, err := versionsOf(p, act, role)
	if err != nil {
		return err
	}
	from := 0
	if !all {
		from = max(0, len(list)-shownVersions)
	}
	rows, err := a.tell(p, file, list, from)
	if err != nil {
		return fmt.Errorf("%s: %w", act, err)
	}
	if a.JSON {
		return a.PrintJSON(rows)
	}
	var cells [][]string
	for _, r := range rows {
		state := ""
		if r.InForce {
			state = "in force"
		}
		cells = append(cells, []string{strconv.Itoa(r.Version), r.Time.Local().Format(time.DateTime), base.OrDash(r.By), state, r.Summary})
	}
	a.Table(base.Column{Name: "VERSION"}, base.Column{Name: "ACCEPTED"}, base.Column{Name: "BY", Drop: 2}, base.Column{Name: "STATE", Drop: 3},
		base.Column{Name: "WHAT CHANGED", Least: 20, Drop: 1}).Print(cells...)
	if from > 0 {
		fmt.Fprintf(a.Err, "myc: %s not shown: --all\n", text.Count(from, "older version")+text.Plural(from, " is", " are"))
	}
	return nil
}

// tell says of each version from one on what it changed, the newest first.
func (a *app) tell(p *config.Project, file string, list []accept.Version, from int) ([]version, error) {
	v, err := a.OpenView()
	if err != nil {
		return nil, err
	}
	defer v.Close()
	n := &teller{app: a, p: p, file: file, catalog: v.Catalog}
	if from > 0 {
		n.step(list[from-1])
	}
	rows := []version{}
	inForce := sumInForce(p, file)
	for _, is := range list[from:] {
		r := n.step(is)
		r.Version, r.Time, r.By, r.File, r.Deleted = is.Number, is.Time, is.By, file, is.Sum == ""
		r.InForce = is.Sum == inForce
		rows = append(rows, r)
	}
	slices.Reverse(rows)
	for i := range rows { // of two with one content, the newer is in force
		rows[i].InForce = rows[i].InForce && !slices.ContainsFunc(rows[:i], func(r version) bool { return r.InForce })
	}
	return rows, nil
}

// sumInForce is the digest of what is accepted of a file; empty if there is none.
func sumInForce(p *config.Project, file string) string {
	a, err := p.Store().Read()
	if err != nil {
		return ""
	}
	i := slices.IndexFunc(a.Files, func(e accept.Entry) bool { return e.Path == file })
	if i < 0 {
		return ""
	}
	return a.Files[i].Sum
}

// teller compares one version after the other.
type teller struct {
	*app
	p       *config.Project
	file    string
	catalog skill.Catalog
	before  *config.Project // with the version before; nil: there is none, it does not load, or nothing is kept of it
}

// step says what a version changes against the one before.
func (n *teller) step(is accept.Version) version {
	r := version{Changes: []meaning.Change{}}
	was := n.before
	n.before = nil
	data, err := n.p.Store().Content(is)
	switch {
	case err != nil && is.Sum != "":
		r.Summary = "its content is not kept"
		if !errors.Is(err, fs.ErrNotExist) {
			r.Summary = err.Error()
		}
		return r
	case is.Sum == "":
		data = nil
	}
	r.Kept = is.Sum != ""
	c, err := n.candidate(n.p, n.file, data)
	switch {
	case err != nil:
		r.Summary = err.Error()
		return r
	case len(c.Why) > 0:
		r.Summary = "it does not load with the other files of now: " + c.Why[0].Message
		return r
	}
	if n.before = c.Project; was != nil {
		if changes := meaning.Compare(was, c.Project, n.catalog, []string{n.file}); len(changes) > 0 {
			r.Changes = changes
		}
	}
	if r.Summary = summary(r.Changes, was != nil, is.Sum == ""); is.Number == 1 {
		r.Summary = "the first version"
	}
	return r
}

// summary says changes in one line.
func summary(changes []meaning.Change, known, deleted bool) string {
	var words []string
	for _, c := range changes {
		words = append(words, string(c.Mark)+": "+c.Text)
	}
	switch {
	case deleted:
		return strings.Join(append([]string{"deleted"}, words...), "; ")
	case !known:
		return "what came before is not known"
	case len(words) == 0:
		return "nothing in what it means"
	}
	return strings.Join(words, "; ")
}

// restore writes a version of a role's file again.
func (a *app) restore(ctx context.Context, role, number string) error {
	const act = "roles restore"
	p, err := a.load(act)
	if err != nil {
		return err
	}
	file, list, err := versionsOf(p, act, role)
	if err != nil {
		return err
	}
	n, err := strconv.Atoi(number)
	i := slices.IndexFunc(list, func(v accept.Version) bool { return v.Number == n })
	switch {
	case err != nil || i < 0:
		return failure.New(failure.Usage, fmt.Errorf("%s: %s has no version %q", act, file, number), "myc roles history "+role+" lists them")
	case list[i].Sum == "":
		return failure.Usagef("%s: version %d is that the file was deleted: myc roles delete %s", act, n, role)
	}
	c := &change{act: act, p: p, file: file, result: result{Role: role, File: file}, said: "in force: " + file + ", as in version " + number}
	if c.data, err = p.Store().Content(list[i]); err != nil {
		if errors.Is(err, fs.ErrNotExist) {
			err = fmt.Errorf("the content of version %d is not kept", n)
		}
		return fmt.Errorf("%s: %w", act, err)
	}
	if c.was, c.shipped, err = read(p, file); err != nil {
		return fmt.Errorf("%s: %w", act, err)
	}
	if err := a.put(c); err != nil {
		return err
	}
	return a.done(ctx, c)
}
