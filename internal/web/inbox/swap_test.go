package inbox

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"sync"
	"testing"

	"mycelium/internal/approval"
	"mycelium/internal/op/rest"
	"mycelium/internal/policy"
	"mycelium/internal/web/device"
	"mycelium/internal/web/site"
	"mycelium/internal/web/webtest"
	"mycelium/internal/web/webtest/browser"
)

// changing is an inbox that changes while an answer to it is under way: a call arrives, the open page is told so, and the answer is sent
// when the page has shown the new list.
type changing struct {
	room
	events, shown chan struct{}

	mu    sync.Mutex // guards what follows
	next  int        // the number of the call that arrives next
	cards []card
	said  []string // the answers, as ID ANSWER
}

// arrive adds a call to the list. The lock is held.
func (c *changing) arrive() {
	c.next++
	q := approval.Request{ID: fmt.Sprintf("r-%d", c.next), Kind: approval.Call, Tool: "files__list_directory", Digest: "digest", Risk: policy.Low,
		Args: []byte(`{"path":"."}`)}
	c.cards = append(c.cards, cardOf(c.Root.Of("/p"), q))
}

func (c *changing) list(w http.ResponseWriter, r *http.Request) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.showInbox(w, r, http.StatusOK, device.Device{ID: "d-test"}, waitingList{Cards: c.cards, Running: 1})
}

func (c *changing) answer(w http.ResponseWriter, r *http.Request) {
	id, said := r.PathValue("id"), r.PostFormValue("answer")
	c.mu.Lock()
	c.arrive()
	c.mu.Unlock()
	c.events <- struct{}{}
	<-c.shown
	c.mu.Lock()
	defer c.mu.Unlock()
	c.said = append(c.said, id+" "+said)
	c.cards = slices.DeleteFunc(c.cards, func(one card) bool { return one.ID == id })
	c.showInbox(w, r, http.StatusOK, device.Device{ID: "d-test"}, waitingList{Cards: c.cards, Running: 1, Decided: "answered " + id})
}

func (c *changing) stream(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Content-Type", "text/event-stream")
	control := http.NewResponseController(w)
	for {
		if control.Flush() != nil {
			return
		}
		select {
		case <-r.Context().Done():
			return
		case <-c.events:
			_, _ = fmt.Fprint(w, "event: inbox\ndata: p r\n\n") // a browser that has gone reads nothing
		}
	}
}

// press allows the first call, the one with a number, waits until the answer is shown, and says what is wrong then.
const press = `(async () => {
	const after = new Promise((done) => document.addEventListener("htmx:afterSettle", function hear(e) {
		if (e.target.id === "main" && e.detail.requestConfig.verb === "post") {
			document.removeEventListener("htmx:afterSettle", hear);
			setTimeout(done); // when presses are taken again
		}
	}));
	const n = %d;
	document.querySelector(".card form button[value=once]").click();
	await after;
	if (document.querySelector("main main, #main header.bar, #view #view, main title")) {
		return "after answer " + n + " the page stands inside itself";
	}
	const done = document.querySelector(".done");
	return done && done.textContent.includes("answered r-" + n + ".") ? "" : "answer " + n + " is not shown: " + document.getElementById("main").innerText;
})()`

// TestAnswerWhileTheListChanges answers 200 calls in a page whose list is replaced while each answer is under way. The answer replaces the
// list; the page never stands inside itself, and each answer is of the call that was pressed.
func TestAnswerWhileTheListChanges(t *testing.T) {
	t.Parallel()
	const answers = 200
	c := &changing{room: room{webtest.Site(t, Room())}, events: make(chan struct{}), shown: make(chan struct{})}
	c.arrive()
	c.arrive()
	m := http.NewServeMux()
	m.HandleFunc("GET /assets/{name}", site.Asset)
	m.HandleFunc("GET /inbox", c.list)
	m.HandleFunc("GET /inbox/count", func(http.ResponseWriter, *http.Request) {})
	m.HandleFunc("GET /push", func(w http.ResponseWriter, _ *http.Request) { rest.JSON(w, map[string]bool{"on": false}) })
	m.HandleFunc("GET /sw.js", func(w http.ResponseWriter, _ *http.Request) { w.Header().Set("Content-Type", "text/javascript") })
	m.HandleFunc("GET /events", c.stream)
	m.HandleFunc("POST /inbox/{project}/{id}", c.answer)
	m.HandleFunc("POST /shown", func(http.ResponseWriter, *http.Request) { c.shown <- struct{}{} })
	server := httptest.NewServer(m)
	t.Cleanup(server.Close)
	b := browser.Open(t, server.URL)
	// The page tells when it has shown the list that an event asked for, and takes presses without waiting after cards have moved.
	b.First(`const later = setTimeout;
		window.setTimeout = (f, ms, ...more) => later(f, ms === 700 ? 0 : ms, ...more);
		document.addEventListener("htmx:afterSettle", (e) => {
			if (e.target.id === "main" && e.detail.requestConfig.verb === "get") { fetch("/shown", { method: "POST" }); }
		});`)
	b.Visit("/inbox")
	for n := 1; n <= answers; n++ {
		if said := browser.Eval[string](b, fmt.Sprintf(press, n)); said != "" {
			t.Fatal(said)
		}
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.said) != answers {
		t.Errorf("%d answers arrived, want %d", len(c.said), answers)
	}
	for i, said := range c.said {
		if want := fmt.Sprintf("r-%d once", i+1); said != want {
			t.Errorf("answer %d is %q, want %q", i+1, said, want)
		}
	}
}
