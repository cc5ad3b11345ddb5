package config

import (
	"fmt"
	"net"
	"slices"
	"strconv"

	"mycelium/internal/config/rules"
	"mycelium/internal/config/servers"
	"mycelium/internal/config/source"
	"mycelium/internal/policy"
	"mycelium/internal/policy/deferral"
	"mycelium/internal/state"
)

// checkDocument checks the values of mycelium.yaml. A wrong value breaks the file, because it is unknown what it would have restricted.
func (l *layer) checkDocument() {
	file, data := l.docFile, l.docData
	bad := func(key, message, hint string) {
		l.problems = append(l.problems, source.Fault(file, source.Line(data, key), message, hint))
		l.breakAll(file)
	}
	l.checkSession(file, data)
	if s := l.doc.Policy; s != nil {
		for key, v := range map[string]string{"mcp": s.Fallback.MCP, "agent": s.Fallback.Agent} {
			if v != "" && !slices.Contains(rules.Effects, v) {
				bad("policy.fallback."+key, "policy.fallback."+key+" is "+strconv.Quote(v), source.Suggest(v, rules.Effects))
			}
		}
	}
	l.checkLimits(bad)
	if s := l.doc.Audit; s != nil && s.Sync != "" && s.Sync != "interval" && s.Sync != "call" {
		bad("audit.sync", "audit.sync is "+strconv.Quote(s.Sync), source.Suggest(s.Sync, []string{"interval", "call"}))
	}
	source.CheckStore(l.doc.Store, DefaultStore, bad)
	if l.doc.Server != nil {
		l.checkServer(bad)
	}
	if a := l.doc.Approval; a != nil {
		a.Check(bad)
	}
	check(l.doc.Spawn, bad)
	check(l.doc.Agents, bad)
	check(l.doc.Identity, bad)
	check(l.doc.Sandbox, bad)
	check(l.doc.Memory, bad)
	check(l.doc.Telemetry, bad)
	check(l.doc.Log, bad)
	check(l.doc.Web, bad)
	if t := []string{trustContent, TrustNarrowing, TrustFolder}; l.doc.Trust != "" && !slices.Contains(t, l.doc.Trust) {
		bad("trust", "trust is "+strconv.Quote(l.doc.Trust), source.Suggest(l.doc.Trust, t))
	}
	l.checkOwn(bad)
	for i, name := range l.doc.Env {
		if !servers.EnvName.MatchString(name) {
			bad(fmt.Sprintf("env[%d]", i), "env names the variable "+strconv.Quote(name),
				"write names only, such as GITHUB_TOKEN; values stay in the environment")
		}
	}
}

// check checks a section that a file may have.
func check[T any, S interface {
	*T
	Check(bad source.Report)
}](s S, bad source.Report) {
	if s != nil {
		s.Check(bad)
	}
}

// checkOwn checks the keys of the user's own file. Other programs of ours read state: from the text of the file.
func (l *layer) checkOwn(bad source.Report) {
	for key, set := range map[string]bool{"trust": l.doc.Trust != "", "state": l.doc.State != "", "web": l.doc.Web != nil,
		"sandbox.backend": value(l.doc.Sandbox).Backend != ""} {
		if set && l.origin == ofProject {
			bad(key, key+" is not read from a project", "write it into "+source.MainFile+" of your own folder, ~/.config/mycelium")
		}
	}
	if l.origin == ofUser && l.doc.State != state.Configured(l.docData) { // whether it is absolute, is looked at where it is used
		bad("state", "state is not on a line of its own", "write it at the beginning of a line: state: /path, or state: ~/path")
	}
}

// checkServer checks the server section.
func (l *layer) checkServer(bad source.Report) {
	s := l.doc.Server
	if s.MaxBody < 0 || s.MaxBody > 1<<30 {
		bad("server.maxBody", fmt.Sprintf("server.maxBody is %d", s.MaxBody),
			"write a number of bytes from 1 to 1073741824, or leave it out for 4 MiB")
	}
	if host, port, err := net.SplitHostPort(s.Addr); s.Addr != "" && (err != nil || port == "") {
		bad("server.addr", "server.addr is "+strconv.Quote(s.Addr), "write host:port, such as "+DefaultAddr)
	} else if s.Addr != "" && !servers.IsLoopback(host) {
		l.problems = append(l.problems, source.Warning(l.docFile, source.Line(l.docData, "server.addr"),
			"server.addr "+s.Addr+" can be reached from other machines", "use 127.0.0.1 unless that is meant"))
	}
	checkHosts(s.Hosts, bad)
	if s.OAuth != nil {
		s.OAuth.check(bad)
	}
	if s.Anonymous != "" && (s.OAuth != nil || len(s.Hosts) > 0) {
		l.problems = append(l.problems, source.Warning(l.docFile, source.Line(l.docData, "server.anonymous"),
			"server.anonymous and a public name: behind a proxy that does not say so, everybody is anonymous",
			"leave server.anonymous out where others can reach this machine"))
	}
}

// checkSession checks the session section of a file.
func (l *layer) checkSession(file string, data []byte) {
	s := l.doc.Session
	if s == nil {
		return
	}
	bad := func(key, message, hint string) {
		l.problems = append(l.problems, source.Fault(file, source.Line(data, key), message, hint))
		l.breakAll(file)
	}
	if s.Promotion != "" && !slices.Contains(policy.Promotions(), s.Promotion) {
		bad("session.promotion", "session.promotion is "+strconv.Quote(s.Promotion), source.Suggest(s.Promotion, policy.Promotions()))
	}
	if !deferral.IsValue(s.ToolSearch) {
		bad("session.toolSearch", "session.toolSearch is "+strconv.Quote(s.ToolSearch), deferral.Hint)
	}
	for key, role := range map[string]string{"session.defaultRole": s.DefaultRole, "session.agentRole": s.AgentRole} {
		if role != "" && !roleID.MatchString(role) {
			bad(key, key+" is "+strconv.Quote(role), "use 1 to 64 of the characters A-Z a-z 0-9 . _ -")
		}
	}
	for i, r := range s.Roles {
		if !roleID.MatchString(r) {
			bad(fmt.Sprintf("session.roles[%d]", i), "session.roles names "+strconv.Quote(r), "name each role; wildcards are not read here")
		}
	}
	if s.RequireApproval != nil && *s.RequireApproval {
		if s.Promotion == "auto" {
			l.problems = append(l.problems, source.Warning(file, source.Line(data, "session.promotion"),
				"promotion: auto and requireApproval: true contradict each other; confirm is taken", "keep promotion only"))
		}
		if s.Promotion != "manual" {
			s.Promotion = "confirm"
		}
	}
}
