// Package tmux controls tmux through its command line: panes, keys, windows.
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

// Server is one tmux server. The zero value is the user's default server. Methods do not start a server unless they say so.
type Server struct {
	Socket  string   // path of its socket; empty: tmux's default
	Config  string   // its configuration file; empty: tmux's default
	Program string   // empty: tmux from PATH
	Env     []string // environment of tmux; nil: that of this process
}

// ErrNoServer means that no tmux server runs at the socket.
var ErrNoServer = errors.New("no tmux server runs")

// ErrNoPane means that the pane or window does not exist any more.
var ErrNoPane = errors.New("the tmux pane is gone")

// limit bounds one command: a stopped server never answers.
const limit = 10 * time.Second

// At returns the server from the variable TMUX (socket,pid,session) of a process in one of its panes.
func At(env string) Server {
	socket, _, _ := strings.Cut(env, ",")
	return Server{Socket: socket}
}

// Pane is one pane of a server.
type Pane struct {
	ID      string // %3: unique while the server runs
	Session string // its name
	Window  string // @2: unique while the server runs
	Name    string // of its window, without our mark
	Given   bool   // a person or a program gave that name: tmux has not made it of the running program
	Command string // name of the running program
	Dir     string // working directory of the program
	PID     int    // of the program that the pane started
	Dead    bool   // the program has exited, and the pane shows its last output
	Status  int    // exit code of a dead pane, or 128 plus the number of the signal, or Unknown
	Marked  bool   // has our mark
	Socket  string // of the server
	TTY     string // its terminal, /dev/pts/3
}

// Unknown is the Status of a pane whose program runs, or whose exit code the server does not know yet.
const Unknown = -1

// Options of a marked window: its former name, and whether tmux had chosen that name.
const (
	nameOption = "@mycelium-name"
	autoOption = "@mycelium-auto"
	bell       = "🔔 "
)

// Panes lists all panes of all sessions.
//
// tmux 3.3a sometimes misses the exit of a child: the pane is dead, its program stays a zombie, and the exit code is unknown until
// another child of the server exits. Panes then makes the server run a child, so that it collects all of them, and lists again.
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
	sep := rand.Text() // names and folders may contain any character
	fields := []string{"#{pane_id}", "#{session_name}", "#{window_id}", "#{?#{" + nameOption + "},#{" + nameOption + "},#{window_name}}",
		"#{pane_current_command}", "#{pane_current_path}", "#{pane_pid}", "#{pane_dead}", "#{?#{pane_dead_signal},128,#{pane_dead_status}}",
		"#{pane_dead_signal}", "#{?#{" + nameOption + "},1,0}", "#{socket_path}",
		"#{?#{" + nameOption + "},#{" + autoOption + "},#{automatic-rename}}", "#{pane_tty}"}
	out, err := s.run(ctx, "", "list-panes", "-a", "-F", sep+strings.Join(fields, sep)+sep)
	if err != nil {
		return nil, fmt.Errorf("list panes: %w", err)
	}
	var all []Pane
	cells := strings.Split(out, sep)
	for i := 1; i+len(fields) <= len(cells); i += len(fields) + 1 {
		f := cells[i : i+len(fields)]
		p := Pane{ID: f[0], Session: f[1], Window: f[2], Name: f[3], Command: f[4], Dir: f[5], Dead: f[7] == "1", Status: Unknown,
			Marked: f[10] == "1", Socket: f[11], Given: f[12] != "1", TTY: f[13]}
		p.PID, _ = strconv.Atoi(f[6])
		if status, err := strconv.Atoi(f[8]); err == nil {
			signal, _ := strconv.Atoi(f[9])
			p.Status = status + signal
		}
		all = append(all, p)
	}
	return all, nil
}

// GivenName returns the name that was given to the window of a pane; "" if tmux chose it, or does not answer.
func (s Server) GivenName(ctx context.Context, pane string) string {
	panes, err := s.list(ctx)
	if err != nil {
		return ""
	}
	for _, p := range panes {
		if p.ID == pane && p.Given {
			return p.Name
		}
	}
	return ""
}

// Paste puts a text into a pane as a bracketed paste, without Enter. Text that arrives as single keys would be taken as keys by a program
// that shows a menu. Control characters other than line feed and tab are an error, because they are keys too.
//
// Paste and Keys do not look at what the pane shows: package run/pane does, for everything that types for a person.
func (s Server) Paste(ctx context.Context, pane, text string) error {
	text = strings.TrimRight(strings.ReplaceAll(text, "\r\n", "\n"), "\n")
	if i := strings.IndexFunc(text, func(r rune) bool { return unicode.IsControl(r) && r != '\n' && r != '\t' }); i >= 0 {
		return fmt.Errorf("paste into pane %s: the text has a control character at byte %d", pane, i)
	}
	err := s.there(ctx, pane)
	name := "mycelium-" + rand.Text()
	if err == nil && text != "" {
		_, err = s.run(ctx, text, "load-buffer", "-b", name, "-", ";", "paste-buffer", "-p", "-d", "-b", name, "-t", pane)
	}
	if err != nil {
		return fmt.Errorf("paste into pane %s: %w", pane, err)
	}
	return nil
}

// Keys presses keys in a pane, by the names of tmux(1): Enter, Down, Tab, 1.
func (s Server) Keys(ctx context.Context, pane string, names ...string) error {
	err := s.there(ctx, pane)
	if err == nil {
		_, err = s.run(ctx, "", append([]string{"send-keys", "-t", pane, "--"}, names...)...)
	}
	if err != nil {
		return fmt.Errorf("press %s in pane %s: %w", strings.Join(names, " "), pane, err)
	}
	return nil
}

// there reports whether a program runs in the pane. tmux silently accepts keys for a dead pane.
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

// Window describes a window to open.
type Window struct {
	Session string   // its session, which is created if it is missing
	Name    string   // of the window
	Dir     string   // working directory, absolute
	Command []string // program and arguments, run without a shell
	Env     []string // NAME=value, in addition to the server's own
}

var (
	errServerEnded  = errors.New("the tmux server ended meanwhile")
	errSessionBegan = errors.New("the tmux session was made meanwhile")
	// passing are the errors of a window that is opened while a server or session ends or begins.
	passing = []error{errServerEnded, ErrNoServer, errNoSession, errSessionBegan}
)

// mostOpens is how often a window is opened again after its server or session ended just then.
const mostOpens = 10

// Open runs a command in a new window and returns its pane. It starts the server and the session if necessary. A server ends with its last
// window, and a session likewise, so it may end while a window is opened in it. Nothing of that window is left then, and it is opened again.
func (s Server) Open(ctx context.Context, w Window) (p Pane, err error) {
	for range mostOpens {
		p, err = s.open(ctx, w)
		if !slices.ContainsFunc(passing, func(e error) bool { return errors.Is(err, e) }) {
			break
		}
	}
	return p, err
}

func (s Server) open(ctx context.Context, w Window) (Pane, error) {
	const format = "#{pane_id} #{window_id}"
	args := []string{"new-window", "-d", "-P", "-F", format, "-t", "=" + w.Session + ":"}
	if _, err := s.run(ctx, "", "has-session", "-t", "="+w.Session); err != nil {
		args = []string{"new-session", "-d", "-P", "-F", format, "-s", w.Session}
	}
	args = append(args, "-n", literal(plain(w.Name)), "-c", literal(plain(w.Dir)))
	for _, e := range w.Env {
		args = append(args, "-e", literal(e))
	}
	// A single argument would be a command line for a shell.
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

// Mark puts a bell before the name of the pane's window, where every status line shows it. It does nothing if the window has the mark.
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

// Clear removes the bell and restores the name of the window. It does nothing if the window has no mark.
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
	if f[1] == "1" { // our renaming has switched it off
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

// Screen returns the text that a pane shows.
func (s Server) Screen(ctx context.Context, pane string) (string, error) {
	out, err := s.run(ctx, "", "capture-pane", "-p", "-t", pane)
	if err != nil {
		return "", fmt.Errorf("read pane %s: %w", pane, err)
	}
	return out, nil
}

// Kill ends the server and all its panes.
func (s Server) Kill(ctx context.Context) error {
	if _, err := s.run(ctx, "", "kill-server"); err != nil && !errors.Is(err, ErrNoServer) {
		return fmt.Errorf("end the tmux server: %w", err)
	}
	return nil
}

// run runs one tmux command. -u makes names UTF-8 in any environment.
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
	c.WaitDelay = time.Second // a server started here may hold the pipes
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
	case strings.HasPrefix(said, "can't find session"):
		return "", errNoSession
	case strings.HasPrefix(said, "server exited unexpectedly"), strings.HasPrefix(said, "lost server"):
		return "", errServerEnded
	case strings.HasPrefix(said, "duplicate session"):
		return "", errSessionBegan
	case said != "":
		return "", errors.New(said)
	}
	return "", err
}

// literal escapes a semicolon at the end of an argument, which would end the command.
func literal(s string) string {
	if strings.HasSuffix(s, ";") {
		return s[:len(s)-1] + `\;`
	}
	return s
}

// plain escapes a name, which tmux would expand: #(…) runs a command.
func plain(s string) string { return strings.ReplaceAll(s, "#", "##") }

// paneID reports whether a text is the id of a pane. A target may also be a pattern or an option.
func paneID(s string) bool {
	n, ok := strings.CutPrefix(s, "%")
	return ok && n != "" && strings.Trim(n, "0123456789") == ""
}
