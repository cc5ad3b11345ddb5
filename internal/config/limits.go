package config

import (
	"fmt"
	"maps"
	"slices"
	"strconv"

	"mycelium/internal/config/source"
	"mycelium/internal/policy"
)

// checkLimits checks the roles and patterns in limits; the decoder has checked the figures.
func (l *layer) checkLimits(bad source.Report) {
	for _, role := range slices.Sorted(maps.Keys(l.doc.Limits)) {
		key := "limits." + source.Key(role)
		if role != policy.EveryRole && !roleID.MatchString(role) {
			bad(key, "limits names the role "+strconv.Quote(role), `use 1 to 64 of the characters A-Z a-z 0-9 . _ -, or "*" for every role`)
		}
		limit := l.doc.Limits[role]
		for _, part := range []struct {
			key   string
			tools map[string]policy.Rates
		}{{key + ".tools", limit.Tools}, {key + ".session.tools", limit.Session.Tools}} {
			for _, pattern := range slices.Sorted(maps.Keys(part.tools)) {
				if _, err := policy.ParsePattern(pattern); err != nil {
					bad(part.key+"."+source.Key(pattern), part.key+": "+err.Error(), "write server__tool, server__* or *")
					delete(part.tools, pattern) // report it once
				}
			}
		}
	}
}

// mergeLimits joins the limits. The smaller of two figures counts.
func (p *Project) mergeLimits(user, project *layer) {
	for _, l := range []*layer{user, project} {
		for _, role := range slices.Sorted(maps.Keys(l.doc.Limits)) {
			if p.File.Limits == nil {
				p.File.Limits = map[string]policy.Limit{}
			}
			key := "limits." + role
			mine, both := p.File.Limits[role]
			p.File.Limits[role] = mine.And(l.doc.Limits[role])
			if both {
				p.wider(l, key, mine, l.doc.Limits[role])
				p.Sources[key] += ", " + l.docFile
			} else {
				p.Sources[key] = l.docFile
			}
		}
	}
}

// wider warns of figures of the project that have no effect because the user's are smaller.
func (p *Project) wider(l *layer, key string, mine, theirs policy.Limit) {
	rates := func(key string, mine, theirs policy.Rates) {
		for _, f := range []struct {
			name         string
			mine, theirs policy.Count
		}{
			{"perMinute", mine.PerMinute, theirs.PerMinute}, {"perHour", mine.PerHour, theirs.PerHour},
			{"perDay", mine.PerDay, theirs.PerDay}, {"concurrent", mine.Concurrent, theirs.Concurrent},
		} {
			if f.mine != 0 && f.theirs > f.mine {
				p.ignored(l, l.docFile, l.docData, key+"."+f.name, fmt.Sprintf("the user's files say %d", f.mine))
			}
		}
	}
	tools := func(key string, mine, theirs map[string]policy.Rates) {
		for _, pattern := range slices.Sorted(maps.Keys(theirs)) {
			rates(key+"."+source.Key(pattern), mine[pattern], theirs[pattern])
		}
	}
	rates(key, mine.Rates, theirs.Rates)
	tools(key+".tools", mine.Tools, theirs.Tools)
	rates(key+".session", mine.Session.Rates, theirs.Session.Rates)
	tools(key+".session.tools", mine.Session.Tools, theirs.Session.Tools)
}
