package push

import (
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/go-json-experiment/json"

	"mycelium/internal/approval"
	"mycelium/internal/credential"
	"mycelium/internal/policy"
	"mycelium/internal/state"
	"mycelium/internal/web/device"
	"mycelium/internal/web/signature"
	"mycelium/internal/web/site"
	"mycelium/internal/web/webtest"
)

// world is the room with a push service on this machine and one device.
type world struct {
	*room
	t       *testing.T
	service *webtest.PushService
	d       device.Device
	project state.Paths
	sending sync.WaitGroup
	now     time.Time
	routes  map[string]site.Handler
}

func newWorld(t *testing.T) *world {
	t.Helper()
	w := &world{t: t, service: webtest.NewPushService(t), routes: map[string]site.Handler{}}
	w.now = time.Now()
	s, err := site.New(site.Options{Root: state.Root(t.TempDir()), PushHosts: []string{w.service.Host},
		Now: func() time.Time { return w.now }}, nil)
	if err != nil {
		t.Fatal(err)
	}
	w.room = newRoom()
	for _, r := range w.room.routes(s) {
		w.routes[r.Pattern] = r.Serve
	}
	w.project = s.Root.Of("/home/me/shop")
	w.d = w.signIn()
	t.Cleanup(w.sending.Wait)
	return w
}

// signIn signs a device in.
func (w *world) signIn() device.Device {
	w.t.Helper()
	link, err := w.devices.NewLink("127.0.0.1:1")
	if err != nil {
		w.t.Fatal(err)
	}
	_, public, err := signature.NewPrivate()
	if err != nil {
		w.t.Fatal(err)
	}
	d, err := w.devices.SignIn("127.0.0.1:1", link, "Chrome on Linux", public)
	if err != nil {
		w.t.Fatal(err)
	}
	return d
}

// post sends JSON to a route as a device.
func (w *world) post(path string, d device.Device, body string) (int, string) {
	out := httptest.NewRecorder()
	w.routes["POST "+path](out, httptest.NewRequest(http.MethodPost, path, strings.NewReader(body)), d)
	return out.Code, out.Body.String()
}

// subscribe subscribes a device.
func (w *world) subscribe(d device.Device) *webtest.PushBrowser {
	w.t.Helper()
	k, err := w.vapid()
	if err != nil {
		w.t.Fatal(err)
	}
	b, err := w.service.Subscribe(k.Public)
	if err != nil {
		w.t.Fatal(err)
	}
	if code, said := w.post("/push/subscribe", d, b.JSON()); code != http.StatusNoContent {
		w.t.Fatal(code, said)
	}
	return b
}

// request is a call that waits.
func (w *world) request(id string, change func(r *approval.Request)) approval.Request {
	r := approval.Request{ID: id, Kind: approval.Call, State: approval.Pending, Risk: policy.High, Tool: "agent__Bash",
		Label: "claude in shop", Digest: "digest-" + id, Created: w.now, Deadline: w.now.Add(5 * time.Minute),
		Facts: policy.Facts{Parts: []policy.Part{{Program: "git", Hosts: []string{"github.com"}}}}}
	if change != nil {
		change(&r)
	}
	return r
}

func (w *world) see(r approval.Request) { w.sees(w.t.Context(), &w.sending, w.project, r) }

func got(t *testing.T, b *webtest.PushBrowser) (content, webtest.Pushed) {
	t.Helper()
	select {
	case m := <-b.Got:
		var c content
		if err := json.Unmarshal(m.Text, &c, json.RejectUnknownMembers(true)); err != nil {
			t.Fatalf("%v: %s", err, m.Text)
		}
		return c, m
	case <-t.Context().Done():
		t.Fatal("no message came")
	}
	return content{}, webtest.Pushed{}
}

// TestPushMessage: a device is told of risk, program and target once; the push service sees none of it, and gets the time of the request;
// the end of a request takes the place of its notification.
func TestPushMessage(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	b := w.subscribe(w.d)
	r := w.request("r1", nil)
	w.see(r)
	c, m := got(t, b)
	if c.Kind != "waits" || c.Title != "high risk: git" || !strings.Contains(c.Body, "github.com") ||
		!strings.Contains(c.Body, "claude in shop") || c.Ticket == "" || c.Yes != "Approve" || c.No != "Deny" ||
		c.Until != r.Deadline.UnixMilli() {
		t.Errorf("%+v", c)
	}
	if m.TTL < 299 || m.TTL > 301 || m.Urgency != "high" || m.Topic == "" {
		t.Errorf("TTL %d, urgency %q, topic %q", m.TTL, m.Urgency, m.Topic)
	}
	for _, s := range []string{"high risk: git", "claude in shop", c.Ticket, c.Tag} { // long ones: three letters come about by chance
		if strings.Contains(string(m.Raw), s) || strings.Contains(m.Topic, s) {
			t.Errorf("the push service can read %q", s)
		}
	}
	r.Waiting = 2
	w.see(r) // it has changed: nobody is told again
	r.State, r.Answer = approval.Denied, &approval.Answer{By: "ann", Via: "terminal"}
	w.see(r)
	end, last := got(t, b)
	if end.Kind != "settled" || end.Tag != c.Tag || last.Topic != m.Topic || end.Title != "Denied: git" ||
		end.Body != "By ann" || end.Ticket != "" {
		t.Errorf("%+v", end)
	}
	w.see(r)
	w.see(w.request("r2", nil))
	if c, _ := got(t, b); !strings.HasSuffix(c.Tag, "/r2") {
		t.Errorf("the next message is of %s", c.Tag)
	}
}

// TestPushButtons: what is critical, and what needs words, has no buttons and no ticket.
func TestPushButtons(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	b := w.subscribe(w.d)
	for i, c := range []struct {
		change func(r *approval.Request)
		yes    string
	}{
		{func(r *approval.Request) { r.Risk = policy.Critical }, ""},
		{func(r *approval.Request) { r.Kind, r.Questions = approval.Question, []approval.Asked{{Text: "Which?"}} }, ""},
		{func(r *approval.Request) { r.Kind, r.Risk = approval.Stop, "" }, "Go on"},
		{func(r *approval.Request) { r.Risk = policy.Low }, "Approve"},
	} {
		w.see(w.request(fmt.Sprint("r", i), c.change))
		m, _ := got(t, b)
		if m.Yes != c.yes || (m.Ticket != "") != (c.yes != "") || !strings.HasPrefix(m.URL, "/inbox#card-") {
			t.Errorf("%d: %+v", i, m)
		}
	}
}

// TestPushSaysNothingSecret: secrets are masked wherever they stand, arguments are not sent, and what nobody sees stands as its number.
func TestPushSaysNothingSecret(t *testing.T) {
	t.Parallel()
	const secret = "ghp_0123456789abcdefghijABCDEFGHIJ012345"
	if credential.Mask(secret) == secret {
		t.Fatal("this is no secret: is the test wrong?")
	}
	p := state.Root(t.TempDir()).Of("/home/" + secret + "/" + secret)
	x := secret + "\u202e\n\x1b"
	for _, kind := range []approval.Kind{approval.Call, approval.Stop, approval.Question} {
		for _, tool := range []string{"", x} {
			r := approval.Request{ID: "r", Kind: kind, State: approval.Pending, Risk: policy.High, Digest: "d", Tool: tool,
				Label: x, Dir: x, Session: x, Args: []byte(`{"command":"argument"}`), Text: x, Thinking: x, Reason: x}
			if tool != "" {
				r.Facts.Parts = []policy.Part{{Program: x, Argv: []string{x}, Hosts: []string{x},
					Paths: []policy.Path{{Access: policy.Write, Raw: x}}}}
			}
			r2 := r
			r2.State, r2.Answer = approval.Denied, &approval.Answer{By: x, Via: x, Reason: x}
			for _, c := range []content{waits(site.Name(p), "k", r), settled("k", r2)} {
				for _, s := range []string{c.Title, c.Body, c.Tag, c.URL} {
					if strings.Contains(s, secret) || strings.Contains(s, "argument") || strings.ContainsAny(s, "\u202e\x1b") {
						t.Errorf("%s %s: %q", c.Kind, kind, s)
					}
				}
				if n := len(c.Title) + len(c.Body); n > 2500 {
					t.Errorf("%d bytes", n)
				}
			}
		}
	}
}

// TestPushTicket: a ticket is good once, for its device, until the request ends; only its digest is kept.
func TestPushTicket(t *testing.T) {
	t.Parallel()
	now := time.Now()
	l := tickets{now: func() time.Time { return now }}
	issue := func(device string) (string, ticket) {
		tk := ticket{project: "p", id: "r", digest: "d", device: device, until: now.Add(time.Minute)}
		return l.issue(tk), tk
	}
	secret, want := issue("d-1")
	if strings.Contains(fmt.Sprint(l.open), secret) {
		t.Error("the secret is kept")
	}
	for what, try := range map[string]func() (ticket, bool){
		"another device": func() (ticket, bool) { return l.use(secret, "d-2") },
		"another secret": func() (ticket, bool) { return l.use(secret+"x", "d-1") },
		"no secret":      func() (ticket, bool) { return l.use("", "d-1") },
	} {
		if _, ok := try(); ok {
			t.Errorf("%s: it is good", what)
		}
	}
	if got, ok := l.use(secret, "d-1"); !ok || got != want {
		t.Errorf("%+v %v", got, ok)
	}
	if _, ok := l.use(secret, "d-1"); ok {
		t.Error("it is good twice")
	}
	for what, end := range map[string]func(){
		"a later ticket":   func() { issue("d-1") },
		"the end":          func() { l.settle("p/r") },
		"a revoked device": func() { l.dropDevice("d-1") },
		"its time":         func() { now = now.Add(time.Minute) },
	} {
		secret, _ := issue("d-1")
		end()
		if _, ok := l.use(secret, "d-1"); ok {
			t.Errorf("after %s it is good", what)
		}
	}
}

// TestPushAddresses: only an address of the public internet over TLS takes messages, with keys that are some.
func TestPushAddresses(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	b := w.subscribe(w.d)
	for endpoint, want := range map[string]int{
		b.Endpoint: http.StatusNoContent, "https://fcm.googleapis.com/fcm/send/x": http.StatusNoContent,
		"http://fcm.googleapis.com/x": 400, "https://127.0.0.1/x": 400, "https://10.0.0.1/x": 400, "https://[::1]/x": 400,
		"https://169.254.169.254/x": 400,
		"https://[fd00::1]/x":       400, "http://127.0.0.1:1/x": 400, "https://user@example.com/x": 400,
		"file:///etc/passwd": 400, "": 400,
		"https://[::ffff:10.0.0.1]/x": 400, "https://example.com/" + strings.Repeat("x", maxEndpoint): 400,
	} {
		body := strings.Replace(b.JSON(), b.Endpoint, endpoint, 1)
		if code, said := w.post("/push/subscribe", w.d, body); code != want {
			t.Errorf("%s: %d %s", endpoint, code, said)
		}
	}
	for _, body := range []string{"", "{}", strings.Replace(b.JSON(), b.Auth, "short", 1), strings.Replace(b.JSON(), b.P256dh, b.Auth, 1),
		strings.Replace(b.JSON(), "}}", `},"more":1}`, 1)} {
		if code, _ := w.post("/push/subscribe", w.d, body); code != 400 {
			t.Errorf("%s: %d", body, code)
		}
	}
	w.NoPush = true
	if code, _ := w.post("/push/subscribe", w.d, b.JSON()); code != http.StatusForbidden {
		t.Errorf("with web.push off: %d", code)
	}
}

// TestPushPrivateName: a name that leads into this network is refused when the connection is made.
func TestPushPrivateName(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	b := w.subscribe(w.d)
	to := &device.Push{Endpoint: "https://localhost:1/x", P256dh: b.P256dh, Auth: b.Auth}
	m := message{content: waits("shop", "k", w.request("r1", nil)), key: "k/r1", until: w.now.Add(time.Minute)}
	if _, err := w.room.post(t.Context(), to, m, []byte("{}")); err == nil || !strings.Contains(err.Error(), "public internet") {
		t.Errorf("localhost: %v", err)
	}
}

// TestPushEnds: a browser that is gone is told nothing more; so is a device that is revoked, and its address is not kept; a service that is
// busy is asked again.
func TestPushEnds(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	b, other := w.subscribe(w.d), w.signIn()
	w.service.AnswerNext(http.StatusServiceUnavailable)
	w.see(w.request("r1", nil))
	if c, _ := got(t, b); c.Ticket == "" {
		t.Errorf("%+v", c)
	}
	b.End()
	if err := w.send(t.Context(), w.d.ID, w.message("r1")); !errors.Is(err, errGone) {
		t.Errorf("a browser that is gone: %v", err)
	}
	if len(w.subscribed()) != 0 {
		t.Error("it is kept")
	}
	c := w.subscribe(other)
	kept := filepath.Join(w.Root.Pages(), "devices.json")
	if b, err := os.ReadFile(kept); err != nil || !strings.Contains(string(b), c.Endpoint) {
		t.Fatalf("%s %v", b, err)
	}
	if err := w.devices.Revoke(other.ID); err != nil {
		t.Fatal(err)
	}
	if b, err := os.ReadFile(kept); err != nil || strings.Contains(string(b), c.Endpoint) {
		t.Errorf("%s %v", b, err)
	}
	if err := w.send(t.Context(), other.ID, w.message("r1")); err != nil || len(c.Got) > 0 {
		t.Errorf("a revoked device: %v, %d messages", err, len(c.Got))
	}
	if len(other.Shown().Digest) != 0 {
		t.Error("a device shows its digest")
	}
}

func (w *world) message(id string) message {
	r := w.request(id, nil)
	return message{content: waits("shop", site.Key(w.project), r), key: site.Key(w.project) + "/" + id, until: r.Deadline}
}

// TestPushKeys: the keys are made once, for this user only, and a file that holds none is not replaced.
func TestPushKeys(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "pages")
	var all sync.WaitGroup
	made := make([]keys, 8)
	for i := range made {
		all.Go(func() {
			k, err := openKeys(dir)
			if err != nil {
				t.Error(err)
			}
			made[i] = k
		})
	}
	all.Wait()
	for _, k := range made {
		if k != made[0] || k.Private == "" {
			t.Errorf("%d kinds of keys", len(made))
		}
	}
	file := filepath.Join(dir, "vapid.json")
	if st, err := os.Stat(file); err != nil || st.Mode().Perm() != 0o600 {
		t.Errorf("%v %v", st, err)
	}
	if err := os.WriteFile(file, []byte("{}"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := openKeys(dir); err == nil {
		t.Error("keys that are none are taken")
	}
}
