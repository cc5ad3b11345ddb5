// Package roleprompt has the prompts of roles that come from servers (remoteInstruction).
//
// What a server answers becomes part of what agents are told, like its instructions, and is treated like them: the first answer is scanned
// and pinned, and an answer that differs from the pinned one is held until the operator accepts it. Until then the pinned one is used.
package roleprompt

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"log/slog"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/go-json-experiment/json"

	"mycelium/internal/backend"
	"mycelium/internal/backend/catalog"
	"mycelium/internal/backend/pin"
	"mycelium/internal/policy"
	"mycelium/internal/policy/remote"
	"mycelium/internal/rawjson"
	"mycelium/internal/state"
	"mycelium/internal/text"
)

// Folder is the folder of the pins of the prompts of roles that come from servers.
func Folder(p state.Paths) string { return filepath.Join(p.Pins(), "roles") }

// The bounds.
const (
	maxWait  = 2 * time.Second  // how long a session's start waits for an answer
	maxFetch = 30 * time.Second // timeout of one request, the start of the server included
	pause    = 10 * time.Second // after a failure, until the next request
	maxText  = 8 << 10          // bytes of an answer, as for the instructions of servers
)

// prefix begins the name of a held prompt, where commands name what is in quarantine.
const prefix = "role-prompt:"

// Get asks a server for a prompt: the result of prompts/get.
type Get func(ctx context.Context, server string, params []byte) (result []byte, err error)

// Prompts are the remote prompts of a node. They are safe for concurrent use.
type Prompts struct {
	get    Get
	book   *pin.Book
	logger *slog.Logger
	now    func() time.Time
	wait   time.Duration // maxWait

	ctx    context.Context // of requests
	cancel context.CancelFunc
	work   sync.WaitGroup

	mu   sync.Mutex
	all  map[string]*prompt // by key
	over bool
}

// From asks the servers of a pool.
func From(pool *backend.Pool) Get {
	return func(ctx context.Context, server string, params []byte) ([]byte, error) {
		result, refused, err := pool.Do(ctx, policy.Scope{}, "", server, "prompts/get", params, nil)
		if err == nil && refused != nil {
			err = fmt.Errorf("the server refuses: %s", text.Truncate(rawjson.TextAt(refused, "message"), 200))
		}
		return result, err
	}
}

// prompt is the prompt of one role.
type prompt struct {
	role    string
	text    string        // the accepted one; empty: none
	until   time.Time     // when the next request is due
	asking  chan struct{} // closed when the request under way ends; nil: there is none
	held    *pin.Held     // an answer that was not accepted
	problem string        // of the last request; empty: it succeeded
}

// New returns the prompts whose pins are in a folder.
func New(dir string, get Get, now func() time.Time, logger *slog.Logger) *Prompts {
	p := &Prompts{get: get, book: pin.NewBook(dir, now), logger: logger, now: now, wait: maxWait, all: map[string]*prompt{}}
	p.ctx, p.cancel = context.WithCancel(context.Background())
	return p
}

// Close ends the requests under way and waits for them.
func (p *Prompts) Close() {
	p.mu.Lock()
	p.over = true
	p.mu.Unlock()
	p.cancel()
	p.work.Wait()
}

// key names the pins of a role's prompt. Another prompt, or other arguments, are another first use: a person has accepted the role's file.
func key(role string, r *remote.Instruction) string {
	what, err := json.Marshal([]any{role, r.Backend, r.PromptName, r.Arguments}, json.Deterministic(true))
	if err != nil {
		what = []byte(role)
	}
	sum := sha256.Sum256(what)
	return hex.EncodeToString(sum[:16])
}

// Text returns the prompt of a role, or "" where neither an accepted answer nor a fallback is known. It waits at most two seconds.
func (p *Prompts) Text(role string, r *remote.Instruction) string {
	k := key(role, r)
	p.mu.Lock()
	x := p.all[k]
	if x == nil {
		x = &prompt{role: role, text: p.book.Of(k, false).AcceptedInstructions()}
		p.all[k] = x
	}
	if x.asking == nil && !p.over && !p.now().Before(x.until) {
		x.asking = make(chan struct{})
		p.work.Go(func() { p.ask(k, x, r) })
	}
	asking := x.asking
	p.mu.Unlock()
	if asking != nil {
		timer := time.NewTimer(p.wait)
		defer timer.Stop()
		select {
		case <-asking:
		case <-timer.C:
		}
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	return cmp.Or(x.text, r.Fallback)
}

// ask makes one request.
func (p *Prompts) ask(k string, x *prompt, r *remote.Instruction) {
	ctx, cancel := context.WithTimeout(p.ctx, maxFetch)
	defer cancel()
	said, err := p.fetch(ctx, r)
	p.mu.Lock()
	defer p.mu.Unlock()
	close(x.asking)
	x.asking = nil
	x.until = p.now().Add(r.Keep())
	if err == nil {
		err = p.judge(k, x, said)
	}
	if err == nil {
		x.problem = ""
		return
	}
	x.until = p.now().Add(min(r.Keep(), pause))
	if x.problem != err.Error() && p.ctx.Err() == nil {
		p.logger.Warn("the prompt of a role is not the one of its server", "role", x.role, "prompt", r.String(), "error", err)
	}
	x.problem = err.Error()
}

// judge takes an answer if it may be used. The lock is held.
func (p *Prompts) judge(k string, x *prompt, said string) error {
	pins := p.book.Of(k, false)
	if x.held = pins.Instructions(said, true, p.book.Scanner(&catalog.Listing{})); x.held != nil {
		return fmt.Errorf("it is held: %s; see myc tools diff %s%s", x.held.Reason, prefix, x.role)
	}
	pins.EndFirstUse()
	if err := pins.Save(); err != nil {
		return err
	}
	x.text = said
	return nil
}

// fetch returns the text of a prompt.
func (p *Prompts) fetch(ctx context.Context, r *remote.Instruction) (string, error) {
	params := rawjson.Set([]byte("{}"), "name", rawjson.Quote(r.PromptName))
	if len(r.Arguments) > 0 {
		args, err := json.Marshal(r.Arguments, json.Deterministic(true))
		if err != nil {
			return "", err
		}
		params = rawjson.Set(params, "arguments", args)
	}
	raw, err := p.get(ctx, r.Backend, params)
	if err != nil {
		return "", err
	}
	return textOf(raw)
}

// textOf joins the texts of the messages of a prompt.
func textOf(raw []byte) (string, error) {
	var result struct {
		Messages []struct {
			Content struct {
				Type string `json:"type"`
				Text string `json:"text"`
			} `json:"content"`
		} `json:"messages"`
	}
	if err := json.Unmarshal(raw, &result); err != nil {
		return "", fmt.Errorf("the server's answer: %w", err)
	}
	var parts []string
	for _, m := range result.Messages {
		if s := strings.TrimSpace(m.Content.Text); m.Content.Type == "text" && s != "" {
			parts = append(parts, s)
		}
	}
	said := strings.Join(parts, "\n\n")
	switch {
	case said == "":
		return "", errors.New("the server's prompt has no text")
	case len(said) > maxText:
		return "", fmt.Errorf("the server's prompt is longer than %d bytes", maxText)
	}
	return said, nil
}

// Accepted returns the accepted text of a role's prompt, or "". It asks no server.
func Accepted(dir, role string, r *remote.Instruction) string {
	return pin.NewBook(dir, time.Now).Of(key(role, r), false).AcceptedInstructions()
}

// Held is an answer that waits for the operator.
type Held struct {
	pin.Held
	Name string // role-prompt:ROLE
}

// Held returns the answers in quarantine, those of one name or all for "", by role.
func (p *Prompts) Held(name string) (list []Held) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, x := range p.all {
		if x.held != nil && (name == "" || name == prefix+x.role) {
			list = append(list, Held{*x.held, prefix + x.role})
		}
	}
	slices.SortFunc(list, func(a, b Held) int { return strings.Compare(a.Name, b.Name) })
	return list
}

// Named reports whether a name is one of a role's prompt.
func Named(name string) bool { return strings.HasPrefix(name, prefix) }

// KeepOut keeps the answer with a digest in quarantine for a person.
func (p *Prompts) KeepOut(name, digest, by string) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	for k, x := range p.all {
		if x.held == nil || prefix+x.role != name || x.held.Digest != digest {
			continue
		}
		pins := p.book.Of(k, false)
		pins.KeepOut([]pin.Held{*x.held}, by)
		x.held.KeptOut = &pin.KeptOut{By: by, Since: p.now()}
		return pins.Save()
	}
	return fmt.Errorf("%s is not in quarantine, or changed again since it was shown", name)
}

// Accept puts the answer with a digest in force.
func (p *Prompts) Accept(name, digest string) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	for k, x := range p.all {
		if x.held == nil || prefix+x.role != name || x.held.Digest != digest {
			continue
		}
		pins := p.book.Of(k, false)
		pins.Accept([]pin.Held{*x.held})
		pins.EndDoubt(nil)
		if err := pins.Save(); err != nil {
			return err
		}
		x.text, x.held, x.problem = pins.AcceptedInstructions(), nil, ""
		return nil
	}
	return fmt.Errorf("%s is not in quarantine, or changed again since it was shown", name)
}
