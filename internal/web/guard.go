package web

import (
	"errors"
	"net/http"
	"strconv"
	"strings"
	"time"

	"mycelium/internal/text"
	"mycelium/internal/web/device"
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
		if from.secure && r.TLS == nil { // what asks whether a form is of this site compares its origin with the name of the browser
			r = r.Clone(r.Context())
			r.Host = from.host
		}
		next.ServeHTTP(w, r)
	})
}

// cookieName is the name of the cookie. Cookies ignore ports, so the port is part of the name: other programs of this machine, and a
// second server, have cookies of their own. Where nobody on the way can set cookies, the name begins with what keeps other names and
// unsafe connections from setting it.
func (s *Server) cookieName(from asked) string {
	if from.secure {
		return "__Host-mycelium-pages-" + s.port
	}
	return "mycelium-pages-" + s.port
}

// signedIn refuses a request without the cookie of a device: a page leads to the sign-in, anything else is told 401.
func (s *Server) signedIn(next site.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		d, err := s.who(r)
		switch {
		case err == nil:
			next(w, r, d)
		case !errors.Is(err, device.ErrCookie):
			s.site.Fail(w, http.StatusInternalServerError, err)
		case r.Header.Get("HX-Request") != "": // a part of a page that is open: the whole page goes to the sign-in
			w.Header().Set("HX-Redirect", "/sign-in")
			http.Error(w, err.Error(), http.StatusUnauthorized)
		case r.Method == http.MethodGet && !isAPI(r) && r.URL.Path != "/events":
			http.Redirect(w, r, "/sign-in", http.StatusSeeOther)
		case isAPI(r):
			site.Problem(w, http.StatusUnauthorized, text.Hinted(err, "myc web prints a link on a terminal"))
		default:
			http.Error(w, err.Error()+": myc web prints a link on a terminal", http.StatusUnauthorized)
		}
	})
}

// who is the device that sent a request.
func (s *Server) who(r *http.Request) (device.Device, error) {
	from, err := s.came(r)
	if err != nil {
		return device.Device{}, device.ErrCookie
	}
	found := r.CookiesNamed(s.cookieName(from))
	if len(found) != 1 {
		return device.Device{}, device.ErrCookie
	}
	return s.devices.Who(found[0].Value)
}

// signInForm is what the page of the sign-in shows.
type signInForm struct {
	Link    string // the secret, in a field of the form; "" if the address had none
	Problem string
}

// signInPage asks whether to sign this browser in. It uses nothing up, so that a program which looks at links before a person opens them
// does not.
func (s *Server) signInPage(w http.ResponseWriter, r *http.Request) {
	s.site.Write(w, http.StatusOK, "sign-in", site.Page{Title: "Sign in", Body: signInForm{Link: r.URL.Query().Get("link")}})
}

// pairPage is the sign-in of a link that a phone read from a picture: the secret stands in capitals in the path, because a picture of
// capitals is smaller. What follows it is the fingerprint of the certificate, for people and programs that compare it.
func (s *Server) pairPage(w http.ResponseWriter, r *http.Request) {
	secret, _, _ := strings.Cut(r.PathValue("link"), "/")
	s.site.Write(w, http.StatusOK, "sign-in", site.Page{Title: "Sign in", Body: signInForm{Link: secret}})
}

func (s *Server) signIn(w http.ResponseWriter, r *http.Request) {
	now := s.site.Now()
	from, err := s.came(r)
	if err != nil {
		http.Error(w, err.Error(), http.StatusForbidden)
		return
	}
	if wait := s.attempts.Wait(from.peer, now); wait > 0 {
		w.Header().Set("Retry-After", seconds(wait))
		s.refuseSignIn(w, http.StatusTooManyRequests, "Too many sign-ins have failed. Wait "+seconds(wait)+" seconds, and use a new link then.")
		return
	}
	r.Body = http.MaxBytesReader(w, r.Body, site.MaxForm)
	d, cookie, err := s.devices.SignIn(s.addr, r.PostFormValue("link"), browserOf(r.UserAgent()))
	switch {
	case errors.Is(err, device.ErrLink):
		s.attempts.Fail(from.peer, now)
		_ = s.note(r, "browser sign-in refused", device.Device{}, from) // it is refused in any case
		s.refuseSignIn(w, http.StatusForbidden, "This link is not good any more: a link is good once, and for one minute.")
		return
	case err != nil:
		s.refuseSignIn(w, http.StatusInternalServerError, text.Visible(text.Describe(err)))
		return
	}
	if err := s.note(r, "browser sign-in", d, from); err != nil {
		_ = s.devices.Revoke(d.ID) // what is not recorded is not done
		s.refuseSignIn(w, http.StatusServiceUnavailable, text.Visible(text.Describe(err)))
		return
	}
	http.SetCookie(w, s.cookie(from, cookie, int(device.Life.Seconds())))
	http.Redirect(w, r, "/inbox", http.StatusSeeOther)
}

func (s *Server) refuseSignIn(w http.ResponseWriter, status int, problem string) {
	s.site.Write(w, status, "sign-in", site.Page{Title: "Sign in", Body: signInForm{Problem: problem}})
}

// cookie is the cookie of a device. It is Secure, unless the browser is on this machine and there is no TLS. seconds below 0 remove it.
func (s *Server) cookie(from asked, value string, seconds int) *http.Cookie {
	//nolint:gosec // without TLS there is no Secure, and then the browser is on this machine
	return &http.Cookie{Name: s.cookieName(from), Value: value, Path: "/", MaxAge: seconds, HttpOnly: true, Secure: from.secure,
		SameSite: http.SameSiteStrictMode}
}

func (s *Server) signOut(w http.ResponseWriter, r *http.Request, d device.Device) {
	if err := s.devices.Revoke(d.ID); err != nil && !errors.Is(err, device.ErrUnknown) {
		s.site.Fail(w, http.StatusInternalServerError, err)
		return
	}
	from, _ := s.came(r)                       // guarded has asked it
	_ = s.note(r, "browser sign-out", d, from) // signing out is always possible
	http.SetCookie(w, s.cookie(from, "", -1))
	http.Redirect(w, r, "/sign-in", http.StatusSeeOther)
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
