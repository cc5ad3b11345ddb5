package backend

import (
	"mycelium/internal/policy"
	"mycelium/internal/scan"
)

// Reviewed is an item that may be used although the scan has findings in it.
type Reviewed struct {
	Item     policy.Item
	Template bool
	Findings []scan.Finding
	Accepted bool // the operator accepted it, hard findings included
}

// Review scans all items that may be used, with the names of the items of all servers. It takes a while.
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
			c.Own = append(e.listing.ItemNames(), own...)
			e.mu.Unlock()
		}
		for other, names := range byServer {
			if other != server {
				c.Others = append(c.Others, names...)
			}
		}
		scanners[server] = p.pins.Rules().Server(c)
	}
	var out []Reviewed
	review := func(defs []policy.Definition, template bool) {
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
	review(cat.Definitions, false)
	review(cat.Templates, true)
	return out
}
