package role

import (
	"fmt"
	"path"
	"slices"
	"strconv"
	"time"

	"mycelium/cmd/myc/internal/base"
	"mycelium/internal/config"
	"mycelium/internal/config/accept"
	"mycelium/internal/config/meaning"
	"mycelium/internal/config/source"
	"mycelium/internal/node/roles"
	"mycelium/internal/op/failure"
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
	file, why := roles.FileOf(p, act, role)
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
