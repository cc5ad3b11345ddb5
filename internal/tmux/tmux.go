// Package tmux drives tmux by its command line: panes, keys, windows.
package tmux

import (
	"bytes"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"
)

// Server is one tmux server. The zero value is the user's own; its methods start none except where they say so.
type Server struct {
	Socket  string // path of its socket; empty: tmux's default
	Config  string // the file that it reads when it starts; empty: tmux's default
	Program string // empty: tmux, from PATH
	// between a text and its Enter; 0: 150 ms. A program in the pane takes what comes in one burst for one paste, Enter included
	Pause time.Duration
	Env   []string // environment of tmux; nil: that of this process
}

// ErrNoServer means that no tmux server runs there.
var ErrNoServer = errors.New("no tmux server runs")

// ErrNoPane means that the pane or window is not there any more.
var ErrNoPane = errors.New("the tmux pane is gone")

const (
	pause = 150 * time.Millisecond
	limit = 10 * time.Second // for one command: a server that is stopped answers nothing
)

// At returns the server that a process in one of its panes finds in its variable TMUX (socket,pid,session).
func At(env string) Server {
	socket, _, _ := strings.Cut(env, ",")
	return Server{Socket: socket}
}

// Pane is one pane of a server.
type Pane struct {
	ID      string // %3: unique as long as the server runs
	Session string // its name
	Window  string // @2: unique as long as the server runs
	Name    string // of its window, without our bell
	Command string // what runs in it now, the name of the program
	Dir     string // working directory of that
	PID     int    // of what was started in it
	Dead    bool   // it ended, and the pane shows what it left
	Status  int    // of one that ended: its exit code, 128 and the signal's number if one ended it, or Unknown
	Marked  bool   // with our bell
	Socket  string // of the server
}

// Unknown is the Status of a pane whose program runs, or whose end the server has not taken in.
const Unknown = -1

// Options of a window that we marked: what it was called, and whether tmux named it by itself.
const (
	nameOption = "@mycelium-name"
	autoOption = "@mycelium-auto"
	bell       = "🔔 "
)

// Panes lists every pane of every session.
//
// tmux 3.3a misses the end of a child now and then: the pane is dead, its program stays a zombie, and the exit code is unknown until
// another child of the server ends. Panes then lets the server run a child, so that it collects them all, and lists again.
func (s Server) Panes(ctx context.Context) ([]Pane, error) {
	panes, err := s.list(ctx)
	if err != nil || !slices.ContainsFunc(panes, func(p Pane) bool { return p.Dead && p.Status == Unknown }) {
		return panes, err
	}
	if _, err := s.run(ctx, "", "run-shell", "true"); err != nil {
		return nil, fmt.Errorf("list panes: %w", err)
	}
	return s.list(ctx)
}

func (s Server) list(ctx context.Context) ([]Pane, error) {
	sep := rand.Text() // names and folders may hold any character
	fields := []string{"#{pane_id}", "#{session_name}", "#{window_id}", "#{?#{" + nameOption + "},#{" + nameOption + "},#{window_name}}",
		"#{pane_current_command}", "#{pane_current_path}", "#{pane_pid}", "#{pane_dead}", "#{?#{pane_dead_signal},128,#{pane_dead_status}}",
		"#{pane_dead_signal}", "#{?#{" + nameOption + "},1,0}", "#{socket_path}"}
	out, err := s.run(ctx, "", "list-panes", "-a", "-F", sep+strings.Join(fields, sep)+sep)
	if err != nil {
		return nil, fmt.Errorf("list panes: %w", err)
	}
	var all []Pane
	cells := strings.Split(out, sep)
	for i := 1; i+len(fields) <= len(cells); i += len(fields) + 1 {
		f := cells[i : i+len(fields)]
		p := Pane{ID: f[0], Session: f[1], Window: f[2], Name: f[3], Command: f[4], Dir: f[5], Dead: f[7] == "1", Status: Unknown,
			Marked: f[10] == "1", Socket: f[11]}
		p.PID, _ = strconv.Atoi(f[6])
		if status, err := strconv.Atoi(f[8]); err == nil {
			signal, _ := strconv.Atoi(f[9])
			p.Status = status + signal
		}
		all = append(all, p)
	}
	return all, nil
}

// Type types a text into a pane and presses Enter. A text of several lines is pasted as one, so that no line of it is sent alone. Control
// characters other than line feed and tab are refused: they would be keys.
func (s Server) Type(ctx context.Context, pane, text string) error {
	text = strings.TrimRight(strings.ReplaceAll(text, "\r\n", "\n"), "\n")
	if i := strings.IndexFunc(text, func(r rune) bool { return unicode.IsControl(r) && r != '\n' && r != '\t' }); i >= 0 {
		return fmt.Errorf("type into pane %s: the text has a control character at byte %d", pane, i)
	}
	if err := s.there(ctx, pane); err != nil {
		return fmt.Errorf("type into pane %s: %w", pane, err)
	}
	var err error
	switch {
	case text == "":
	case strings.ContainsAny(text, "\n\t"):
		name := "mycelium-" + rand.Text()
		if _, err = s.run(ctx, text, "load-buffer", "-b", name, "-"); err == nil {
			_, err = s.run(ctx, "", "paste-buffer", "-p", "-d", "-b", name, "-t", pane)
		}
	default:
		_, err = s.run(ctx, "", "send-keys", "-t", pane, "-l", "--", literal(text))
	}
	if err != nil {
		return fmt.Errorf("type into pane %s: %w", pane, err)
	}
	wait := s.Pause
	if wait == 0 {
		wait = pause
	}
	t := time.NewTimer(wait)
	defer t.Stop()
	select {
	case <-ctx.Done():
		return fmt.Errorf("type into pane %s: the text is there, and Enter was not pressed: %w", pane, ctx.Err())
	case <-t.C:
	}
	if _, err := s.run(ctx, "", "send-keys", "-t", pane, "Enter"); err != nil {
		return fmt.Errorf("type into pane %s: press Enter: %w", pane, err)
	}
	return nil
}

// there tells whether something runs in the pane: tmux takes keys for a dead one without a word.
func (s Server) there(ctx context.Context, pane string) error {
	if !paneID(pane) {
		return fmt.Errorf("%q is not a pane", pane)
	}
	out, err := s.run(ctx, "", "display-message", "-p", "-t", pane, "#{pane_id} #{pane_dead}")
	if err != nil {
		return err
	}
	if id, dead, _ := strings.Cut(strings.TrimSpace(out), " "); id != pane || dead == "1" {
		return ErrNoPane
	}
	return nil
}

// Window says what to start.
type Window struct {
	Session string   // the session that it belongs to; it is made if it is missing
	Name    string   // of the window
	Dir     string   // working directory, absolute
	Command []string // program and arguments; they pass no shell
	Env     []string // NAME=value, besides the server's own
}

// Open starts a command in a new window and returns its pane. It starts the server, and the session, if there is none.
func (s Server) Open(ctx context.Context, w Window) (Pane, error) {
	const format = "#{pane_id} #{window_id}"
	args := []string{"new-window", "-d", "-P", "-F", format, "-t", "=" + w.Session + ":"}
	if _, err := s.run(ctx, "", "has-session", "-t", "="+w.Session); err != nil {
		args = []string{"new-session", "-d", "-P", "-F", format, "-s", w.Session}
	}
	args = append(args, "-n", literal(plain(w.Name)), "-c", literal(plain(w.Dir)))
	for _, e := range w.Env {
		args = append(args, "-e", literal(e))
	}
	// With one argument tmux would hand it to a shell.
	args = append(args, "--")
	if len(w.Command) == 1 {
		args = append(args, "/usr/bin/env", "--")
	}
	for _, a := range w.Command {
		args = append(args, literal(a))
	}
	out, err := s.run(ctx, "", args...)
	if err != nil {
		return Pane{}, fmt.Errorf("open window %s: %w", w.Name, err)
	}
	id, window, _ := strings.Cut(strings.TrimSpace(out), " ")
	if !paneID(id) {
		return Pane{}, fmt.Errorf("open window %s: tmux said %q", w.Name, out)
	}
	return Pane{ID: id, Session: w.Session, Window: window, Name: w.Name, Dir: w.Dir}, nil
}

// Mark puts a bell before the name of the pane's window, where every status line shows it. Marking twice is marking once.
func (s Server) Mark(ctx context.Context, pane string) error {
	if !paneID(pane) {
		return fmt.Errorf("mark the window of %q: it is not a pane", pane)
	}
	out, err := s.run(ctx, "", "display-message", "-p", "-t", pane, "#{pane_id} #{?#{"+nameOption+"},1,0} #{automatic-rename} #{window_name}")
	f := strings.SplitN(strings.TrimRight(out, "\n"), " ", 4)
	if err == nil && (len(f) != 4 || f[0] != pane) {
		err = ErrNoPane
	}
	if err != nil {
		return fmt.Errorf("mark the window of %s: %w", pane, err)
	}
	if f[1] == "1" {
		return nil
	}
	name := f[3]
	if name == "" {
		name = "agent"
	}
	for _, args := range [][]string{
		{"set-option", "-w", "-t", pane, autoOption, f[2]},
		{"set-option", "-w", "-t", pane, nameOption, literal(name)},
		{"rename-window", "-t", pane, "--", literal(plain(bell + name))},
	} {
		if _, err := s.run(ctx, "", args...); err != nil {
			return fmt.Errorf("mark the window of %s: %w", pane, err)
		}
	}
	return nil
}

// Clear takes the bell away and gives the window its name back; a window without it stays as it is.
func (s Server) Clear(ctx context.Context, pane string) error {
	if !paneID(pane) {
		return fmt.Errorf("clear the mark of %q: it is not a pane", pane)
	}
	out, err := s.run(ctx, "", "display-message", "-p", "-t", pane, "#{pane_id} #{"+autoOption+"} #{"+nameOption+"}")
	if err != nil {
		return fmt.Errorf("clear the mark of %s: %w", pane, err)
	}
	f := strings.SplitN(strings.TrimRight(out, "\n"), " ", 3)
	if len(f) != 3 || f[0] != pane || f[2] == "" {
		return nil
	}
	steps := [][]string{{"rename-window", "-t", pane, "--", literal(plain(f[2]))}}
	if f[1] == "1" { // renaming switched it off
		steps = append(steps, []string{"set-option", "-w", "-t", pane, "-u", "automatic-rename"})
	}
	steps = append(steps, []string{"set-option", "-w", "-t", pane, "-u", autoOption},
		[]string{"set-option", "-w", "-t", pane, "-u", nameOption})
	for _, args := range steps {
		if _, err := s.run(ctx, "", args...); err != nil {
			return fmt.Errorf("clear the mark of %s: %w", pane, err)
		}
	}
	return nil
}

// Screen is what a pane shows now, as text.
func (s Server) Screen(ctx context.Context, pane string) (string, error) {
	out, err := s.run(ctx, "", "capture-pane", "-p", "-t", pane)
	if err != nil {
		return "", fmt.Errorf("read pane %s: %w", pane, err)
	}
	return out, nil
}

// Kill ends the server and everything in it.
func (s Server) Kill(ctx context.Context) error {
	if _, err := s.run(ctx, "", "kill-server"); err != nil && !errors.Is(err, ErrNoServer) {
		return fmt.Errorf("end the tmux server: %w", err)
	}
	return nil
}

// run runs one tmux command. -u: names are UTF-8 whatever the environment says.
func (s Server) run(ctx context.Context, stdin string, args ...string) (string, error) {
	front := []string{"-u"}
	if s.Socket != "" {
		front = append(front, "-S", s.Socket)
	}
	if s.Config != "" {
		front = append(front, "-f", s.Config)
	}
	program := s.Program
	if program == "" {
		program = "tmux"
	}
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	c := exec.CommandContext(ctx, program, append(front, args...)...)
	c.Env = s.Env
	c.Stdin = strings.NewReader(stdin)
	var out, problem bytes.Buffer
	c.Stdout, c.Stderr = &out, &problem
	c.WaitDelay = time.Second // a server that was started here may hold the pipes
	err := c.Run()
	if err == nil || errors.Is(err, exec.ErrWaitDelay) {
		return out.String(), nil
	}
	if ctx.Err() != nil {
		return "", fmt.Errorf("tmux does not answer: %w", ctx.Err())
	}
	said := strings.TrimSpace(problem.String())
	switch {
	case strings.HasPrefix(said, "no server running"), strings.HasPrefix(said, "error connecting to"):
		return "", ErrNoServer
	case strings.HasPrefix(said, "can't find pane"), strings.HasPrefix(said, "can't find window"):
		return "", ErrNoPane
	case said != "":
		return "", errors.New(said)
	}
	return "", err
}

// literal keeps tmux from taking a semicolon at the end of an argument for the end of the command.
func literal(s string) string {
	if strings.HasSuffix(s, ";") {
		return s[:len(s)-1] + `\;`
	}
	return s
}

// plain keeps tmux from expanding a name: #(…) would run a command.
func plain(s string) string { return strings.ReplaceAll(s, "#", "##") }

// paneID reports whether a text is the id of a pane and nothing else: a target may also be a pattern or a command's option.
func paneID(s string) bool {
	n, ok := strings.CutPrefix(s, "%")
	return ok && n != "" && strings.Trim(n, "0123456789") == ""
}
