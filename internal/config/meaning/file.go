package meaning

import (
	"cmp"
	"fmt"
	"reflect"
	"slices"
	"strings"

	"mycelium/internal/lazy"
	"mycelium/internal/policy"
	"mycelium/internal/sandbox"
	"mycelium/internal/sandbox/jail"
)

// wordSkills finds the variable skills in a condition.
var wordSkills = lazy.Regexp(`\bskills\b`)

// file compares the merged mycelium.yaml, key by key. A key without a rule of its own is unclear, so that none can be forgotten.
func (d *diff) file() { d.walk("", reflect.ValueOf(d.old.File), reflect.ValueOf(d.new.File)) }

func (d *diff) walk(key string, was, is reflect.Value) {
	a, b := was.Interface(), is.Interface()
	if reflect.DeepEqual(a, b) {
		return
	}
	if was.Kind() == reflect.Pointer && was.Type().Elem().Kind() == reflect.Struct && !was.IsNil() && !is.IsNil() {
		was, is = was.Elem(), is.Elem()
	}
	rule, known := keyRules[key]
	switch {
	case was.Kind() == reflect.Struct:
		for i := range was.NumField() {
			d.walk(strings.TrimPrefix(key+"."+keyOf(was.Type().Field(i)), "."), was.Field(i), is.Field(i))
		}
	case known && rule != nil:
		if text, m := rule(d, a, b); text != "" {
			d.add(m, d.at(key), text)
		}
	case known: // compared elsewhere
	default:
		d.add(Unclear, d.at(key), key, " changed")
	}
}

// keyOf is the key of a field in a file.
func keyOf(f reflect.StructField) string {
	name, _, _ := strings.Cut(f.Tag.Get("yaml"), ",")
	if name == "" || name == "-" {
		name = strings.ToLower(f.Name)
	}
	return name
}

// keyRule says what the change of one key means. An empty text is no change.
type keyRule func(d *diff, was, is any) (string, Mark)

// keyRules are the keys of mycelium.yaml whose meaning is known. Those without a function are compared elsewhere.
var keyRules = map[string]keyRule{
	"mcpServers":   nil, // servers
	"limits":       nil, // roles
	"policy.rules": nil, // rules

	"trust":                 ordered("what is in force without a question", "content", "narrowing", "folder"),
	"state":                 stateFolder,
	"session.defaultRole":   defaultRole,
	"session.agentRole":     agentRole,
	"session.roles":         listed("an agent may also take the role %s", "an agent may no longer take the role %s", Narrows),
	"session.defaultSkills": defaultSkills,
	"session.promotion":     ordered("how an agent gets further skills", "manual", "confirm", "auto"),
	"session.toolSearch":    word("which tools a list leaves out (toolSearch)"),
	"policy.strict":         flag("wildcards and inherits are allowed again", "wildcards and inherits are refused", Narrows),
	"policy.fallback.mcp":   ordered("the answer to a tool's call that no rule decides", "deny", "ask", "allow"),
	"policy.fallback.agent": ordered("the answer to a call of an agent's own tool that no rule decides", "deny", "ask", "allow"),
	"policy.wall":           wall,

	"audit.redact":       redact,
	"audit.sync":         ordered("how soon a record is safe on the disk", "call", "interval"),
	"server.anonymous":   optional("callers of this machine without a token act as role %s"),
	"server.maxBody":     figure(false, "a message may have %v bytes"),
	"server.hosts":       listed("clients may reach this server as %s", "clients may no longer reach this server as %s", Narrows),
	"server.oauth":       present("access tokens of other issuers are accepted"),
	"telemetry.endpoint": optional("traces are sent to %s"),
	"env":                listed("servers may use the variable %s of whoever starts us", "servers may no longer use the variable %s", Unclear),

	"approval.deadline":         deadline,
	"approval.judge.enabled":    judgeEnabled,
	"approval.judge.confidence": judgeConfidence,
	"approval.judge.mayDeny":    flag("the judge may no longer deny", "the judge may now deny", Narrows),
	"approval.telegram":         present("people may answer by Telegram"),
	"approval.telegram.users":   people,
	"approval.notify.ntfy":      present("questions are announced by ntfy"),
	"approval.notify.slack":     present("questions are announced in Slack"),
	"spawn.searchPaths":         listed("a chat may start agents below %s", "a chat may no longer start agents below %s", Narrows),
	"agents.budget.session":     figure(true, "the models of a session may cost %v dollars"),
	"agents.turns":              figure(true, "the answers of the model in a session may be %v"),
	"agents.budget.total":       figure(true, "the models of all sessions of a day may cost %v dollars"),
	"agents.denials.end":        denials("a session ends after %d refusals in a row"),
	"agents.denials.alert":      denials("people are told after %d refusals in a row"),
	"sandbox.profiles":          boxes,
	"sandbox.registries":        sources,
	"sandbox.backend":           walls,
	"web.addr":                  optional("the pages are served at %s"),
	"web.cert":                  optional("the pages are served over TLS, with the certificate %s"),
	"web.key":                   optional("the key of the certificate of the pages is %s"),
	"web.trustedProxies":        listed("a proxy at %s may bring requests to the pages", "no proxy at %s brings any", Narrows),
	"web.hosts":                 listed("browsers may reach the pages as %s", "browsers may no longer reach the pages as %s", Narrows),
	"web.push":                  pushed,
	"memory.dir":                optional("the memories of the roles are in the project, in %s, where whoever has the repository reads them"),
}

// stateFolder is the rule of the folder of the state. It takes effect when it is written.
func stateFolder(_ *diff, was, is any) (string, Mark) {
	const usual = "its usual place"
	return fmt.Sprintf("the state of all projects lies in %s instead of %s", cmp.Or(is.(string), usual), cmp.Or(was.(string), usual)), Unclear
}

// walls is the rule of who makes the root of a command in the sandbox. The layers are the same in all of them, except in one that has none of
// them and was not tried. Another program is for a person to read about; ours is what stands without any.
func walls(_ *diff, was, is any) (string, Mark) {
	a, b := cmp.Or(was.(jail.Backend), jail.Own), cmp.Or(is.(jail.Backend), jail.Own)
	if a == b {
		return "", Narrows
	}
	layers := "with the same layers"
	if a == jail.Seatbelt || b == jail.Seatbelt {
		layers = "with other layers"
	}
	if why := sandbox.Untried(b); why != "" {
		layers += "; " + why
	}
	return fmt.Sprintf("%s makes the walls of commands in the sandbox instead of %s, %s", b, a, layers), mark(b == jail.Own, Unclear)
}

// wall is the rule of the profile in which commands run by default. With a wall, commands that no rule decides run in it without a question;
// without it, those that a rule allows run with the person's rights.
func wall(d *diff, was, is any) (string, Mark) {
	a, b := was.(string), is.(string)
	const all = "the rules of the program count behind those of the project"
	switch noA, noB := a == "" || a == policy.NoWall, b == "" || b == policy.NoWall; {
	case noA && noB && a == "":
		return all, Widens
	case noA && noB:
		return "the rules of the program no longer count behind those of the project", Unclear
	case noA:
		return "commands of coding agents run in the sandbox " + b + ", and there without a question where no rule decides; " + all, Widens
	case noB:
		return "commands of coding agents no longer run in the sandbox: those that a rule allows have the rights of whoever started the agent", Widens
	}
	profile, ok := d.new.File.Sandbox.Boxes().Narrower(a, b)
	return "commands of coding agents run in the sandbox " + b + " instead of " + a, mark(ok && profile == b, Widens)
}

// ordered is the rule of a word, from the strictest to the widest.
func ordered(what string, words ...string) keyRule {
	return func(_ *diff, was, is any) (string, Mark) {
		a, b := slices.Index(words, was.(string)), slices.Index(words, is.(string))
		m := Unclear
		if a >= 0 && b >= 0 {
			m = mark(b <= a, Widens)
		}
		return fmt.Sprintf("%s is now %s instead of %s", what, quoted(is.(string)), quoted(was.(string))), m
	}
}

// word is the rule of a word that neither widens nor narrows.
func word(what string) keyRule {
	return func(_ *diff, was, is any) (string, Mark) {
		return fmt.Sprintf("%s is now %s instead of %s", what, quoted(is.(string)), quoted(was.(string))), Unclear
	}
}

// listed is the rule of a list: more is wider. less is the mark of a list that lost something.
func listed(more, fewer string, less Mark) keyRule {
	return func(_ *diff, was, is any) (string, Mark) {
		a, b := was.([]string), is.([]string)
		var texts []string
		m := Narrows
		if g := gained(a, b); g != nil {
			texts, m = append(texts, fmt.Sprintf(more, list(g))), Widens
		}
		if l := gained(b, a); l != nil {
			texts, m = append(texts, fmt.Sprintf(fewer, list(l))), worse(m, less)
		}
		return strings.Join(texts, "; "), m
	}
}

// flag is the rule of a switch; on is the mark of switching it on.
func flag(off, on string, m Mark) keyRule {
	return func(_ *diff, _, is any) (string, Mark) {
		if is.(bool) {
			return on, m
		}
		return off, Widens
	}
}

// optional is the rule of a text that opens something if it is there.
func optional(text string) keyRule {
	return func(_ *diff, was, is any) (string, Mark) {
		switch a, b := was.(string), is.(string); {
		case a == "":
			return fmt.Sprintf(text, b), Widens
		case b == "":
			return "no longer so: " + fmt.Sprintf(text, a), Narrows
		default:
			return fmt.Sprintf(text, b) + ", and no longer " + a, Unclear
		}
	}
}

// present is the rule of a section that opens something if it is there.
func present(text string) keyRule {
	return func(d *diff, was, _ any) (string, Mark) {
		if reflect.ValueOf(was).IsNil() {
			return text, Widens
		}
		// Without issuers, an anonymous caller is no longer told from one with a token.
		return "no longer so: " + text, mark(d.old.File.Server.Anonymous == "" && d.new.File.Server.Anonymous == "", Unclear)
	}
}
