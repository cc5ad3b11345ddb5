package web

import (
	"fmt"
	"net/http"
	"strings"
	"time"

	"mycelium/internal/web/device"
	"mycelium/internal/web/feed"
)

// The times of a stream of events.
const (
	heartbeat   = 15 * time.Second // a quiet stream is given up after 30 s or more by what stands in between
	writeWithin = 10 * time.Second // a reader that takes longer to take a few bytes has gone
)

// events streams what changes: "inbox PROJECT REQUEST", "work PROJECT", "node PROJECT", what the rooms publish, and "resync" where events
// were lost. An event names what changed and shows nothing of it. The stream ends when its device is revoked. For programs, at
// /api/events, it begins with "connected".
func (s *Server) events(w http.ResponseWriter, r *http.Request, d device.Device) {
	defer s.watching()()
	last := r.Header.Get("Last-Event-ID")
	if last == "" {
		last = r.URL.Query().Get("after") // the newest event when the page was made
	}
	reader := s.site.Feed.Read(last)
	defer reader.Close()
	control := http.NewResponseController(w)
	w.Header().Set("Content-Type", "text/event-stream")
	w.Header().Set("X-Accel-Buffering", "no")
	send := func(format string, values ...any) bool {
		_ = control.SetWriteDeadline(time.Now().Add(writeWithin))
		_, err := fmt.Fprintf(w, format, values...)
		return err == nil && control.Flush() == nil
	}
	const resync = "event: resync\nid: %s\ndata: look at everything anew\n\n"
	ok := send("retry: 1000\n: events of the pages\n\n")
	if ok && strings.HasPrefix(r.URL.Path, "/api/") {
		ok = send("event: connected\nid: %s\ndata: connected\n\n", s.site.Feed.Last())
	}
	if ok && reader.Behind {
		ok = send(resync, s.site.Feed.Last())
	}
	alive := time.NewTicker(heartbeat)
	defer alive.Stop()
	for ok {
		var e feed.Event
		open := true
		select {
		case <-r.Context().Done():
			return
		case <-s.ended.Done():
			return
		case e, open = <-reader.Events:
		case <-alive.C:
		}
		switch {
		case !s.stillIn(d):
			return // signed out, or revoked
		case !open:
			send(resync, s.site.Feed.Last())
			return
		case e.Kind == "":
			ok = send("event: heartbeat\ndata: alive\n\n")
		default:
			ok = send("event: %s\nid: %s\ndata: %s\n\n", e.Kind, e.ID, e.Data)
		}
	}
}
