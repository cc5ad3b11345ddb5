package index

import (
	"bytes"
	"cmp"
	"context"
	"database/sql"
	"slices"
	"strings"

	"github.com/go-json-experiment/json"

	"mycelium/internal/audit"
	"mycelium/internal/rawjson"
)

// Filter selects by what only the lines of the log have. In every value, * stands for any text.
type Filter struct {
	Agent   string   // the agent whose own tool it is, else the surface, as tables show it; or the id of the subagent
	Program string   // that some part of the call would run
	Host    string   // that some part of the call would reach
	Path    string   // that some part of the call names: the whole absolute path, or its end from a slash on
	Args    []string // NAME=VALUE: an argument with this text, or with this JSON if it is not a text
}

func (f *Filter) empty() bool {
	return f.Agent == "" && f.Program == "" && f.Host == "" && f.Path == "" && len(f.Args) == 0
}

// matches reports whether a call has everything that is asked for. facts is the raw JSON of its facts.
func (f *Filter) matches(e *Entry, facts []byte) bool {
	_, child, _ := strings.Cut(e.Principal, "/")
	if f.Agent != "" && !Matches(f.Agent, cmp.Or(e.Agent, e.Surface)) && (child == "" || !Matches(f.Agent, child)) {
		return false
	}
	for _, arg := range f.Args {
		name, want, _ := strings.Cut(arg, "=")
		raw := rawjson.Member(e.Args, name)
		value, isText := rawjson.Text(raw)
		if !isText {
			value = string(raw)
		}
		if raw == nil || !Matches(want, value) {
			return false
		}
	}
	if f.Program == "" && f.Host == "" && f.Path == "" {
		return true
	}
	if !mayName(facts, f.Path) {
		return false
	}
	programs, hosts, paths := factsOf(facts)
	some := func(pattern string, of []string) bool {
		return pattern == "" || slices.ContainsFunc(of, func(s string) bool { return Matches(pattern, s) })
	}
	return some(f.Program, programs) && some(f.Host, hosts) && (some(f.Path, paths) || some("*/"+f.Path, paths))
}

// mayName reports whether JSON may have a text that a pattern means: false is certain. It looks for the longest part between two stars, and
// only if JSON writes that part in one way. That is several times as fast as to decode the facts of each call.
func mayName(raw []byte, pattern string) bool {
	longest := ""
	for part := range strings.SplitSeq(pattern, "*") {
		if len(part) > len(longest) {
			longest = part
		}
	}
	plain := !strings.ContainsFunc(longest, func(r rune) bool { return r <= ' ' || r > '~' || strings.ContainsRune("\"\\<>&", r) })
	return !plain || bytes.Contains(raw, []byte(longest))
}

// factsOf returns which programs, hosts and paths the facts of a call name.
func factsOf(facts []byte) (programs, hosts, paths []string) {
	var of struct {
		Parts []struct {
			Program string   `json:"program"`
			Hosts   []string `json:"hosts"`
			Paths   []struct {
				Raw      string `json:"raw"`
				Clean    string `json:"clean"`
				Resolved string `json:"resolved"`
			} `json:"paths"`
		} `json:"parts"`
	}
	if len(facts) == 0 || json.Unmarshal(facts, &of) != nil {
		return nil, nil, nil
	}
	for _, p := range of.Parts {
		programs, hosts = append(programs, p.Program), append(hosts, p.Hosts...)
		for _, path := range p.Paths {
			paths = append(paths, path.Raw, path.Clean, path.Resolved)
		}
	}
	return programs, hosts, paths
}

// reachOf returns the programs and hosts that the facts of a call name.
func reachOf(l *audit.Line) reach {
	var programs, hosts []string
	switch {
	case l.Facts != nil:
		for _, p := range l.Facts.Parts {
			programs, hosts = append(programs, p.Program), append(hosts, p.Hosts...)
		}
	case bytes.Contains(l.RawFacts, []byte(`"program"`)), bytes.Contains(l.RawFacts, []byte(`"hosts"`)): // few calls of tools
		programs, hosts, _ = factsOf(l.RawFacts)
	}
	return reach{lines(programs), lines(hosts)}
}

// lines joins names so that each stands between line feeds, which no pattern of a name has.
func lines(names []string) string {
	slices.Sort(names)
	names = slices.DeleteFunc(slices.Compact(names), func(s string) bool { return s == "" })
	if len(names) == 0 {
		return ""
	}
	return "\n" + strings.Join(names, "\n") + "\n"
}

// prefilter adds to a query what the index knows of its filter. Some of the calls that pass do not match: their lines decide. The sign +
// keeps SQLite from sorting all calls that pass: it reads the newest calls first, and stops at the limit.
func (f *Filter) prefilter(add func(part string, values ...any)) {
	if f.Agent != "" {
		glob := globOf(f.Agent)
		add(`+c.scope IN (SELECT scope FROM audit_scopes WHERE CASE agent WHEN '' THEN surface ELSE agent END GLOB ?
			OR principal GLOB ?)`, glob, "*/"+glob)
	}
	for _, c := range [][2]string{{"programs", f.Program}, {"hosts", f.Host}} {
		if c[1] != "" {
			add("+c.reach IN (SELECT reach FROM audit_reaches WHERE "+c[0]+" GLOB ?)", "*\n"+globOf(c[1])+"\n*")
		}
	}
}

// Matches reports whether a text is what a pattern says, in which * stands for any text.
func Matches(pattern, s string) bool {
	parts := strings.Split(pattern, "*")
	if len(parts) == 1 {
		return pattern == s
	}
	s, ok := strings.CutPrefix(s, parts[0])
	if !ok {
		return false
	}
	last := len(parts) - 1
	for _, part := range parts[1:last] {
		i := strings.Index(s, part)
		if i < 0 {
			return false
		}
		s = s[i+len(part):]
	}
	return strings.HasSuffix(s, parts[last])
}

// globOf returns a pattern in which only * has a meaning as SQLite's GLOB.
func globOf(pattern string) string {
	return strings.NewReplacer("[", "[[]", "?", "[?]").Replace(pattern)
}

// window counts entries: take says whether one is wanted, more whether another could be. The database counts itself unless the filter
// decides.
func (q Query) window() func() (take, more bool) {
	if q.empty() {
		return func() (take, more bool) { return true, true }
	}
	skip, left := max(0, q.Offset), cmp.Or(q.Limit, defaultLimit)
	return func() (take, more bool) {
		if skip > 0 {
			skip--
			return false, true
		}
		left--
		return true, left != 0
	}
}

// Names returns the names of tools and roles that calls have.
func (x *Index) Names(ctx context.Context) (tools, roles []string, err error) {
	err = x.read(ctx, func(tx *sql.Tx, _ bool) error {
		rows, err := tx.QueryContext(ctx, `SELECT DISTINCT tool, role FROM audit_scopes`)
		if err != nil {
			return err
		}
		defer rows.Close()
		for rows.Next() {
			var tool, role string
			if err := rows.Scan(&tool, &role); err != nil {
				return err
			}
			tools, roles = append(tools, tool), append(roles, role)
		}
		return rows.Err()
	})
	return tools, roles, wrap("read the names in the audit index", err)
}
