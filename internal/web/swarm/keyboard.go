package swarm

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"slices"
	"strconv"
	"sync"
	"time"

	"mycelium/internal/node/acts"
	"mycelium/internal/op/failure"
	"mycelium/internal/run/pane"
	"mycelium/internal/swarm/book"
	"mycelium/internal/swarm/ops"
	"mycelium/internal/swarm/runner"
	"mycelium/internal/text"
	"mycelium/internal/tmux"
	"mycelium/internal/web/device"
	"mycelium/internal/web/site"
)

// keyboards says which device has the keyboard of which worker. A terminal is read-only for every other one. It is safe for concurrent use.
type keyboards struct {
	now func() time.Time

	mu   sync.Mutex
	held map[string]hold // by keyboardOf
}

type hold struct {
	device string
	used   time.Time
}

// idleFor is how long a keyboard that nobody uses stays with who has it.
const idleFor = 10 * time.Minute

// take gives a keyboard to a device; "" gives it back.
func (k *keyboards) take(keyboard, device string) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.held == nil {
		k.held = map[string]hold{}
	}
	for other, h := range k.held {
		if k.now().Sub(h.used) >= idleFor {
			delete(k.held, other)
		}
	}
	if delete(k.held, keyboard); device != "" {
		k.held[keyboard] = hold{device, k.now()}
	}
}

// holder is the device that has a keyboard.
func (k *keyboards) holder(keyboard string) (device string, held bool) {
	k.mu.Lock()
	defer k.mu.Unlock()
	h, held := k.held[keyboard]
	if !held || k.now().Sub(h.used) >= idleFor {
		return "", false
	}
	return h.device, true
}

// use reports whether a device has a keyboard, and has it stay there.
func (k *keyboards) use(keyboard, device string) bool {
	if holder, held := k.holder(keyboard); !held || holder != device {
		return false
	}
	k.take(keyboard, device)
	return true
}

// maxKeys bounds what is typed at once, in bytes.
const maxKeys = 4096

// record does an act of a person on a page, and has it in the log of the project with the person and the device. What cannot be recorded
// is not done.
func (s *room) record(r *http.Request, o *opened, d device.Device, act, item string, do func() error) error {
	err := acts.Do(r.Context(), o.project, acts.Act{Act: act, Item: item, By: acts.Of(os.Getuid(), d.ID)}, do)
	if err == nil {
		s.Tell(act + " " + text.OneLine(item) + " of " + site.Name(o.paths) + ", by " + d.ID)
	}
	return err
}

// keyboard has a device take the keyboard of a worker, or give it back.
func (s *room) keyboard(w http.ResponseWriter, r *http.Request, d device.Device) {
	r.Body = http.MaxBytesReader(w, r.Body, site.MaxForm)
	take := r.PostFormValue("act") == "take"
	name := r.PathValue("worker")
	s.acting(w, r, d, s.showTerminal, func(o *opened, of *book.Session) (to string, err error) {
		a, err := ops.Working(of, name)
		if err != nil {
			return "", errNotAtWork(name)
		}
		act, said, holder := "swarm keyboard taken", " has taken the keyboard of its worker", d.ID
		if !take {
			act, said, holder = "swarm keyboard given back", " has given the keyboard of its worker back", ""
		}
		err = s.record(r, o, d, act, of.ID+" "+name, func() error {
			_, err := o.Change(r.Context(), of.ID, "", func(*book.Session) ([]book.Event, error) {
				return []book.Event{{Kind: "keyboard", Feature: name, Attempt: a.N, Text: o.By + said}}, nil
			})
			return err
		})
		if err == nil {
			s.keyboards.take(keyboardOf(o.paths, of, name, a), holder)
		}
		return addressOf(o.paths, "workers", name), err
	})
}

// keys types into the terminal of a worker, for the device that has its keyboard.
func (s *room) keys(w http.ResponseWriter, r *http.Request, d device.Device) {
	r.Body = http.MaxBytesReader(w, r.Body, site.MaxForm)
	typed, line, name := r.PostFormValue("keys"), r.PostFormValue("line"), r.PathValue("worker")
	if typed != "" {
		line = ""
	} else if line != "" { // of a page without scripts: a line, with its Enter
		typed = line + "\r"
	}
	s.acting(w, r, d, s.showTerminal, func(o *opened, of *book.Session) (to string, err error) {
		a, err := ops.Working(of, name)
		switch {
		case err != nil:
			return "", errNotAtWork(name)
		case typed == "" || len(typed) > maxKeys:
			return "", failure.Usagef("from 1 to %d bytes are typed at once", maxKeys)
		case !s.keyboards.use(keyboardOf(o.paths, of, name, a), d.ID):
			return "", failure.New(failure.Denied, errors.New("this browser does not have the keyboard of "+text.OneLine(name)),
				"take it first: that is recorded")
		}
		if line != "" && atTerminal(of, name) {
			err = enter(r.Context(), o.terminals, a.Window, line)
		} else {
			err = o.terminals.Press(r.Context(), a.Window, []byte(typed))
		}
		return addressOf(o.paths, "workers", name), err
	})
}

// atTerminal reports whether a worker is a Claude Code at its own terminal.
func atTerminal(of *book.Session, name string) bool {
	f, err := of.Feature(name)
	return err == nil && cmp.Or(f.Route.Worker, of.Settings.Runner) == runner.Terminal
}

// enter types a line into the terminal of a Claude Code as a prompt. Who sends it has not seen what the terminal shows now: where that is a
// dialog, the line may only be the number of an option.
func enter(ctx context.Context, terminals tmux.Server, window, line string) error {
	panes, err := terminals.Panes(ctx)
	if err != nil {
		return err
	}
	i := slices.IndexFunc(panes, func(p tmux.Pane) bool { return p.Session == window })
	if i < 0 {
		return tmux.ErrNoPane
	}
	p := pane.Of(terminals, panes[i].ID, "claude")
	if n, err := strconv.Atoi(line); err == nil {
		if err = p.Choose(ctx, n); !errors.Is(err, pane.ErrNoDialog) {
			return err
		}
	}
	err = p.Type(ctx, line)
	if notNow := (*pane.NotNowError)(nil); errors.As(err, &notNow) {
		return failure.New(failure.Conflict, fmt.Errorf("nothing was sent: %w", err), "look at the terminal; a number alone takes that option of a question")
	}
	return err
}
