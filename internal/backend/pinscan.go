package backend

import (
	"mycelium/internal/policy"
	"mycelium/internal/rawjson"
	"mycelium/internal/scan"
)

// scanner scans the definitions of one listing. It is made ready at the first definition: most listings have nothing new.
type scanner struct {
	book  *pinbook
	own   func() []string
	ready *scan.Scanner
}

func (s *scanner) scan(raw []byte) []scan.Finding {
	if s.ready == nil {
		s.ready = s.book.rules().Server(scan.Context{Own: s.own()})
	}
	return s.ready.Definition(raw)
}

// itemNames are the names of all items of a listing.
func itemNames(l listing) []string {
	var out []string
	for k := range kinds {
		for _, raw := range l[k] {
			if name, ok := rawjson.Text(rawjson.Member(raw, "name")); ok {
				out = append(out, name)
			}
		}
	}
	return out
}

// Reviewed is an item that may be used and in which the scan found something.
type Reviewed struct {
	Item     policy.Item
	Template bool
	Findings []scan.Finding
	Accepted bool // the operator accepted it, hard findings included
}

// Review scans everything that may be used, knowing the names of all servers. It is for people: it takes a while.
func (p *Pool) Review() []Reviewed {
	cat := p.Catalog()
	byServer := map[string][]string{}
	for _, d := range cat.Definitions {
		byServer[d.Item.Server] = append(byServer[d.Item.Server], d.Item.Name)
	}
	scanners := map[string]*scan.Scanner{}
	for server, own := range byServer {
		c := scan.Context{Own: own}
		if e := p.entry(server); e != nil && e.builtin == nil {
			e.mu.Lock()
			c.Own = append(itemNames(e.raw), own...)
			e.mu.Unlock()
		}
		for other, names := range byServer {
			if other != server {
				c.Others = append(c.Others, names...)
			}
		}
		scanners[server] = p.pins.rules().Server(c)
	}
	var out []Reviewed
	look := func(defs []policy.Definition, template bool) {
		for _, d := range defs {
			s, e := scanners[d.Item.Server], p.entry(d.Item.Server)
			if s == nil || e == nil || e.builtin != nil {
				continue
			}
			if found := s.Definition(d.Raw); len(found) > 0 {
				out = append(out, Reviewed{d.Item, template, found, scan.HasHard(found)})
			}
		}
	}
	look(cat.Definitions, false)
	look(cat.Templates, true)
	return out
}
