package policy

import (
	"errors"
	"net/netip"
	"slices"
	"strings"

	"mycelium/internal/policy/box"
)

// A command of an agent runs inside of the wall or outside of it.
//
// With a wall ([Source.Wall]), every command of an agent runs in the sandbox of that profile unless the rule that decides it says
// `place: outside`. Inside, a command that no rule decides is allowed: the sandbox is made of the same policy, so a wrong reading of the
// command costs nothing. A command that names hosts asks, and has those hosts once a person has allowed it.
//
// A command runs outside as a whole or not at all. If a rule has a part run outside and another part does more than read files that a rule
// allows, the whole command runs inside: a request to a server that the same command started finds it there. If the first part can do its
// work outside only, the command is refused, and the agent can make two calls. So nothing that an agent could have written runs outside. And
// a command that runs there without a question is written in plain words, so that a wrong reading of it is not to be expected.
//
// Where no sandbox can hold the command ([Walls]), there is no wall for it, and the rules decide alone.

// Walls is what the gate found out about the sandbox of a call. The zero value says that a sandbox can hold it.
type Walls struct {
	No    string `json:"no,omitempty"`    // why no sandbox can hold the call
	Asked string `json:"asked,omitempty"` // why none can if a person is asked about the call

	// Lacked is what the command lacked when it last ran in the sandbox of Profile, for people; it asks for that now. Empty: nothing.
	Lacked  string `json:"lacked,omitempty"`
	Profile string `json:"profile,omitempty"`
}

// NoWall is the value of policy.wall with which the rules decide alone, with those of the program.
const NoWall = "none"

// The values of [Rule.Place].
const (
	PlaceOutside = "outside" // calls that the rule decides run outside of the wall
	PlaceNoWall  = "no-wall" // the rule decides only where there is no wall for a call
)

// place compiles the key place.
func (r *rule) place() error {
	switch p := r.src.Place; {
	case p == "":
		return nil
	case p != PlaceOutside && p != PlaceNoWall:
		return errors.New("place: write outside or no-wall, or leave the key out: inside of the wall is the default")
	case r.effect == Deny:
		return errors.New("place: a call that is denied runs nowhere; write it in a rule that allows or asks")
	case !r.src.Sandbox.None() || r.src.Sandbox.Grants():
		return errors.New("place: " + p + ", and sandbox: " + r.src.Sandbox.String() + " contradict each other; write one of them")
	case p == PlaceNoWall:
		r.fence = true
		return nil
	}
	r.outside = "rule " + r.name
	return nil
}

// Boxes reports whether calls of a scope may have to run in a sandbox, so that [Facts.Walls] has a meaning.
func (p *Policy) Boxes(s *Scope) bool { return p.boxed || s.Profile != "" || s.Only != "" }

// placing finds the place of a call, part by part and principal by principal.
type placing struct {
	p       *Policy
	walls   Walls   // of the call
	only    string  // of its scope
	profile string  // likewise
	bash    bool    // it is a command for the shell of an agent: of other tools it is not known how the agent runs their commands
	text    string  // of the command
	wall    box.Box // where it runs by default; the zero value: outside

	joined box.Joined
	outer  string // why the call runs outside, as the principals before decided; "": it does not
	some   bool   // a principal has been decided

	// Of the principal whose parts are being added.
	out    string // why a part runs outside; "": none does
	must   string // why a part can do its work outside only; "": each could do it inside
	rule   string // that says so of the part
	inside string // a part that runs inside only, in words; "": none

	conflict Decision // that makes the call a refusal; none if it has no reason
}

// placing begins the search for the place of a call.
func (p *Policy) placing(c *Call) placing {
	at := placing{p: p, walls: c.Facts.Walls, only: c.Scope.Only, profile: c.Scope.Profile, bash: c.Item == Bash}
	at.text, _ = c.Args[commandArg].(string)
	switch {
	case at.walls.No != "":
	case at.profile != "":
		at.wall = box.Of(at.profile)
	case at.bash:
		at.wall = p.wall
	}
	return at
}

// byWall answers for a part of a command that no rule decides, where the policy has a wall. A part that needs the person's keys or a service of
// the machine asks, and runs outside; one that names hosts asks for them; every other one is allowed inside. Where the fallback for agents'
// own tools is to deny, byWall answers nothing.
func (at *placing) byWall(d *Decision, part *Part) bool {
	if at.wall.None() || at.p.wall.None() || at.p.agent == Deny {
		return false
	}
	if needsOutside(part) {
		did, matters := part.would()
		*d = Decision{Effect: Ask, Outside: "it needs keys or services that are not in the sandbox", Reason: "It would " + did + ". " + matters +
			". It needs your keys or a service of this machine, so it would run outside of the sandbox, and no rule allows that"}
		return true
	}
	if hosts := namedHosts(part); len(hosts) > 0 {
		*d = Decision{Effect: Ask, Reason: "it reaches " + strings.Join(hosts, ", ") +
			", and no rule opens that to commands; once you allow it, it runs in the sandbox and reaches nothing else"}
		return true
	}
	*d = Decision{Effect: Allow, Reason: "it runs in the sandbox, which opens nothing that the policy keeps closed"}
	return true
}

// keyed are the effects of a part that needs the person's keys or a service of the machine, services the programs that need them whatever
// they do, and remotes those that need them where they use the network. git does where it asks a remote by the name in its configuration.
var (
	keyed    = []string{EffectPush, EffectForcePush, EffectPublish, EffectContainer, EffectCloud, EffectDatabase}
	services = []string{"ssh", "scp", "sftp", "docker", "podman", "kubectl", "gh", "glab", "aws", "gcloud", "az"}
	remotes  = []string{"rsync", "helm", "terraform", "tofu"}
)

// needsOutside reports whether a part can do its work outside only: what it reaches is not in the sandbox, nor a host that could be opened.
func needsOutside(part *Part) bool {
	if slices.Contains(services, part.Program) || slices.ContainsFunc(part.Effects, func(e string) bool { return slices.Contains(keyed, e) }) {
		return true
	}
	return slices.Contains(part.Effects, EffectNetwork) &&
		(slices.Contains(remotes, part.Program) || part.Program == "git" && len(namedHosts(part)) == 0)
}

// namedHosts are the hosts of the internet that a part names, sorted.
func namedHosts(part *Part) []string {
	var out []string
	for _, h := range part.Hosts {
		if ip, err := netip.ParseAddr(h); isHostName(h) && (err != nil || !ip.IsLoopback()) {
			out = append(out, strings.ToLower(h))
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// isHostName reports whether a text is the plain name of a host, with no pattern and no port.
func isHostName(h string) bool {
	return len(h) <= 253 && strings.Contains(h, ".") && strings.Trim(h, ".-") == h && !strings.Contains(h, "..") &&
		strings.IndexFunc(h, func(r rune) bool {
			return r != '.' && r != '-' && (r < '0' || r > '9') && (r < 'a' || r > 'z') && (r < 'A' || r > 'Z')
		}) < 0
}

// add adds a part as it was decided.
func (at *placing) add(d *Decision, part *Part) {
	b := d.Sandbox
	switch {
	case !b.None():
		at.inside = orElse(at.inside, d.within(part, "rule "+d.Rule+" has it run in the sandbox "+b.Profile))
	case at.wall.None():
		return
	case d.Outside != "" && at.profile == "":
		at.out = orElse(at.out, d.Outside)
		if at.must == "" && (d.Effect == Ask || needsOutside(part)) {
			at.must, at.rule = d.Outside, d.Rule
		}
		b = at.open(at.wall, part) // it runs there if another part has to
	default:
		b = at.wall.With(b)
		if d.Rule != "" || d.Effect == Ask { // a rule or a person opens what the command names
			b = at.open(b, part)
		}
		if !d.quiet(part) {
			at.inside = orElse(at.inside, d.within(part, "no rule allows it, or it does more than read files"))
		}
	}
	at.joined.Add(at.p.boxes, b, part.runsCode())
}

// open is a box with the hosts that a part names.
func (at *placing) open(b box.Box, part *Part) box.Box {
	hosts := namedHosts(part)
	if more := b.With(box.Box{Hosts: hosts}); len(hosts) > 0 && at.p.boxes.Check(more, false) == nil {
		return more
	}
	return b // nothing is to be opened, or the profile has the network of the machine
}

// quiet reports whether a part may run beside one that runs outside: a rule allows it, and it only reads files.
func (d *Decision) quiet(part *Part) bool {
	return d.Effect == Allow && d.Rule != "" && !isUnclear(part) && !slices.ContainsFunc(part.Effects, func(e string) bool {
		return e != EffectExecute && e != EffectRead
	})
}

// within says of a part why it runs inside only.
func (d *Decision) within(part *Part, why string) string {
	return orElse(strings.Join(part.Argv[:min(len(part.Argv), 3)], " "), orElse(part.Program, "another part")) + " (" + why + ")"
}

// plain reports whether the text of a command means itself in a shell: words, quotes, and the operators that join, pipe and redirect. It has
// no expansion, no pattern, no second line and no syntax of the shell that could give a word another meaning. "=" is plain in an option.
func plain(command string) bool {
	quote, last, option := byte(0), byte(' '), false
	for i := range len(command) {
		c := command[i]
		if quote == 0 && strings.IndexByte(" ;|&>", last) >= 0 {
			option = c == '-'
		}
		last = c
		switch {
		case quote == '\'':
			if c == quote {
				quote = 0
			}
		case c == '$' || c == '`' || c == '\\' || c == '!' || c < ' ' || c > '~':
			return false
		case quote == '"':
			if c == quote {
				quote = 0
			}
		case c == '\'' || c == '"':
			quote = c
		case c == '=' && option:
		case strings.IndexByte("*?[]{}()~#<=", c) >= 0:
			return false
		}
	}
	return quote == 0 && command != ""
}

// end ends the parts of a principal.
func (at *placing) end() {
	at.joined.End(at.p.boxes)
	switch {
	case at.must != "" && at.inside != "":
		at.conflict = Decision{Rule: at.rule, Reason: "A part of this command runs outside of the sandbox (" + at.must +
			"), and another one runs inside only: " + at.inside + ". Nothing ran. Make them two calls."}
	case at.out == "" || at.inside != "":
		at.outer = ""
	case !at.some:
		at.outer = at.out
	}
	at.some, at.out, at.must, at.inside = true, "", "", ""
}

// decide puts the place into the decision of a call that is not denied.
func (at *placing) decide(d *Decision, t *tracer) {
	d.Outside = ""
	if at.conflict.Reason != "" {
		*d = at.conflict
		t.step("place", true, d.Rule, d.Reason)
		return
	}
	b, ask := at.joined.Box()
	if at.outer != "" {
		b, ask, d.Outside = box.Box{}, "", at.outer
	}
	d.box(b, ask)
	if d.Outside != "" && d.Effect == Allow && !plain(at.text) {
		d.Effect, d.Rule, d.Reason = Ask, "", "it would run outside of the sandbox ("+d.Outside+"), and it is more than plain words: what a variable, a "+
			"pattern or a substitution comes to is not certain"
	}
	at.bind(d)
	switch {
	case t == nil:
	case !d.Sandbox.None():
		t.step("place", true, "", "it runs in the sandbox "+d.Sandbox.String())
	case d.Outside != "":
		t.step("place", true, "", "it runs outside: "+d.Outside)
	case at.bash && !at.p.wall.None():
		t.step("place", true, "", "no sandbox holds it, so the rules decide alone: "+at.walls.No)
	}
}

// bind holds a decision to what the scope may do and to what a sandbox can hold.
func (at *placing) bind(d *Decision) {
	walls := &at.walls
	if at.only != "" && at.bash {
		d.Sandbox, d.Outside = box.Of(readOnly), "" // in no other one: a wider one could write
	} else if at.profile != "" && d.Sandbox.None() {
		d.Sandbox, d.Outside = box.Of(at.profile), ""
	}
	why := walls.No
	if why == "" && d.Effect == Ask {
		why = walls.Asked
	}
	switch {
	case d.Sandbox.None():
	case why != "" && at.only != "":
		*d = onlyReads("its commands run in the sandbox only, and this one would not (" + why + ")")
	case why != "" && at.profile != "":
		*d = Decision{Effect: Deny, Rule: d.Rule, Reason: d.Reason + " (it would not run in the sandbox " + d.Sandbox.String() + ": " + why + ")"}
	case why != "" && at.bash && !at.p.wall.None() && walls.No == "": // the person is asked about the command as it is
		d.Sandbox, d.Outside = box.Box{}, why
	case why != "":
		d.Reason += " (it would not run in the sandbox " + d.Sandbox.String() + ": " + why + ")"
		d.Effect, d.Sandbox = Ask, box.Box{}
	case walls.Lacked != "" && walls.Profile == d.Sandbox.Profile && at.only == "":
		text := "in the sandbox " + d.Sandbox.String() + " it lacked " + walls.Lacked + " and asks for it"
		if d.Effect == Ask {
			text = d.Reason + " (" + text + ")"
		}
		d.Without, d.Effect, d.Reason = d.Effect, Ask, text
	}
}
