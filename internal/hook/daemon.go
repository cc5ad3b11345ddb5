package hook

import (
	"bytes"
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"strconv"
	"time"

	"mycelium/internal/daemon"
	"mycelium/internal/harness"
	"mycelium/internal/rawjson"
	"mycelium/internal/rpc"
)

// Method is the daemon's method that answers an event.
const Method = "hook/answer"

// TokenVar is the environment variable that carries the token of a session to what belongs to it.
const TokenVar = "MYCELIUM_TOKEN" //nolint:gosec // a name, no credential

// Request is the params of [Method]: an event as the agent wrote it, what the agent's configuration says, and what the environment tells.
// It is written by append, because the small program has no time for reflection.
type Request struct {
	Token    string            `json:"token"` // of the agent's session; "": it has none
	Agent    string            `json:"agent"`
	Event    string            `json:"event"`
	Gateway  string            `json:"gateway"`
	Limit    int64             `json:"limit"`    // milliseconds
	Deadline int64             `json:"deadline"` // milliseconds
	Env      map[string]string `json:"env"`
	Input    []byte            `json:"input"`
}

// Reply is the result of [Method]: what the program shall print, and how it shall end.
type Reply struct {
	Stdout string `json:"stdout"`
	Stderr string `json:"stderr"`
	Exit   int    `json:"exit"`
}

// Answer has an event decided, and puts the answer into the agent's dialect. c says who decides and who records.
func (r *Request) Answer(ctx context.Context, c Command) Reply {
	var out, errs bytes.Buffer
	c.Flags = Flags{Agent: r.Agent, Event: r.Event, Gateway: r.Gateway, Limit: milliseconds(r.Limit), Deadline: milliseconds(r.Deadline)}
	c.In, c.Out, c.Err, c.Getenv = bytes.NewReader(r.Input), &out, &errs, func(name string) string { return r.Env[name] }
	code := c.runHere(ctx)
	return Reply{Stdout: out.String(), Stderr: errs.String(), Exit: code}
}

func milliseconds(n int64) time.Duration { return time.Duration(n) * time.Millisecond }

// surroundingVars are the variables that tell of an agent's terminal.
func surroundingVars(a harness.Agent) []string { return []string{"TMUX_PANE", "TMUX", a.Terminal[0]} }

// append writes a request.
func (r *Request) append(b []byte) []byte {
	text := func(name, value string) {
		b = append(append(b, '"'), name...)
		b = append(b, '"', ':')
		b = append(rawjson.AppendQuote(b, value), ',')
	}
	b = append(b, '{')
	text("token", r.Token)
	text("agent", r.Agent)
	text("event", r.Event)
	text("gateway", r.Gateway)
	b = fmt.Appendf(b, `"limit":%d,"deadline":%d,"env":{`, r.Limit, r.Deadline)
	for name, value := range r.Env {
		text(name, value)
	}
	b = append(bytes.TrimSuffix(b, []byte(",")), `},"input":"`...)
	return append(base64.StdEncoding.AppendEncode(b, r.Input), `"}`...)
}

// parseReply reads a reply.
func parseReply(raw []byte) (r Reply, err error) {
	members := rawjson.ScanObject(raw)
	for members.Next() {
		name, value := string(members.Name()), members.Value()
		known := false
		switch name {
		case "stdout":
			r.Stdout, known = rawjson.Text(value)
		case "stderr":
			r.Stderr, known = rawjson.Text(value)
		case "exit":
			r.Exit, err = strconv.Atoi(string(value))
			known = err == nil
		}
		if !known {
			return r, fmt.Errorf("the daemon's answer has the member %q", name)
		}
	}
	if !members.Complete() {
		return r, errors.New("the daemon's answer is not a JSON object")
	}
	return r, nil
}

// How the hook deals with a daemon that dies or does not answer.
const (
	greetWithin = 5 * time.Second        // a live daemon greets within milliseconds, a frozen one never
	comeback    = 30 * time.Second       // how long a daemon that died in the middle of a question is waited for
	redialAfter = 100 * time.Millisecond // and how often it is looked for
)

// askDaemon asks the daemon of a project. A daemon that dies in the middle is waited for a while, since a question to people survives it;
// daemon.ErrNotRunning: there is none. at is when the answer must be there; slow is called when it does not come at once.
func askDaemon(dir string, r Request, at time.Time, slow func()) (Reply, error) {
	paths, err := daemon.PathsOf(dir)
	if err != nil {
		return Reply{}, err
	}
	var until time.Time // the daemon was there and has gone: how long it is waited for
	for {
		left := time.Until(at) // the daemon answers a little before we would give up on it, so that its record and our answer agree
		r.Deadline = max((left * 9 / 10).Milliseconds(), (left - margin).Milliseconds(), 1)
		raw, err := daemon.Ask(paths, greetWithin, Method, r.append(nil), slow)
		var refused *rpc.Error
		switch {
		case err == nil:
			return parseReply(raw)
		case errors.As(err, &refused):
			return Reply{}, fmt.Errorf("the daemon refused: %s", refused.Message)
		case errors.Is(err, daemon.ErrLost) && until.IsZero():
			until = time.Now().Add(comeback)
		case !errors.Is(err, daemon.ErrNotRunning) && !errors.Is(err, daemon.ErrLost):
			return Reply{}, err
		}
		if until.IsZero() || time.Now().After(until) {
			return Reply{}, daemon.ErrNotRunning
		}
		slow()
		time.Sleep(redialAfter)
	}
}
