package proxy

import (
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httputil"
	"net/url"
	"slices"
	"strings"
	"sync"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"mycelium/internal/registry"
)

// Registries are what a command may fetch packages from. The proxy opens their TLS, as that of hosts with a mask, and lets pass only GET and
// HEAD of a known form, for packages that are locked, that were given by a person, and for the dependencies of these. The proxy writes the
// requests itself: see [Proxy.fetch].
type Registries struct {
	Open     []registry.Registry
	Packages []string // that a person gave, as [registry.ParsePackage] reads them
	// Locked returns the packages of the lock files that count. It is called once, when a registry is asked first.
	Locked func() *registry.Locked
}

// place is where a registry lies.
type place struct {
	registry registry.Registry
	host     Host
	below    string // the path of the registry on its host; empty: the whole host
}

// registries is what the proxy makes of [Registries].
type registries struct {
	places []place
	given  []registry.Package
	locked func() *registry.Locked

	mu      sync.Mutex
	indexes map[string]func() index // by address: see once
	needed  registry.Locked         // the dependencies that answers of registries list
}

// has reports whether a package is in a lock file, or a dependency.
func (r *registries) has(k registry.Kind, name string) bool {
	if r.locked().Has(k, name) {
		return true
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.needed.Has(k, name)
}

// hasVersion is as has, of a version or a file.
func (r *registries) hasVersion(k registry.Kind, a registry.Asked, url string) bool {
	if r.locked().HasVersion(k, a, url) {
		return true
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.needed.HasVersion(k, a, url)
}

// learn reads the dependencies that an answer of a registry lists, and passes the answer on as it came. It reads first, because the command
// asks for a dependency as soon as it has the answer. An answer longer than mostIndex is passed on unread.
func (r *registries) learn(answer *http.Response, k registry.Kind, a registry.Asked) error {
	if !k.Tells(a) || answer.StatusCode != http.StatusOK {
		return nil
	}
	data, err := io.ReadAll(io.LimitReader(answer.Body, mostIndex))
	if err != nil {
		return err
	}
	text := data
	if answer.Header.Get("Content-Encoding") == "gzip" {
		if z, err := gzip.NewReader(bytes.NewReader(data)); err == nil {
			text, _ = io.ReadAll(io.LimitReader(z, mostIndex)) // a part of an index adds nothing
		}
	}
	r.mu.Lock()
	r.needed.Learn(k, a, text)
	r.mu.Unlock()
	answer.Body = &read{io.MultiReader(bytes.NewReader(data), answer.Body), answer.Body}
	return nil
}

// read is a body of which a part was read already.
type read struct {
	io.Reader
	io.Closer
}

// index is the index of a package, or a file beside one.
type index struct {
	text []byte
	page *url.URL
	err  error
}

// mostIndex bounds the index of a package, in bytes. The largest ones of npm have 50 MB.
const mostIndex = 64 << 20

func (p *Proxy) addRegistries(r Registries) error {
	p.registries.indexes = map[string]func() index{}
	locked := r.Locked
	if locked == nil {
		locked = func() *registry.Locked { return &registry.Locked{} }
	}
	p.registries.locked = sync.OnceValue(locked)
	for _, one := range r.Open {
		for _, s := range one.Hosts {
			name, below := registry.Place(s)
			h, err := ParseHost(name)
			if err != nil {
				return fmt.Errorf("the registry %s: %w", one.Name, err)
			}
			if h.port == 0 {
				h.port = httpsPort
			}
			p.registries.places = append(p.registries.places, place{one, h, below})
		}
	}
	for _, s := range r.Packages {
		one, err := registry.ParsePackage(s)
		if err != nil {
			return err
		}
		p.registries.given = append(p.registries.given, one)
	}
	return nil
}

// isRegistry reports whether a host is that of a registry, and is not open as a whole.
func (p *Proxy) isRegistry(t target) bool {
	return slices.ContainsFunc(p.registries.places, func(at place) bool { return at.host.matches(t) }) &&
		!slices.ContainsFunc(p.hosts[:p.named], func(h Host) bool { return h.matches(t) })
}

// fetch answers a request to a registry. Of the request only what [registry.Kind.Read] understood leaves, written anew; the headers are the
// proxy's own, because a cookie, a User-Agent, an ETag or an Authorization carry what one likes, and PyPI publishes the first three words of
// every User-Agent.
func (p *Proxy) fetch(w http.ResponseWriter, r *http.Request, t target) {
	at, asked, err := p.asked(r, t)
	var refusal *Refusal
	if errors.As(err, &refusal) && at.registry.Like == registry.NPM { // npm shows nothing but such an answer
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(http.StatusForbidden)
		_ = json.MarshalWrite(w, map[string]string{"error": p.words(refusal)}, jsontext.AllowInvalidUTF8(true))
		return
	}
	if err != nil {
		p.say(w, err)
		return
	}
	p.beside(r.Context(), at, asked, t)
	to := &httputil.ReverseProxy{
		Transport: p.transport, FlushInterval: -1, ErrorLog: quiet(),
		Rewrite: func(pr *httputil.ProxyRequest) {
			pr.Out.URL, pr.Out.Host, pr.Out.Body, pr.Out.ContentLength = at.url(t, asked.Path), t.header("https"), nil, 0
			pr.Out.Header = p.headers(r.Header, at, t)
		},
		ModifyResponse: func(answer *http.Response) error {
			if err := hide(answer, p.masksFor(t, "https")); err != nil {
				return err
			}
			return p.registries.learn(answer, at.registry.Like, asked)
		},
		ErrorHandler: func(w http.ResponseWriter, _ *http.Request, err error) { p.say(w, err) },
	}
	to.ServeHTTP(w, r)
}

// url is the address of a path of the registry on one of its hosts.
func (at place) url(t target, path string) *url.URL {
	u, err := url.Parse("https://" + t.header("https") + at.below + path)
	if err != nil { // no part of a path that this program writes can do that
		return &url.URL{Scheme: "https", Host: t.header("https")}
	}
	return u
}

// headers are those of a request to a registry.
func (p *Proxy) headers(from http.Header, at place, t target) http.Header {
	h := http.Header{"Accept": {at.registry.Like.Accept(from.Values("Accept"))}, "User-Agent": {"mycelium"}}
	if slices.ContainsFunc(from.Values("Accept-Encoding"), func(s string) bool { return strings.Contains(s, "gzip") }) {
		h.Set("Accept-Encoding", "gzip")
	}
	for _, m := range p.masksFor(t, "https") {
		if from.Get("Authorization") == "Bearer "+m.placeholder {
			h.Set("Authorization", "Bearer "+m.value)
			h.Del("Accept-Encoding")
		}
	}
	return h
}

// asked decides whether a request may leave. The error is a [*Refusal], or says that the registry cannot be asked.
func (p *Proxy) asked(r *http.Request, t target) (at place, a registry.Asked, err error) {
	host := t.String()
	switch {
	case r.Method != http.MethodGet && r.Method != http.MethodHead:
		return at, a, p.refuse(host, "only packages are fetched from a registry, and "+r.Method+" sends something to it")
	case r.ContentLength != 0 || len(r.TransferEncoding) > 0:
		return at, a, p.refuse(host, "only packages are fetched from a registry, and the request has a body")
	}
	at, a, ok := p.form(r.RequestURI, t)
	if !ok {
		return at, a, p.refuse(host, "only packages are fetched from a registry, and "+at.registry.Name+" fetches none by such a path")
	}
	if a.Package == "" {
		return at, a, nil
	}
	name, like := at.registry.Name, at.registry.Like
	given := func(version string) bool {
		return slices.Contains(p.registries.given, registry.Package{Registry: name, Name: a.Package, Version: version})
	}
	switch {
	case given(a.Version) && !a.ByURL, p.registries.has(like, a.Package) && a.Version == "" && !a.ByURL,
		p.registries.hasVersion(like, a, at.url(t, a.Path).String()):
		return at, a, nil
	case !p.registries.has(like, a.Package) && !given(""):
		why := fmt.Sprintf("package %s of %s is in no lock file at HEAD", a.Package, t.name)
		for _, problem := range p.registries.locked().Problems() {
			why += "; " + problem
		}
		return at, a, p.note(Refusal{Host: host, Why: why, Nameable: true, Package: registry.Package{Registry: name, Name: a.Package}.String()})
	}
	listed, err := p.listed(r.Context(), at, a, t)
	switch {
	case err != nil:
		return at, a, err
	case listed:
		return at, a, nil
	case a.ByURL:
		return at, a, p.refuse(host, fmt.Sprintf("package %s of %s has no such file", a.Package, t.name))
	}
	return at, a, p.note(Refusal{Host: host, Nameable: true,
		Why:     fmt.Sprintf("version %s of package %s is in no lock file at HEAD, and %s does not list it", a.Version, a.Package, t.name),
		Package: registry.Package{Registry: name, Name: a.Package, Version: a.Version}.String()})
}

// form finds the registry of a request, and reads it. One host can have several registries, below paths of their own.
func (p *Proxy) form(target string, t target) (at place, a registry.Asked, ok bool) {
	for _, at = range p.registries.places {
		rest, below := strings.CutPrefix(target, at.below)
		if !at.host.matches(t) || !below {
			continue
		}
		known := func(name string) bool {
			return p.registries.has(at.registry.Like, name) ||
				slices.ContainsFunc(p.registries.given, func(g registry.Package) bool { return g.Registry == at.registry.Name && g.Name == name })
		}
		if a, err := at.registry.Like.Read(rest, known); err == nil {
			return at, a, true
		}
	}
	return at, a, false
}

// listed reports whether the index of a package has what is asked for. The index is at the first host of the registry.
func (p *Proxy) listed(ctx context.Context, at place, a registry.Asked, t target) (bool, error) {
	like := at.registry.Like
	i := slices.IndexFunc(p.registries.places, func(o place) bool { return o.registry.Same(at.registry) })
	first := p.registries.places[i]
	host := target{first.host.name, first.host.addr, first.host.port}
	found := p.once(ctx, first, first.url(host, like.Index(a.Package)), host)
	if found.err != nil {
		return false, fmt.Errorf("the index of %s cannot be read at %s: %w", a.Package, host.name, found.err)
	}
	return like.Lists(found.text, found.page, a, at.url(t, a.Path).String()), nil
}

// beside reads the dependencies of a package from a file that the command does not ask for. Where there is no such file, a person is asked
// about each dependency.
func (p *Proxy) beside(ctx context.Context, at place, a registry.Asked, t target) {
	path := at.registry.Like.Beside(a)
	if path == "" {
		return
	}
	if found := p.once(ctx, at, at.url(t, path), t); found.err == nil {
		a.Path = path
		p.registries.mu.Lock()
		defer p.registries.mu.Unlock()
		p.registries.needed.Learn(at.registry.Like, a, found.text)
	}
}

// once fetches a page of a registry once.
func (p *Proxy) once(ctx context.Context, at place, page *url.URL, t target) index {
	p.registries.mu.Lock()
	get, ok := p.registries.indexes[page.String()]
	if !ok {
		get = sync.OnceValue(func() index { return p.index(context.WithoutCancel(ctx), at, t, page) })
		p.registries.indexes[page.String()] = get
	}
	p.registries.mu.Unlock()
	return get()
}

// index fetches the index of a package, or a file beside one.
func (p *Proxy) index(ctx context.Context, at place, t target, page *url.URL) index {
	ctx, cancel := context.WithTimeout(ctx, headerTime)
	defer cancel()
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, page.String(), http.NoBody) //nolint:gosec // the host is that of a registry
	if err != nil {
		return index{err: err}
	}
	r.Header = p.headers(http.Header{"Accept": {at.registry.Like.Accept([]string{"application/json application/vnd.pypi.simple.v1+json"})}}, at, t)
	answer, err := p.transport.RoundTrip(r)
	if err != nil {
		return index{err: err}
	}
	defer answer.Body.Close()
	if answer.StatusCode != http.StatusOK {
		return index{err: fmt.Errorf("it answers %s", answer.Status)}
	}
	data, err := io.ReadAll(io.LimitReader(answer.Body, mostIndex))
	return index{data, page, err}
}
