package exchange

import (
	"time"

	"mycelium/internal/memory"
	"mycelium/internal/text"
)

// Added says what an import did.
type Added struct {
	Added   int      `json:"added"`
	Known   int      `json:"known"`             // notes whose text the memory had already
	Refused []string `json:"refused,omitempty"` // why a note cannot be kept
}

// Add adds notes to the memory of a role. A note whose text is there already is not added again.
func Add(f memory.Folder, role string, notes []Note, now time.Time) (out Added, err error) {
	err = f.Change(role, func(d *memory.Doc) (*memory.Doc, error) {
		out = Added{}
		known := map[string]bool{}
		for _, e := range d.Entries() {
			known[e.Content] = true
		}
		var list []memory.Entry
		for _, n := range notes {
			e, err := memory.New(n.Content, n.Type, n.Tags, n.Source, now)
			switch {
			case err != nil:
				out.Refused = append(out.Refused, text.Cell(n.Content, 60)+": "+err.Error())
			case known[e.Content]:
				out.Known++
			default:
				known[e.Content] = true
				list = append(list, e)
			}
		}
		out.Added = len(list)
		if len(list) == 0 {
			return d, nil
		}
		return d, d.Add(now, list...)
	})
	return out, err
}
