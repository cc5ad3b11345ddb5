// Package notify tells people that something waits, in places where they cannot answer: ntfy, Slack, the desktop.
package notify

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"mycelium/internal/approval"
	"net/http"
	"net/url"
	"os/exec"
	"path"
	"runtime"
	"strings"
	"sync"
	"time"

	"github.com/go-json-experiment/json"
)

// Options are what notices go out with. Queue is required.
type Options struct {
	Config approval.NotifyConfig // with its secrets put in
	Queue  *approval.Queue
	Board  *approval.Board                                // nil: only requests are told
	Run    func(ctx context.Context, argv []string) error // runs a program; nil: os/exec
	Logger *slog.Logger
}

// Notifier tells people that something waits for them, at places where they cannot answer: ntfy, Slack, the screen.
// What goes to others names the session, the tool and the risk, and never arguments.
type Notifier struct {
	o      Options
	client *http.Client
	outs   []*outlet
}

// outlet is one place that notices go to, with its own queue: a slow one holds up no other.
type outlet struct {
	name  string
	send  func(ctx context.Context, n told) error
	queue chan told
}

// told is a notice in words.
type told struct {
	title, text string
	urgent      bool // somebody waits
}

// New prepares what the configuration names.
func New(o Options) (*Notifier, error) {
	var problems []error
	o.Config.Check(func(key, message, hint string) {
		problems = append(problems, fmt.Errorf("approval.notify.%s: %s: %s", key, message, hint))
	})
	for name, w := range map[string]*approval.WebhookConfig{"ntfy": o.Config.Ntfy, "slack": o.Config.Slack} {
		if len(problems) == 0 && w != nil && !approval.SafeURL(w.URL) {
			problems = append(problems, fmt.Errorf("approval.notify.%s.url: it is no https address", name))
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
		n.add("ntfy", func(ctx context.Context, x told) error { return n.ntfy(ctx, *w, x) })
	}
	if w := o.Config.Slack; w != nil {
		n.add("Slack", func(ctx context.Context, x told) error { return n.slack(ctx, *w, x) })
	}
	if o.Config.Desktop {
		n.add("the screen", func(ctx context.Context, x told) error {
			return o.Run(ctx, screenCommand(runtime.GOOS, x.title, x.text))
		})
	}
	return n, nil
}

func (n *Notifier) add(name string, send func(context.Context, told) error) {
	n.outs = append(n.outs, &outlet{name, send, make(chan told, approval.MaxNotices)})
}

// Run tells until ctx ends, and returns when everything that it started is gone.
func (n *Notifier) Run(ctx context.Context) error {
	var parts sync.WaitGroup
	defer parts.Wait()
	defer n.client.CloseIdleConnections()
	for _, out := range n.outs {
		parts.Go(func() { n.serve(ctx, out) })
	}
	if n.o.Board != nil {
		ready := make(chan struct{})
		parts.Go(func() { n.o.Board.Watch(ctx, ready, func(x approval.Notice) { n.tell(noticeWords(x)) }) })
		<-ready
	}
	waiting := map[string]bool{} // requests that were told of
	n.o.Queue.Observe(ctx, func(r approval.Request) {
		switch {
		case r.State != approval.Pending:
			delete(waiting, r.ID)
		case !waiting[r.ID]:
			waiting[r.ID] = true
			n.tell(requestWords(r))
		}
	})
	return nil
}

// tell hands a notice to every outlet. What an outlet cannot take any more is dropped: the request itself is not.
func (n *Notifier) tell(x told) {
	for _, out := range n.outs {
		select {
		case out.queue <- x:
		default:
		}
	}
}

// serve sends what one outlet gets. A failure is logged once, until it works again; nothing is sent late: a notice that could not go out
// within three tries is dropped.
func (n *Notifier) serve(ctx context.Context, out *outlet) {
	down := false
	for {
		var x told
		select {
		case <-ctx.Done():
			return
		case x = <-out.queue:
		}
		var err error
		for try := range 3 {
			if try > 0 && !pauseFor(ctx, time.Duration(try)*time.Second) {
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

func pauseFor(ctx context.Context, d time.Duration) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return false
	case <-timer.C:
		return true
	}
}

// ntfy publishes as JSON to the server of the topic: titles may hold any character there.
func (n *Notifier) ntfy(ctx context.Context, w approval.WebhookConfig, x told) error {
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

// slackText keeps a text from being more than text: a mention of everybody, a link under another name.
var slackText = strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;")

func (n *Notifier) slack(ctx context.Context, w approval.WebhookConfig, x told) error {
	return n.post(ctx, w.URL, "", map[string]any{"text": slackText.Replace(x.title + "\n" + x.text)})
}

// post sends JSON. Errors never hold the address: it is a secret.
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

// screenCommand is the program that shows a notice on this machine, as an argument vector: no text of it is ever read as a script.
func screenCommand(system, title, text string) []string {
	if system == "darwin" {
		return []string{"osascript", "-e", "on run argv", "-e", "display notification (item 2 of argv) with title (item 1 of argv)", "-e", "end run", "--", title, text}
	}
	return []string{"notify-send", "--app-name=Mycelium", "--", title, text}
}

// requestWords tell of a request without its arguments.
func requestWords(r approval.Request) told {
	where := r.Name(60)
	switch r.Kind {
	case approval.Stop:
		return told{where + " wants to stop", "Shall it go on? Answer in the terminal (myc approvals watch) or in the chat.", true}
	case approval.Question:
		return told{where + " asks you something", "Answer in the terminal (myc approvals watch) or in the chat.", true}
	case approval.Call: // below
	}
	text := fmt.Sprintf("%s risk", cmp.Or(string(r.Risk), "unknown"))
	if r.Category != "" {
		text += ", " + approval.Short(r.Category, 40)
	}
	return told{where + " waits for approval: " + approval.Short(r.Tool, 80), text + ". Answer in the terminal (myc approvals watch) or in the chat.", true}
}

// noticeWords tell a notice.
func noticeWords(x approval.Notice) told {
	return told{
		title: approval.Short(cmp.Or(x.Label, x.Session, "An agent"), 60) + ": " + strings.ReplaceAll(string(x.Kind), "-", " "),
		text:  approval.Short(x.Text, approval.NoticeLength), urgent: x.Kind == approval.Errored || x.Kind == approval.DenialAlert || x.Kind == approval.BudgetAlert || x.Kind == approval.Waits,
	}
}
