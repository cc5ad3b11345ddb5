package web

import (
	"bytes"
	"errors"
	"io"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/go-json-experiment/json"

	"mycelium/internal/op/rest"
	"mycelium/internal/rawjson"
	"mycelium/internal/text"
	"mycelium/internal/web/device"
	"mycelium/internal/web/signature"
	"mycelium/internal/web/site"
)

// security are the headers of every response. A page loads from this server only, runs no code and no style that stands in it, is framed
// by nobody, and tells other sites nothing. The referrer policy is not no-referrer, because a browser then sends "Origin: null" with the
// forms of our own pages, which could not be told from those of a stranger.
var security = [...][2]string{
	{"Content-Security-Policy", "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self'; " +
		"worker-src 'self'; manifest-src 'self'; form-action 'self'; frame-ancestors 'none'; base-uri 'none'"},
	{"X-Content-Type-Options", "nosniff"},
	{"X-Frame-Options", "DENY"},
	{"Referrer-Policy", "same-origin"},
	{"Cache-Control", "no-store"},
	{"Cross-Origin-Opener-Policy", "same-origin"},
	{"Cross-Origin-Resource-Policy", "same-origin"},
	{"Permissions-Policy", "camera=(), geolocation=(), microphone=()"},
}

// guarded sets these headers, and refuses what comes under another name than ours or from the page of another site.
func (s *Server) guarded(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		for _, h := range security {
			w.Header().Set(h[0], h[1])
		}
		from, err := s.came(r)
		ok := err == nil && len(r.Header.Values("Origin")) < 2
		if origin := r.Header.Get("Origin"); origin != "" {
			ok = ok && strings.EqualFold(origin, from.origin())
		}
		if site := r.Header.Get("Sec-Fetch-Site"); site == "cross-site" && r.Method != http.MethodGet {
			ok = false
		}
		if !ok {
			why := "this Host or Origin may not be used here: open " + s.Note().Base + "/"
			if err != nil && !errors.Is(err, errName) {
				why = err.Error()
			}
			http.Error(w, why, http.StatusForbidden)
			return
		}
		if kind := r.Header.Get("Service-Worker"); kind != "" && r.URL.Path != "/sw.js" {
			http.Error(w, "the worker of the pages is /sw.js, and there is no other", http.StatusForbidden)
			return
		}
		w.Header().Set(signature.RunHeader, s.checker.Run)
		s.forgetCookies(w, r)
		if from.secure && r.TLS == nil { // what asks whether a form is of this site compares its origin with the name of the browser
			r = r.Clone(r.Context())
			r.Host = from.host
		}
		next.ServeHTTP(w, r)
	})
}

// forgetCookies has a browser forget the cookie that signed it in before there were keys. It is never read.
func (s *Server) forgetCookies(w http.ResponseWriter, r *http.Request) {
	for _, name := range []string{"mycelium-pages-" + s.port, "__Host-mycelium-pages-" + s.port} {
		if _, err := r.Cookie(name); err == nil {
			//nolint:gosec // it has no value
			http.SetCookie(w, &http.Cookie{Name: name, Path: "/", MaxAge: -1, HttpOnly: true, Secure: strings.HasPrefix(name, "__Host-"),
				SameSite: http.SameSiteStrictMode})
		}
	}
}

// maxBody bounds what a request sends, in bytes. Rooms have bounds of their own below it.
const maxBody = 5 << 20

// signedIn refuses a request that is not signed with the key of a device. Whoever goes to a page gets its shell, in which nothing of a
// person stands; anything else is told 401.
func (s *Server) signedIn(next site.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !signature.Signed(r) && navigates(r) {
			s.shell(w, r)
			return
		}
		d, err := s.who(r)
		if err == nil {
			err = signature.Body(w, r, maxBody)
		}
		var refused *signature.Refused
		var tooLarge *http.MaxBytesError
		switch {
		case err == nil:
			next(w, r, d)
			return
		case errors.As(err, &tooLarge):
			http.Error(w, "the request is too large", http.StatusRequestEntityTooLarge)
			return
		case errors.As(err, &refused):
			w.Header().Set(signature.RefusedHeader, refused.Why)
		case !errors.Is(err, device.ErrOut):
			s.site.Fail(w, http.StatusInternalServerError, err)
			return
		}
		switch {
		case r.Header.Get("HX-Request") == "":
		case refused != nil && refused.Why != "":
			w.Header().Set("HX-Refresh", "true") // the page learns of which run the server is, and what time it has
		default:
			w.Header().Set("HX-Redirect", "/sign-in")
		}
		if isAPI(r) {
			rest.Fail(w, http.StatusUnauthorized, text.Hinted(err, "docs/pages.md says how programs sign; myc web request does it"))
			return
		}
		http.Error(w, err.Error()+".", http.StatusUnauthorized)
	})
}

// navigates reports whether a browser goes to a page with a request.
func navigates(r *http.Request) bool {
	if r.Method != http.MethodGet || isAPI(r) {
		return false
	}
	mode := r.Header.Get("Sec-Fetch-Mode")
	return mode == "navigate" || mode == "" && strings.Contains(r.Header.Get("Accept"), "text/html")
}

// who is the device that signed a request. What a page of another site has asked for is nobody's, whatever it is signed with.
func (s *Server) who(r *http.Request) (device.Device, error) {
	from, err := s.came(r)
	if err != nil {
		return device.Device{}, err
	}
	if site := r.Header.Get("Sec-Fetch-Site"); site != "" && site != "same-origin" {
		return device.Device{}, errSite
	}
	id, err := s.checker.Check(r, from.origin()+r.URL.RequestURI())
	if err != nil {
		return device.Device{}, err
	}
	d, err := s.devices.Find(id)
	if err == nil {
		err = s.devices.Saw(d)
	}
	return d, err
}

// errSite means that a page of another site asked for something.
var errSite = &signature.Refused{Text: "this request comes from another site"}

// stillIn reports whether a device is signed in.
func (s *Server) stillIn(d device.Device) bool {
	now, err := s.devices.Find(d.ID)
	return err == nil && bytes.Equal(now.Key, d.Key)
}

// shellBody is what the shell of a page needs to sign.
type shellBody struct {
	Run string // of the server
	Now int64  // its time, in milliseconds since 1970
}

// shell sends what stands in every page before there is one. It shows nothing of a person: its scripts ask for the page with the key of the
// browser, or sign it in. The secret of a link stands in the fragment or the path of the address, where the scripts find it; only they send
// it, when a person presses the button, so that a program which looks at links does not use one up.
func (s *Server) shell(w http.ResponseWriter, _ *http.Request) {
	s.site.Write(w, http.StatusOK, "shell", site.Page{Title: "Sign in", Files: []string{"sign.js", "shell.js"},
		Body: shellBody{Run: s.checker.Run, Now: s.site.Now().UnixMilli()}})
}

// maxSignIn bounds what a sign-in sends, in bytes.
const maxSignIn = 4 << 10

// signIn takes the public key of a browser for that of a device of the person, by a link.
func (s *Server) signIn(w http.ResponseWriter, r *http.Request) {
	now := s.site.Now()
	from, err := s.came(r)
	if err != nil {
		http.Error(w, err.Error(), http.StatusForbidden)
		return
	}
	if wait := s.attempts.Wait(from.peer, now); wait > 0 {
		w.Header().Set("Retry-After", seconds(wait))
		http.Error(w, "Too many sign-ins have failed. Wait "+seconds(wait)+" seconds, and use a new link then.", http.StatusTooManyRequests)
		return
	}
	var said struct {
		Link string `json:"link"`
		Key  []byte `json:"key"`
	}
	b, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxSignIn))
	if err == nil {
		err = rawjson.Decode(b, &said, json.RejectUnknownMembers(true))
	}
	if err == nil {
		_, err = signature.Public(said.Key)
	}
	if err != nil || r.Header.Get("Content-Type") != "application/json" { // no form of another site can send this
		http.Error(w, "a sign-in sends a link and a public key, as JSON", http.StatusBadRequest)
		return
	}
	d, err := s.devices.SignIn(s.addr, said.Link, browserOf(r.UserAgent()), said.Key)
	switch {
	case errors.Is(err, device.ErrLink):
		s.attempts.Fail(from.peer, now)
		_ = s.note(r, "browser sign-in refused", device.Device{}, from) // it is refused in any case
		http.Error(w, "This link is not good any more: a link is good once, and for one minute.", http.StatusForbidden)
		return
	case err != nil:
		http.Error(w, text.Visible(text.Describe(err)), http.StatusInternalServerError)
		return
	}
	if err := s.note(r, "browser sign-in", d, from); err != nil {
		_ = s.devices.Revoke(d.ID) // what is not recorded is not done
		http.Error(w, text.Visible(text.Describe(err)), http.StatusServiceUnavailable)
		return
	}
	rest.JSON(w, map[string]string{"device": d.ID})
}

func (s *Server) signOut(w http.ResponseWriter, r *http.Request, d device.Device) {
	if err := s.devices.Revoke(d.ID); err != nil && !errors.Is(err, device.ErrUnknown) {
		s.site.Fail(w, http.StatusInternalServerError, err)
		return
	}
	from, _ := s.came(r)                       // guarded has asked it
	_ = s.note(r, "browser sign-out", d, from) // signing out is always possible
	site.SeeOther(w, r, "/sign-in")
}

// browserOf returns what people call the browser that sends this User-Agent: "Firefox on Linux".
func browserOf(agent string) string {
	find := func(table [][2]string, other string) string {
		for _, row := range table {
			if strings.Contains(agent, row[0]) {
				return row[1]
			}
		}
		return other
	}
	browser := find([][2]string{{"Edg/", "Edge"}, {"Firefox/", "Firefox"}, {"Chrome/", "Chrome"}, {"Safari/", "Safari"}}, "a browser")
	system := find([][2]string{{"Android", "Android"}, {"iPhone", "iPhone"}, {"iPad", "iPad"}, {"Windows", "Windows"}, {"Mac OS", "macOS"},
		{"Linux", "Linux"}}, "")
	if system == "" {
		return browser
	}
	return browser + " on " + system
}

// seconds is a duration in whole seconds, rounded up.
func seconds(d time.Duration) string { return strconv.Itoa(int((d + time.Second - 1) / time.Second)) }
