package webtest

import (
	"bytes"
	"crypto/aes"
	"crypto/cipher"
	"crypto/ecdh"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/hkdf"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math/big"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/go-json-experiment/json"
)

// PushService is a push service on this machine: it speaks the protocol of RFC 8030, takes messages of the server whose key the browser
// named only (RFC 8292), and cannot read them. The browsers that subscribe to it can (RFC 8291).
type PushService struct {
	URL  string
	Host string // HOST:PORT

	mu      sync.Mutex // guards what follows
	objects map[string]*PushBrowser
	refused []string
	answer  []int // the status of the next messages, instead of taking them
}

// PushBrowser is a browser that has subscribed.
type PushBrowser struct {
	Endpoint string
	P256dh   string
	Auth     string
	Got      chan Pushed

	service *PushService
	server  string // the public key of the server that may send, base64url
	private *ecdh.PrivateKey
	secret  []byte
}

// Pushed is a message as the browser reads it.
type Pushed struct {
	Text    []byte
	TTL     int
	Topic   string
	Urgency string
	Raw     []byte // as the push service sees it
}

// NewPushService starts a push service, which ends with the test. What it refuses fails the test, unless [PushService.Refused] is asked.
func NewPushService(t *testing.T) *PushService {
	t.Helper()
	s := &PushService{objects: map[string]*PushBrowser{}}
	server := httptest.NewServer(http.HandlerFunc(s.take))
	s.URL, s.Host = server.URL, strings.TrimPrefix(server.URL, "http://")
	t.Cleanup(func() {
		server.Close()
		for _, why := range s.Refused() {
			t.Errorf("the push service refused a message: %s", why)
		}
	})
	return s
}

// Refused returns why messages were refused, and forgets it.
func (s *PushService) Refused() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	out := s.refused
	s.refused = nil
	return out
}

// AnswerNext has the next messages answered with these statuses instead of being taken.
func (s *PushService) AnswerNext(statuses ...int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.answer = append(s.answer, statuses...)
}

// Subscribe makes a subscription of a browser for the server with this public key.
func (s *PushService) Subscribe(server string) (*PushBrowser, error) {
	private, err := ecdh.P256().GenerateKey(rand.Reader)
	if err != nil {
		return nil, err
	}
	b := &PushBrowser{service: s, server: server, private: private, secret: make([]byte, 16), Got: make(chan Pushed, 64)}
	_, _ = rand.Read(b.secret) // it never fails
	b.P256dh, b.Auth = encode(private.PublicKey().Bytes()), encode(b.secret)
	path := "/push/" + rand.Text()
	b.Endpoint = s.URL + path
	s.mu.Lock()
	defer s.mu.Unlock()
	s.objects[path] = b
	return b, nil
}

// JSON is the subscription as a browser writes it.
func (b *PushBrowser) JSON() string {
	return fmt.Sprintf(`{"endpoint":%q,"expirationTime":null,"keys":{"p256dh":%q,"auth":%q}}`, b.Endpoint, b.P256dh, b.Auth)
}

// End unsubscribes the browser: the service says of its endpoint that it is gone.
func (b *PushBrowser) End() {
	b.service.mu.Lock()
	defer b.service.mu.Unlock()
	b.service.objects[strings.TrimPrefix(b.Endpoint, b.service.URL)] = nil
}

// take takes a message for a browser.
func (s *PushService) take(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	b, known := s.objects[r.URL.Path]
	status := 0
	if len(s.answer) > 0 {
		status, s.answer = s.answer[0], s.answer[1:]
	}
	s.mu.Unlock()
	switch {
	case status != 0:
		w.WriteHeader(status)
		return
	case known && b == nil:
		w.WriteHeader(http.StatusGone)
		return
	case !known:
		w.WriteHeader(http.StatusNotFound)
		return
	}
	m, err := b.read(r)
	if err != nil {
		s.mu.Lock()
		s.refused = append(s.refused, err.Error())
		s.mu.Unlock()
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	w.Header().Set("Location", s.URL+"/message/"+rand.Text())
	w.WriteHeader(http.StatusCreated)
	b.Got <- m
}

// read checks a message as a push service does, and decrypts it as a browser does.
func (b *PushBrowser) read(r *http.Request) (m Pushed, err error) {
	if r.Method != http.MethodPost || r.Header.Get("Content-Encoding") != "aes128gcm" {
		return m, fmt.Errorf("%s with the encoding %q", r.Method, r.Header.Get("Content-Encoding"))
	}
	if m.TTL, err = strconv.Atoi(r.Header.Get("TTL")); err != nil || m.TTL < 0 {
		return m, fmt.Errorf("the TTL %q (RFC 8030, 5.2)", r.Header.Get("TTL"))
	}
	m.Topic, m.Urgency = r.Header.Get("Topic"), r.Header.Get("Urgency")
	if len(m.Topic) > 32 || strings.Trim(m.Topic, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_") != "" {
		return m, fmt.Errorf("the topic %q (RFC 8030, 5.4)", m.Topic)
	}
	if err := b.vapid(r.Header.Get("Authorization")); err != nil {
		return m, err
	}
	if m.Raw, err = io.ReadAll(r.Body); err != nil {
		return m, err
	}
	if len(m.Raw) > 4096 {
		return m, fmt.Errorf("%d bytes: a push service need not take more than 4096", len(m.Raw))
	}
	m.Text, err = b.decrypt(m.Raw)
	return m, err
}

// vapid checks that the server which the browser named signed for this push service (RFC 8292).
func (b *PushBrowser) vapid(header string) error {
	scheme, rest, _ := strings.Cut(header, " ")
	part := map[string]string{}
	for p := range strings.SplitSeq(rest, ",") {
		name, value, _ := strings.Cut(strings.TrimSpace(p), "=")
		part[name] = value
	}
	if scheme != "vapid" || part["k"] != b.server {
		return errors.New("the message is not of the server that the browser named")
	}
	pieces := strings.Split(part["t"], ".")
	if len(pieces) != 3 {
		return errors.New("the token is no JWT")
	}
	public, err := decode(part["k"])
	if err != nil {
		return errors.New("the key is no base64")
	}
	key, err := ecdsa.ParseUncompressedPublicKey(elliptic.P256(), public)
	if err != nil {
		return err
	}
	signature, err := decode(pieces[2])
	if err != nil || len(signature) != 64 {
		return errors.New("the signature is none of ES256")
	}
	sum := sha256.Sum256([]byte(pieces[0] + "." + pieces[1]))
	number := func(b []byte) *big.Int { return new(big.Int).SetBytes(b) }
	if !ecdsa.Verify(key, sum[:], number(signature[:32]), number(signature[32:])) {
		return errors.New("the token is not signed with the key")
	}
	var head struct {
		Algorithm string `json:"alg"`
	}
	var claims struct {
		Audience string `json:"aud"`
		Subject  string `json:"sub"`
		Expires  int64  `json:"exp"`
	}
	for i, into := range []any{&head, &claims} {
		text, err := decode(pieces[i])
		if err == nil {
			err = json.Unmarshal(text, into)
		}
		if err != nil {
			return err
		}
	}
	until := time.Until(time.Unix(claims.Expires, 0))
	subject := strings.HasPrefix(claims.Subject, "https://") || strings.HasPrefix(claims.Subject, "mailto:")
	if head.Algorithm != "ES256" || claims.Audience != b.service.URL || until <= 0 || until > 24*time.Hour || !subject {
		return fmt.Errorf("the token says %+v %+v", head, claims)
	}
	return nil
}

// decrypt reads a message with one record of aes128gcm (RFC 8188) and the keys of the browser (RFC 8291).
func (b *PushBrowser) decrypt(raw []byte) ([]byte, error) {
	if len(raw) < 21 || len(raw) < 21+int(raw[20]) {
		return nil, errors.New("the message has no header")
	}
	salt, size, id := raw[:16], binary.BigEndian.Uint32(raw[16:20]), raw[21:21+int(raw[20])]
	record := raw[21+len(id):]
	if len(record) > int(size) {
		return nil, errors.New("the message has more than one record")
	}
	server, err := ecdh.P256().NewPublicKey(id)
	if err != nil {
		return nil, err
	}
	shared, err := b.private.ECDH(server)
	if err != nil {
		return nil, err
	}
	info := append(append([]byte("WebPush: info\x00"), b.private.PublicKey().Bytes()...), id...)
	input, err := hkdf.Key(sha256.New, shared, b.secret, string(info), 32)
	if err != nil {
		return nil, err
	}
	key, err := hkdf.Key(sha256.New, input, salt, "Content-Encoding: aes128gcm\x00", 16)
	if err != nil {
		return nil, err
	}
	nonce, err := hkdf.Key(sha256.New, input, salt, "Content-Encoding: nonce\x00", 12)
	if err != nil {
		return nil, err
	}
	block, err := aes.NewCipher(key)
	if err != nil {
		return nil, err
	}
	gcm, err := cipher.NewGCM(block)
	if err != nil {
		return nil, err
	}
	plain, err := gcm.Open(nil, nonce, record, nil)
	if err != nil {
		return nil, err
	}
	plain = bytes.TrimRight(plain, "\x00")
	if text, last := bytes.CutSuffix(plain, []byte{2}); last {
		return text, nil
	}
	return nil, errors.New("the record is not marked as the last one")
}

func encode(b []byte) string { return base64.RawURLEncoding.EncodeToString(b) }

func decode(s string) ([]byte, error) { return base64.RawURLEncoding.DecodeString(s) }
