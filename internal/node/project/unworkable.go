package project

import (
	"cmp"
	"maps"
	"slices"
	"strings"

	"mycelium/internal/approval"
	"mycelium/internal/backend"
	"mycelium/internal/config/source"
	"mycelium/internal/policy"
	"mycelium/internal/text"
)

// Unworkable lists what is configured and cannot work: a value that refers to a variable or a secret which is not there, or whose
// content has the wrong form. The values are those that this process sees; a daemon may see others. No message contains one.
// While a file does not load the list is empty: that problem comes first.
func (v *View) Unworkable() []policy.Problem { return v.unworkable(false) }

// UnworkableAnywhere is like [View.Unworkable] for a check of the files, which another machine will use. What only has no value here, or an
// empty one, is a warning.
func (v *View) UnworkableAnywhere() []policy.Problem { return v.unworkable(true) }

func (v *View) unworkable(anywhere bool) []policy.Problem {
	if v.Project.Broken.All != "" {
		return nil
	}
	u := &unworkable{view: v, anywhere: anywhere}
	conf := v.Project.File
	if t := conf.Approval.Telegram; t != nil {
		filled := approval.TelegramConfig{Users: []int64{1}, Server: t.Server} // what else is wrong was found when the file was read
		u.fill("approval.telegram", "token", t.Token, &filled.Token)
		u.fill("approval.telegram", "pin", t.PIN, &filled.PIN)
		if !u.found("approval.telegram.") {
			filled.Check(func(key, message, hint string) {
				u.add("approval.telegram."+key, message, hint, key == "token" && filled.Token == "")
			})
		}
	}
	n := conf.Approval.Notify
	for _, w := range []struct {
		name string
		of   *approval.WebhookConfig
	}{{"ntfy", n.Ntfy}, {"slack", n.Slack}} {
		if w.of == nil {
			continue
		}
		key, filled := "approval.notify."+w.name, *w.of
		u.fill(key, "url", w.of.URL, &filled.URL)
		u.fill(key, "token", w.of.Token, &filled.Token)
		if strings.Contains(w.of.URL, "${") && !u.found(key+".") && !approval.SafeURL(filled.URL) {
			u.add(key+".url", "it is not an address that secrets may be sent to", "use an https address, or http:// for this machine only",
				filled.URL == "")
		}
	}
	if j := conf.Approval.Judge; j != (approval.JudgeConfig{}) && !j.Off() {
		var key string
		u.fill("approval.judge", "key", cmp.Or(j.Key, approval.JudgeKey), &key)
		if key == "" && !u.found("approval.judge.") {
			u.add("approval.judge.key", "it is empty", unsetHint, true)
		}
	}
	var ignored string
	u.fill("telemetry", "token", conf.Telemetry.Token, &ignored)
	for _, name := range slices.Sorted(maps.Keys(conf.Telemetry.Headers)) {
		u.fill("telemetry.headers", name, conf.Telemetry.Headers[name], &ignored)
	}
	return u.problems
}

// unsetHint says how a value is given.
const unsetHint = "keep it among the secrets (docs/secrets.md), or set the variable where a person runs myc serve, or name it under env:"

// unworkable collects problems.
type unworkable struct {
	view     *View
	anywhere bool
	problems []policy.Problem
	keys     []string
}

// fill expands a value of the configuration into to.
func (u *unworkable) fill(section, name, value string, to *string) {
	out, err := u.view.Pool.Expand(value)
	if err != nil {
		u.add(section+"."+name, err.Error(), cmp.Or(text.HintOf(err), unsetHint), backend.Absent(err))
	}
	*to = out
}

// add adds a problem; absent says that only a value is not there.
func (u *unworkable) add(key, message, hint string, absent bool) {
	u.keys = append(u.keys, key)
	u.problems = append(u.problems, policy.Problem{
		File: source.MainFile, Message: key + " cannot work: " + message, Hint: hint, Warning: absent && u.anywhere,
	})
}

// found reports whether a key with this beginning has a problem.
func (u *unworkable) found(prefix string) bool {
	return slices.ContainsFunc(u.keys, func(k string) bool { return strings.HasPrefix(k, prefix) })
}
