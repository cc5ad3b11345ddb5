// Package restart says of each key of mycelium.yaml whether a running daemon takes up a change of it, once it is accepted, or has to be
// restarted.
package restart

import (
	"reflect"
	"slices"
	"strings"

	"mycelium/internal/config"
)

// Need is what a change of a key needs before it is in force.
type Need bool

// The needs.
const (
	Reload  Need = false // it is in force as soon as it is accepted
	Restart Need = true  // it waits until the daemon is started again
)

// section has the keys below one path. NAME stands for a name that people choose.
type section struct {
	at      string
	reload  string // keys, separated by white space
	restart string
}

// rates are the figures of one limit.
const rates = "perMinute perHour perDay concurrent"

// sections has every key: a test fails for one that is missing, and for one that nothing shows to be in force after a reload.
var sections = []section{
	// args of a built-in server wait as well: see project.View.Waits
	{at: "mcpServers.NAME", reload: "type command args data env cwd url headers builtin timeout startTimeout stopTimeout askTimeout ping " +
		"legacy trust category disabled concurrency queue additions sandbox bare"},
	{at: "mcpServers.NAME.oauth", reload: "grant clientId clientSecret privateKey keyId issuer scopes redirect hosts"},
	{at: "session", reload: "defaultRole agentRole roles defaultSkills promotion requireApproval toolSearch"},
	{at: "policy", reload: "strict fallback.mcp fallback.agent rules wall"},
	{at: "limits.NAME", reload: rates},
	{at: "limits.NAME.tools.NAME", reload: rates},
	{at: "limits.NAME.session", reload: rates},
	{at: "limits.NAME.session.tools.NAME", reload: rates},
	{at: "audit", reload: "redact sync", restart: "dir"},
	{at: "server", reload: "anonymous", restart: "addr maxBody idle hosts"},
	{at: "server.oauth", restart: "resource issuers jwks audience scopes algorithms claims.principal claims.role claims.may roles skew"},
	{at: "secrets", reload: "file identity keyring"},
	{at: "telemetry", restart: "endpoint headers sample token"},
	{at: "log", restart: "format level"},
	{at: "approval", reload: "deadline mode idle askVia ask_via"},
	{at: "approval.judge", reload: "model confidence mayDeny key baseURL timeout enabled"},
	{at: "approval.telegram", reload: "token users chat pin notices server"},
	{at: "approval.notify", reload: "ntfy.url ntfy.token slack.url slack.token desktop bell"},
	{at: "spawn", reload: "searchPaths command"},
	{at: "agents", reload: "budget.session budget.total budget.warn turns denials.alert denials.end"},
	{at: "sandbox", reload: "backend"},
	{at: "sandbox.profiles.NAME", reload: "base network processes files memory timeout read write hosts masks registries packages"},
	{at: "sandbox.registries.NAME", reload: "like hosts"},
	{at: "identity", reload: "rejectUnknown defaultRole strictValidation trustedPrefixes keys"},
	{at: "memory", restart: "dir"},
	{at: "web", reload: "addr cert key trustedProxies hosts push"}, // the page server takes them up
	{reload: "env trust", restart: "store state"},
}

// Keys returns what each key needs.
func Keys() map[string]Need {
	all := map[string]Need{}
	for _, s := range sections {
		for need, keys := range map[Need]string{Reload: s.reload, Restart: s.restart} {
			for key := range strings.FieldsSeq(keys) {
				all[strings.TrimPrefix(s.at+"."+key, ".")] = need
			}
		}
	}
	return all
}

// Waits returns the keys that need a restart and differ between the file with which a daemon was started and that which is in force,
// sorted.
func Waits(started, now config.File) (keys []string) {
	for key, need := range Keys() {
		if need != Restart {
			continue
		}
		was, is := valueOf(reflect.ValueOf(started), key), valueOf(reflect.ValueOf(now), key)
		if !reflect.DeepEqual(was, is) {
			keys = append(keys, key)
		}
	}
	slices.Sort(keys)
	return keys
}

// valueOf returns the value of a key. In a section that is absent each key has its zero value. It returns nil if there is no such key.
func valueOf(at reflect.Value, key string) any {
	for name := range strings.SplitSeq(key, ".") {
		switch {
		case at.Kind() == reflect.Pointer && at.IsNil():
			at = reflect.Zero(at.Type().Elem())
		case at.Kind() == reflect.Pointer:
			at = at.Elem()
		}
		if at.Kind() != reflect.Struct {
			return nil
		}
		field, ok := at.Type().FieldByNameFunc(func(goName string) bool {
			f, _ := at.Type().FieldByName(goName)
			tag, _, _ := strings.Cut(f.Tag.Get("yaml"), ",")
			return tag == name
		})
		if !ok {
			return nil
		}
		at = at.FieldByIndex(field.Index)
	}
	return at.Interface()
}

// How says how a daemon is started again. One that serves HTTP was started by a person, any other by a client.
func How(serves bool) string {
	if !serves {
		return "myc stop; the next client starts it again"
	}
	return "myc stop, and then start it again as before: myc serve --background"
}
