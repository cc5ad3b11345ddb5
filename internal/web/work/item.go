package work

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"mycelium/internal/approval"
	"mycelium/internal/audit/index"
	"mycelium/internal/gate/session"
	"mycelium/internal/state"
	"mycelium/internal/text"
)

// item is an agent at work, or another session, as a page shows it.
type item struct {
	Name, Task, Page      string
	Agent, Role, Who      string
	Skills                string
	State, Class          string // in words, and the class of their mark
	Limit                 string // which limit is used up, and until when
	Last                  string // the tool that it called last
	Since, Seen, Ended    time.Time
	Turns, Calls, Denials int
	Rate                  int // calls within the last minute
	Cost                  float64
	Tokens                int64
	Children              []item

	rank int
}

// The ranks of states: what waits for a person stands first.
const (
	rankWaits = iota
	rankLimit
	rankWorks
	rankIdle
	rankEnded
)

// say sets the state.
func (i *item) say(rank int, state string) {
	i.rank, i.State = rank, state
	i.Class = [...]string{"waits", "limit", "works", "idle", "ended"}[rank]
}

// stateOf says in words what an agent does.
func (i *item) stateOf(s approval.SessionState) {
	switch s {
	case approval.Active:
		i.say(rankWorks, "works")
	case approval.Idle:
		i.say(rankIdle, "is idle")
	case approval.PermissionPending:
		i.say(rankWaits, "waits for a person")
	case approval.Halted:
		i.say(rankEnded, "was ended")
	case approval.Done:
		i.say(rankEnded, "has ended")
	case approval.Failed:
		i.say(rankEnded, "has ended with an error")
	default:
		i.say(rankIdle, text.OneLine(string(s)))
	}
}

// itemOf returns what a page shows of a session: of the agent, of the session that the gate has, or of both. A nil one is not there.
func itemOf(p state.Paths, a *approval.AgentSession, s *session.Summary, now time.Time) item {
	one := text.OneLine
	var i item
	id := ""
	i.say(rankEnded, "has ended")
	if s != nil {
		id = s.ID
		i.say(rankIdle, "is connected")
		i.Name, i.Role, i.Who, i.Since = one(cmp.Or(s.Name, s.ID)), one(s.Role), one(s.Principal), s.Created
		var skills []string
		for _, k := range s.Skills {
			skills = append(skills, one(k))
		}
		i.Skills = strings.Join(skills, ", ")
		if !s.Live {
			i.say(rankEnded, "has ended")
		}
	}
	if a != nil {
		id = cmp.Or(a.Session, id)
		i.Name, i.Task, i.Agent, i.Role = one(cmp.Or(a.Label, a.ID)), one(a.Task), one(a.Agent), one(cmp.Or(a.Role, i.Role))
		i.Last, i.Since, i.Seen, i.Ended = one(a.Last), a.Since, a.Seen, a.Ended
		i.Turns, i.Calls, i.Denials, i.Cost, i.Tokens = a.Turns, a.Calls, a.Denials, a.Cost, a.Tokens
		i.stateOf(a.State)
		if !a.Ended.IsZero() && i.rank != rankEnded {
			i.say(rankEnded, "has ended")
		}
	}
	if s != nil && i.rank != rankEnded {
		for _, l := range s.Limits {
			if l.Retry > 0 {
				i.Limit = one(l.Limit) + " of the " + one(l.Of) + ", until " +
					now.Add(time.Duration(l.Retry)*time.Millisecond).UTC().Format(time.TimeOnly) + " UTC"
			}
		}
		if i.Limit != "" && i.rank != rankWaits {
			i.say(rankLimit, "waits for a limit")
		}
	}
	if id != "" {
		i.Page = pageOf(p, id)
	}
	return i
}

// itemOf returns what a page shows of a session, with what it did lately and whether it waits.
func (w *work) itemOf(p state.Paths, a *approval.AgentSession, s *session.Summary, now time.Time) item {
	i := itemOf(p, a, s, now)
	id := ""
	switch {
	case s != nil:
		id = s.ID
	case a != nil:
		id = a.Session
	}
	did := w.Activity[id]
	i.Rate = did.Minute
	if a == nil {
		i.Calls, i.Denials, i.Last, i.Seen = did.Calls, did.Denied, text.OneLine(did.LastTool), did.LastTime
		if i.rank == rankIdle && did.Minute > 0 {
			i.say(rankWorks, "works")
		}
	}
	same := func(o approval.AgentSession) bool { return o.Agent == a.Agent && o.ID == a.ID }
	if a != nil && i.rank != rankEnded && !slices.ContainsFunc(w.Alive, same) {
		i.say(rankEnded, "is gone, and told of no end")
	}
	asks := slices.ContainsFunc(w.Waiting, func(r approval.Request) bool { return id != "" && r.Session == id && r.Kind != approval.Stop })
	if asks && i.rank != rankEnded {
		i.say(rankWaits, "waits for a person")
	}
	return i
}

// itemsOf returns what is at work in a project, what waits for a person first, and apart from it what has ended.
func itemsOf(p state.Paths, w work, now time.Time) (at, ended []item) {
	byID := map[string]*session.Summary{}
	for i := range w.Sessions {
		byID[w.Sessions[i].ID] = &w.Sessions[i]
	}
	all := map[string]*item{}
	var order []string
	put := func(key string, a *approval.AgentSession, s *session.Summary) {
		i := w.itemOf(p, a, s, now)
		all[key] = &i
		order = append(order, key)
	}
	for n := range w.Agents {
		a := &w.Agents[n]
		key := cmp.Or(a.Session, a.Agent+" "+a.ID)
		if all[key] == nil {
			put(key, a, byID[a.Session])
		}
	}
	for n := range w.Sessions {
		if s := &w.Sessions[n]; s.Live && all[s.ID] == nil {
			put(s.ID, nil, s)
		}
	}
	nest(all, order, byID)
	for _, key := range order {
		switch i := all[key]; {
		case i == nil:
		case i.rank == rankEnded:
			ended = append(ended, *i)
		default:
			at = append(at, *i)
		}
	}
	slices.SortStableFunc(at, func(a, b item) int { return cmp.Or(cmp.Compare(a.rank, b.rank), b.Since.Compare(a.Since)) })
	slices.SortStableFunc(ended, func(a, b item) int { return latest(b).Compare(latest(a)) })
	return at, ended
}

// nest puts sub-agents, which come after the sessions that started them, below those.
func nest(all map[string]*item, order []string, byID map[string]*session.Summary) {
	for _, key := range slices.Backward(order) {
		if s := byID[key]; s != nil && s.Above != "" && all[s.Above] != nil && s.Above != key {
			all[s.Above].Children = append(all[s.Above].Children, *all[key])
			all[key] = nil
		}
	}
}

// latest is the last sign of life of an item.
func latest(i item) time.Time {
	if i.Ended.After(i.Seen) {
		return i.Ended
	}
	return i.Seen
}

// folderGroup are the items of one folder.
type folderGroup struct {
	Dir   string
	Items []item
}

// activity is what sessions did lately, by their ids.
type activity = map[string]index.Activity
