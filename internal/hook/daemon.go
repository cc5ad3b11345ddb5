package hook

import (
	"bytes"
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"mycelium/internal/daemon"
	"mycelium/internal/harness"
	"mycelium/internal/rawjson"
	"mycelium/internal/rpc"
	"mycelium/internal/state"
)

// Method is the daemon's method that answers an event.
const Method = "hook/answer"

// TokenVar is the environment variable with the token of a session, for the processes of that session.
const TokenVar = "MYCELIUM_TOKEN" //nolint:gosec // a name, no credential

// parentVar is what POSIX shells call the process that started them. In a [Request] it is that of the hook.
const parentVar = "PPID"

// Request is the params of [Method]: an event as the agent wrote it, the flags of the entry, and parts of the environment. The small
// program has no time for reflection, so append writes it.
type Request struct {
	Token    string            `json:"token"` // of the agent's session; may be empty
	Agent    string            `json:"agent"`
	Event    string            `json:"event"`
	Gateway  string            `json:"gateway"`
	Limit    int64             `json:"limit"`    // milliseconds
	Deadline int64             `json:"deadline"` // milliseconds
	Env      map[string]string `json:"env"`
	Input    []byte            `json:"input"`
}

// Reply is the result of [Method]: the output and the exit code of the program.
type Reply struct {
	Stdout string `json:"stdout"`
	Stderr string `json:"stderr"`
	Exit   int    `json:"exit"`
}

// Answer has an event decided, and returns the answer in the agent's dialect. c says who decides and who records.
func (r *Request) Answer(ctx context.Context, c Command) Reply {
	var out, errs bytes.Buffer
	c.Flags = Flags{Agent: r.Agent, Event: r.Event, Gateway: r.Gateway, Limit: milliseconds(r.Limit), Deadline: milliseconds(r.Deadline)}
	c.In, c.Out, c.Err, c.Getenv = bytes.NewReader(r.Input), &out, &errs, func(name string) string { return r.Env[name] }
	c.Parent = func() int {
		id, err := strconv.Atoi(r.Env[parentVar])
		if err != nil {
			return 0
		}
		return id
	}
	code := c.runHere(ctx)
	return Reply{Stdout: out.String(), Stderr: errs.String(), Exit: code}
}

func milliseconds(n int64) time.Duration { return time.Duration(n) * time.Millisecond }

// surroundingVars are the variables that describe an agent's terminal and what stands before its shell.
func surroundingVars(a harness.Agent) []string {
	return slices.DeleteFunc([]string{"TMUX_PANE", "TMUX", a.Terminal[0], a.Launch.Prefix.Variable}, func(name string) bool {
		return name == ""
	})
}

// Places returns the variables of an environment that say where programs look for their files, and those for this program, without the
// token of a session.
func Places(environ []string) []string {
	var out []string
	for _, kv := range environ {
		name, _, _ := strings.Cut(kv, "=")
		if slices.Contains(harness.Places, name) || strings.HasPrefix(name, "MYCELIUM_") && name != TokenVar {
			out = append(out, kv)
		}
	}
	return out
}

// append appends the request as JSON.
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
			return r, fmt.Errorf("the daemon's answer has an unknown or invalid member %q", name)
		}
	}
	if !members.Complete() {
		return r, errors.New("the daemon's answer is not a JSON object")
	}
	return r, nil
}

// The timing with a daemon that dies or does not answer.
const (
	greetWithin = 5 * time.Second        // a live daemon greets within milliseconds, a frozen one never
	comeback    = 30 * time.Second       // how long to wait for a daemon that died before its answer
	redialAfter = 100 * time.Millisecond // between attempts
)

// askDaemon asks the daemon of a project. If the daemon ends before its answer, askDaemon waits for the next one, because a question to
// people survives a restart. Without a daemon it returns daemon.ErrNotRunning; a process that answers and proves nothing is a
// *daemon.StrangerError. The answer must arrive by at; slow is called if it does not arrive at once.
func askDaemon(project state.Paths, r Request, at time.Time, slow func()) (Reply, error) {
	paths := daemon.PathsOf(project, "") // the lock file names the socket
	var until time.Time                  // set when the daemon has died: when to stop waiting for the next
	for {
		left := time.Until(at) // the daemon answers a little before our own deadline, so that its record and our answer agree
		r.Deadline = max((left * 9 / 10).Milliseconds(), (left - margin).Milliseconds(), 1)
		raw, err := daemon.Ask(paths, greetWithin, Method, r.append(nil), slow)
		var refused *rpc.Error
		switch {
		case err == nil:
			return parseReply(raw)
		case errors.As(err, &refused) && refused.Code == rpc.CodeEnding && until.IsZero():
			until = time.Now().Add(comeback)
		case errors.As(err, &refused) && refused.Code != rpc.CodeEnding:
			return Reply{}, fmt.Errorf("the daemon refused: %s", refused.Message)
		case errors.Is(err, daemon.ErrLost) && until.IsZero():
			until = time.Now().Add(comeback)
		case refused == nil && !errors.Is(err, daemon.ErrNotRunning) && !errors.Is(err, daemon.ErrLost):
			return Reply{}, err
		}
		if until.IsZero() || time.Now().After(until) {
			return Reply{}, daemon.ErrNotRunning
		}
		slow()
		time.Sleep(redialAfter)
	}
}
