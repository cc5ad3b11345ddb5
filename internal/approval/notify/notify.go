// Package notify tells people that a request waits, in places where they cannot answer: ntfy, Slack, the desktop.
package notify

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/url"
	"os/exec"
	"path"
	"runtime"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/go-json-experiment/json"

	"mycelium/internal/approval"
)

// Options configure a [Notifier]. Queue is required.
type Options struct {
	Config approval.NotifyConfig // with secrets expanded
	Queue  *approval.Queue
	Board  *approval.Board                                // nil: requests only
	Run    func(ctx context.Context, argv []string) error // runs a program; nil: with os/exec
	Getenv func(name string) string                       // the environment, which tells whether a desktop is here; nil: empty
	Logger *slog.Logger
}

// Notifier sends a message for every request and notice. The messages name the session, the tool and the risk, but never arguments:
// other companies read them.
type Notifier struct {
	o      Options
	client *http.Client
	outs   []*outlet
}

// outlet is one place to send to. Each has a queue of its own, so that a slow one does not delay the others.
type outlet struct {
	name  string
	send  func(ctx context.Context, m message) error
	queue chan message
}

// message is a request or a notice in words.
type message struct {
	title, text string
	urgent      bool // an agent waits for a person
}

// New checks the configuration and prepares its outlets.
func New(o Options) (*Notifier, error) {
	var problems []error
	o.Config.Check(func(key, message, hint string) {
		problems = append(problems, fmt.Errorf("approval.notify.%s: %s: %s", key, message, hint))
	})
	for name, w := range map[string]*approval.WebhookConfig{"ntfy": o.Config.Ntfy, "slack": o.Config.Slack} {
		if len(problems) == 0 && w != nil && !approval.SafeURL(w.URL) {
			problems = append(problems, fmt.Errorf("approval.notify.%s.url: it is not an https address", name))
		}
	}
	if err := errors.Join(problems...); err != nil {
		return nil, err
	}
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	if o.Run == nil {
		o.Run = func(ctx context.Context, argv []string) error {
			return exec.CommandContext(ctx, argv[0], argv[1:]...).Run()
		}
	}
	n := &Notifier{o: o, client: &http.Client{
		Timeout: postTimeout, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}}
	if w := o.Config.Ntfy; w != nil {
		n.add("ntfy", func(ctx context.Context, x message) error { return n.ntfy(ctx, *w, x) })
	}
	if w := o.Config.Slack; w != nil {
		n.add("Slack", func(ctx context.Context, x message) error { return n.slack(ctx, *w, x) })
	}
	if onScreen(o.Config, o.Getenv) {
		n.add("the screen", func(ctx context.Context, x message) error {
			return o.Run(ctx, screenCommand(runtime.GOOS, x.title, x.text))
		})
	}
	return n, nil
}

// Reaches reports whether a [Notifier] with this configuration and environment tells anybody.
func Reaches(c approval.NotifyConfig, getenv func(name string) string) bool {
	return c.Ntfy != nil || c.Slack != nil || onScreen(c, getenv)
}

// onScreen reports whether messages appear on this machine's screen.
func onScreen(c approval.NotifyConfig, getenv func(name string) string) bool {
	if c.Desktop != nil {
		return *c.Desktop
	}
	return getenv != nil && hasDesktop(runtime.GOOS, getenv, exec.LookPath)
}

func (n *Notifier) add(name string, send func(context.Context, message) error) {
	n.outs = append(n.outs, &outlet{name, send, make(chan message, approval.MaxNotices)})
}

// Run sends until ctx is done and every goroutine that it started has returned.
func (n *Notifier) Run(ctx context.Context) error {
	var parts sync.WaitGroup
	defer parts.Wait()
	defer n.client.CloseIdleConnections()
	for _, out := range n.outs {
		parts.Go(func() { n.serve(ctx, out) })
	}
	if n.o.Board != nil {
		ready := make(chan struct{})
		parts.Go(func() { n.o.Board.Watch(ctx, ready, func(x approval.Notice) { n.enqueue(noticeMessage(x)) }) })
		<-ready
	}
	waiting := map[string]bool{} // requests that were sent
	n.o.Queue.Observe(ctx, func(r approval.Request) {
		switch {
		case r.State != approval.Pending:
			delete(waiting, r.ID)
		case !waiting[r.ID]:
			waiting[r.ID] = true
			n.enqueue(requestMessage(r))
		}
	})
	return nil
}

// enqueue gives a message to every outlet. An outlet whose queue is full drops it.
func (n *Notifier) enqueue(x message) {
	for _, out := range n.outs {
		select {
		case out.queue <- x:
		default:
		}
	}
}

// serve sends the messages of one outlet. It drops a message after three failed tries, so that messages are not late, and logs the first
// failure only until a message is sent again.
func (n *Notifier) serve(ctx context.Context, out *outlet) {
	down := false
	for {
		var x message
		select {
		case <-ctx.Done():
			return
		case x = <-out.queue:
		}
		var err error
		for try := range 3 {
			if try > 0 && !sleep(ctx, time.Duration(try)*time.Second) {
				return
			}
			if err = out.send(ctx, x); err == nil || ctx.Err() != nil {
				break
			}
		}
		if err != nil && !down && ctx.Err() == nil {
			n.o.Logger.Warn("a notice could not be sent", "to", out.name, "error", err)
		}
		down = err != nil
	}
}

// sleep waits for d. It reports false if ctx is done first.
func sleep(ctx context.Context, d time.Duration) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return false
	case <-timer.C:
		return true
	}
}

// ntfy publishes as JSON: a title in a header could not hold every character.
func (n *Notifier) ntfy(ctx context.Context, w approval.WebhookConfig, x message) error {
	u, err := url.Parse(w.URL)
	if err != nil {
		return errors.New("the address cannot be read")
	}
	topic := path.Base(u.Path)
	u.Path = path.Dir(u.Path)
	priority := 3
	if x.urgent {
		priority = 4
	}
	return n.post(ctx, u.String(), w.Token, map[string]any{"topic": topic, "title": x.title, "message": x.text, "priority": priority})
}

// postTimeout bounds one post.
const postTimeout = 30 * time.Second

// slackText escapes mentions and links.
func slackText() *strings.Replacer {
	return strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;")
}

func (n *Notifier) slack(ctx context.Context, w approval.WebhookConfig, x message) error {
	return n.post(ctx, w.URL, "", map[string]any{"text": slackText().Replace(x.title + "\n" + x.text)})
}

// post sends JSON. Its errors do not contain the address, which is a secret.
func (n *Notifier) post(ctx context.Context, to, token string, what map[string]any) error {
	b, err := json.Marshal(what, json.Deterministic(true))
	if err != nil {
		return fmt.Errorf("write the notice: %w", err)
	}
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, to, bytes.NewReader(b))
	if err != nil {
		return errors.New("the address cannot be read")
	}
	r.Header.Set("Content-Type", "application/json")
	if token != "" {
		r.Header.Set("Authorization", "Bearer "+token)
	}
	res, err := n.client.Do(r)
	if err != nil {
		var hidden *url.Error
		if errors.As(err, &hidden) {
			err = hidden.Err
		}
		return err
	}
	defer res.Body.Close()
	_, _ = io.CopyN(io.Discard, res.Body, 64<<10)
	if res.StatusCode/100 != 2 {
		return fmt.Errorf("the server answered %s", res.Status)
	}
	return nil
}

// screenCommand returns the program that shows a message on this machine, as an argument vector: no text is read as a script.
func screenCommand(system, title, text string) []string {
	if system == "darwin" {
		return []string{"osascript", "-e", "on run argv", "-e", "display notification (item 2 of argv) with title (item 1 of argv)", "-e",
			"end run", "--", title, text}
	}
	return []string{"notify-send", "--app-name=Mycelium", "--", title, text}
}

// hasDesktop reports whether a message on this machine's screen can be seen: on macOS always; elsewhere where the program of the notices
// is installed and the environment names a D-Bus session and a screen.
func hasDesktop(system string, getenv func(string) string, look func(program string) (string, error)) bool {
	if _, err := look(screenCommand(system, "", "")[0]); err != nil {
		return false
	}
	return system == "darwin" || getenv("DBUS_SESSION_BUS_ADDRESS") != "" && (getenv("DISPLAY") != "" || getenv("WAYLAND_DISPLAY") != "")
}

const answerElsewhere = "Answer in the terminal (myc approvals watch) or in the chat."

// requestMessage describes a request without its arguments.
func requestMessage(r approval.Request) message {
	where := r.Name(60)
	switch r.Kind {
	case approval.Stop:
		return message{where + " wants to stop", "Shall it go on? " + answerElsewhere, true}
	case approval.Question:
		return message{where + " asks you something", answerElsewhere, true}
	case approval.Call: // below
	}
	text := cmp.Or(string(r.Risk), "unknown") + " risk"
	if r.Category != "" {
		text += ", " + approval.Short(r.Category, 40)
	}
	if r.Lacked.Any() {
		text += ", and asks in the sandbox for " + approval.Short(r.Lacked.String(), 200)
	}
	return message{where + " waits for approval: " + approval.Short(r.Tool, 80), text + ". " + answerElsewhere, true}
}

// noticeMessage describes a notice.
func noticeMessage(x approval.Notice) message {
	urgent := slices.Contains([]approval.NoticeKind{approval.Errored, approval.DenialAlert, approval.BudgetAlert, approval.Waits,
		approval.Stuck, approval.GuardAlert}, x.Kind)
	title := approval.Short(cmp.Or(x.Label, x.Session, "An agent"), 60) + ": " + strings.ReplaceAll(string(x.Kind), "-", " ")
	return message{title, approval.Short(x.Text, approval.NoticeLength), urgent}
}
