package swarm

import (
	"cmp"
	"net/http"
	"strconv"
	"strings"
	"time"

	"mycelium/internal/state"
	"mycelium/internal/swarm/book"
	"mycelium/internal/swarm/review"
	"mycelium/internal/swarm/schedule"
	"mycelium/internal/swarm/stats"
	"mycelium/internal/swarm/view"
	"mycelium/internal/text"
	"mycelium/internal/web/device"
	"mycelium/internal/web/site"
)

// sessionPage is the session of a project.
type sessionPage struct {
	Name, Dir, Here     string
	ID, State, Branch   string
	Task, Driver        string
	Open, Paused        bool
	Began, Ended        time.Time
	Problem             string
	Notes               []string // what a person should know
	Landed, Total       int
	Counts              []count
	Graph               graph
	Features            []featureCard
	Workers             []workerCard
	Reviews             []reviewCard
	Overall             string
	Queue               []queued
	Figures             []figure
	Log                 []logLine
	Terminals, Act, All string // addresses
}

// count is how many features stand in one way.
type count struct {
	State, Words string
	N            int
}

// featureCard is a feature with what came of it.
type featureCard struct {
	ID, Href, Terminal  string
	Description, Reason string
	State, Stands       string
	Deps                []string
	Worker              string // what its worker does now; "": none is at work
	Sure                string // its confidence, in words
	Attempts            int
	Cost                string
	Commit              string
}

// workerCard is a worker at work.
type workerCard struct {
	Name, Terminal string
	Doing          string
	Verdict, Level string
	Score          int
	Attempt        int
	Cost           string
	Began          time.Time
}

// reviewCard is a review with its findings.
type reviewCard struct {
	Type, Label, Terminal string
	State, Result, Class  string
	Summary, Reason       string
	Issues                []issue
	Advice, Notes         []string
	Cost                  string
}

// issue is one thing that a reviewer found.
type issue struct {
	Index                                         int
	Severity, Category, Where, Message, Suggested string
	Feature                                       string // that mends it
}

// queued is work in the merge queue.
type queued struct{ Feature, What, Commit string }

// figure is one line of the statistics.
type figure struct{ Name, Value string }

// logLine is one thing that happened.
type logLine struct {
	At          time.Time
	Kind, About string
	Text        string
}

// session shows the session of a project.
func (s *room) session(w http.ResponseWriter, r *http.Request, d device.Device) {
	s.showSession(w, r, http.StatusOK, d, "")
}

// showSession shows the session of a project, with why an act was not done.
func (s *room) showSession(w http.ResponseWriter, r *http.Request, status int, d device.Device, problem string) {
	s.with(w, r, "", func(o *opened, of *book.Session) {
		eye := view.Eye{Book: o.Book, ID: of.ID}
		seen, err := eye.Look(r.Context(), "", s.Now())
		if err != nil {
			s.Fail(w, http.StatusInternalServerError, err)
			return
		}
		page := pageOf(o.paths, seen, s.Now())
		page.Problem = problem
		s.Show(w, r, status, "swarm", d, site.Page{Title: "Swarm of " + page.Name, Here: "/swarm", Self: page.Here,
			Live: "sse:swarm, sse:resync", Files: []string{"swarm.css"}, Body: page})
	})
}

// pageOf returns what a page shows of a session.
func pageOf(p state.Paths, seen view.Seen, now time.Time) sessionPage {
	of := seen.Session
	out := sessionPage{Name: site.Name(p), Dir: text.OneLine(p.Project), Here: addressOf(p), ID: of.ID, State: of.State.Words(),
		Branch: text.OneLine(strings.TrimPrefix(of.Branch, "refs/heads/")), Task: text.Visible(of.Task), Driver: text.OneLine(seen.Driver),
		Open: of.Open(), Paused: of.State == book.Paused, Began: of.Began, Ended: of.Ended, Total: len(of.Features),
		Terminals: addressOf(p, "terminals"), Act: addressOf(p, "act"), All: "/swarm", Overall: string(of.Overall())}
	out.Notes = notesOf(of, seen.Driver, now)
	out.Counts, out.Landed = countsOf(of)
	working := map[string]view.Worker{}
	for _, w := range seen.Workers {
		working[w.Feature] = w
		out.Workers = append(out.Workers, workerOf(p, w))
	}
	for _, f := range of.Features {
		out.Features = append(out.Features, featureOf(p, of, f, working))
	}
	out.Graph = graphOf(p, of)
	out.Reviews = reviewsOf(p, of)
	out.Queue = queueOf(of)
	out.Figures = figuresOf(stats.Of(of, now))
	for i := len(seen.Events) - 1; i >= 0; i-- { // the newest first
		out.Log = append(out.Log, logOf(seen.Events[i]))
	}
	return out
}

// notesOf is what a person should know of a session.
func notesOf(of *book.Session, driver string, now time.Time) (out []string) {
	if l := of.Limited(of.Settings.Runner, now); l != nil {
		out = append(out, "Workers wait for a limit of the provider until "+l.Until.UTC().Format("15:04:05 UTC")+": "+text.Flatten(l.Why))
	}
	if u := of.Unsandboxed; u != nil {
		out = append(out, "Workers run without the sandbox, by "+text.OneLine(u.By)+", record "+u.Record)
	}
	if of.GivenUp && of.Open() {
		out = append(out, "The session is given up: myc swarm reset ends it")
	}
	if driver == "" && of.Open() && of.State != book.Paused {
		out = append(out, "Nobody drives this session: myc swarm start has it driven")
	}
	return out
}

// countsOf counts the features by how they stand.
func countsOf(of *book.Session) (out []count, landed int) {
	words := map[book.State]string{book.Completed: "landed", book.Queued: "in the queue", book.Going: "at work",
		book.Waiting: "waiting for you", book.Failed: "failed", book.Pending: "not begun", book.Designing: "being planned"}
	n := map[book.State]int{}
	for _, f := range of.Features {
		n[f.State]++
	}
	for _, s := range []book.State{book.Completed, book.Queued, book.Going, book.Designing, book.Waiting, book.Failed, book.Pending} {
		if n[s] > 0 {
			out = append(out, count{string(s), words[s], n[s]})
		}
	}
	return out, n[book.Completed]
}

// short is a commit as people write it.
func short(commit string) string { return text.OneLine(commit[:min(len(commit), 12)]) }

func workerOf(p state.Paths, w view.Worker) workerCard {
	return workerCard{Name: text.OneLine(w.Feature), Terminal: addressOf(p, "workers", w.Feature), Doing: text.OneLine(w.Doing),
		Verdict: string(w.Verdict), Level: string(w.Level), Score: w.Score, Attempt: w.Attempt, Cost: dollars(w.Cost), Began: w.Began}
}

// featureOf returns what a page shows of a feature.
func featureOf(p state.Paths, of *book.Session, f *book.Feature, working map[string]view.Worker) featureCard {
	cost := f.Planning.Spent()
	for _, a := range f.Attempts {
		cost += a.Cost
	}
	out := featureCard{ID: text.OneLine(f.ID), Href: addressOf(p, "features", f.ID), Description: text.Flatten(f.Description),
		State: string(f.State), Stands: of.Stands(f), Attempts: len(f.Attempts), Commit: short(f.Commit)}
	for _, id := range f.DependsOn {
		out.Deps = append(out.Deps, text.OneLine(id))
	}
	if w, on := working[f.ID]; on {
		cost += w.Fresh
		out.Worker, out.Sure = text.OneLine(w.Doing), strconv.Itoa(w.Score)+" of 100, "+string(w.Verdict)
	}
	if f.State != book.Completed && f.Live() == nil {
		out.Reason = text.Flatten(f.Reason)
	}
	if len(f.Attempts) > 0 {
		out.Terminal = addressOf(p, "workers", f.ID)
	}
	out.Cost = dollars(cost)
	return out
}

// reviewsOf returns the last reviews of a session with what they found.
func reviewsOf(p state.Paths, of *book.Session) (out []reviewCard) {
	found, _ := review.Issues(of, review.Choice{Min: book.Info}) // an error is that there are none
	for _, r := range review.Last(of).Reviews {
		c := reviewCard{Type: r.Type, Label: review.Label(r.Type), State: r.State.Words(), Result: review.Result(r),
			Reason: text.Flatten(r.Reason), Cost: dollars(r.Cost)}
		if r.Folder != "" {
			c.Terminal = addressOf(p, "workers", c.Label)
		}
		if f := r.Findings; f != nil {
			c.Summary, c.Class = text.Visible(f.Summary), string(f.Severity)
			for _, a := range f.Recommendations {
				c.Advice = append(c.Advice, text.Flatten(a))
			}
		}
		for _, n := range r.Notes {
			c.Notes = append(c.Notes, text.OneLine(n))
		}
		for _, i := range found {
			if i.Type == r.Type {
				c.Issues = append(c.Issues, issueOf(i))
			}
		}
		out = append(out, c)
	}
	return out
}

func issueOf(i review.Found) issue {
	where := i.File
	if where != "" && i.Line > 0 {
		where += ":" + strconv.Itoa(i.Line)
	}
	return issue{Index: i.Index, Severity: string(i.Severity), Category: text.OneLine(i.Category), Where: text.OneLine(where),
		Message: text.Flatten(i.Message), Suggested: text.Flatten(i.Suggestion), Feature: text.OneLine(i.Feature)}
}

// queueOf is what waits to land, in the order of the plan.
func queueOf(of *book.Session) (out []queued) {
	for _, f := range of.Features {
		switch {
		case of.Landing != nil && of.Landing.Commits[f.ID] != "":
			out = append(out, queued{text.OneLine(f.ID), "is landing", short(of.Landing.Commits[f.ID])})
		case f.Taking != nil && f.Taking.Again:
			out = append(out, queued{text.OneLine(f.ID), "is to land again", short(f.Taking.Commit)})
		case f.Taking != nil:
			out = append(out, queued{text.OneLine(f.ID), "is to be taken back", short(f.Taking.Commit)})
		case f.State == book.Queued:
			tip := ""
			if a := f.Last(); a != nil {
				tip = a.Tip
			}
			out = append(out, queued{text.OneLine(f.ID), "waits to be verified and merged", short(tip)})
		}
	}
	return out
}

// figuresOf are the figures of a session, in words.
func figuresOf(f stats.Stats) []figure {
	long := func(seconds float64) string { return schedule.Short(time.Duration(seconds * float64(time.Second))) }
	out := []figure{{"Elapsed", long(f.Elapsed)},
		{"Landed", strconv.Itoa(f.Landed) + " of " + strconv.Itoa(f.Features) + ", " + strconv.Itoa(f.Failed) + " failed"}}
	if f.Landed+f.Failed > 0 {
		out = append(out, figure{"Success", strconv.FormatFloat(f.Success, 'f', 0, 64) + " %"})
	}
	if f.Fastest != nil {
		out = append(out, figure{"A feature took", long(f.Average) + " on average"},
			figure{"Fastest", text.OneLine(f.Fastest.Feature) + ", " + long(f.Fastest.Seconds)},
			figure{"Slowest", text.OneLine(f.Slowest.Feature) + ", " + long(f.Slowest.Seconds)})
	}
	w := f.Workers
	out = append(out, figure{"Workers", strconv.Itoa(w.Running) + " at work, " + strconv.Itoa(w.Completed) + " completed, " +
		strconv.Itoa(w.Crashed) + " failed, " + strconv.Itoa(w.Stopped) + " stopped"},
		figure{"Attempts", strconv.Itoa(f.Attempts.Total) + ", " + strconv.FormatFloat(f.Attempts.Average, 'f', 1, 64) + " on average, " +
			strconv.Itoa(f.Attempts.Max) + " at most"})
	var most []string
	for _, m := range f.Most {
		most = append(most, text.OneLine(m.Feature)+" "+strconv.Itoa(m.Attempts))
	}
	if len(most) > 0 {
		out = append(out, figure{"Most attempts", strings.Join(most, ", ")})
	}
	return append(out, figure{"Cost", dollars(f.Cost)})
}

func logOf(e book.Event) logLine {
	about := text.OneLine(e.Feature)
	if e.Attempt > 1 {
		about += " #" + strconv.Itoa(e.Attempt)
	}
	return logLine{At: e.At, Kind: cmp.Or(text.OneLine(e.Kind), "event"), About: about, Text: text.Flatten(e.Text)}
}
