package mcpserver

import (
	"crypto/aes"
	"crypto/cipher"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"mycelium/internal/gate"
	"mycelium/internal/gate/session"
	"mycelium/internal/rawjson"
)

// sealer encrypts what clients keep for us and give back: request states, task ids and list cursors. It uses AES-256-GCM under a key
// that this process makes at its start: it cannot open what another process sealed (decision 0016).
type sealer struct{ aead cipher.AEAD }

func newSealer() sealer {
	key := make([]byte, 32)
	_, _ = rand.Read(key) // never fails
	block, err := aes.NewCipher(key)
	if err != nil {
		panic(err) // 32 bytes are a key
	}
	aead, err := cipher.NewGCMWithRandomNonce(block)
	if err != nil {
		panic(err) // AES has blocks of 16 bytes
	}
	return sealer{aead}
}

// seal returns the text form. What was sealed for one purpose cannot be opened for another.
func (s sealer) seal(purpose string, plain []byte) string {
	return base64.RawURLEncoding.EncodeToString(s.aead.Seal(nil, nil, plain, []byte(purpose))) // #nosec G407 -- it draws a nonce of its own
}

// open returns what was sealed for a purpose. ok is false for everything else.
func (s sealer) open(purpose, text string) (plain []byte, ok bool) {
	b, err := base64.RawURLEncoding.Strict().DecodeString(text)
	if err != nil {
		return nil, false
	}
	plain, err = s.aead.Open(nil, nil, b, []byte(purpose))
	return plain, err == nil
}

// requestState is what our requestState holds: which call it continues, and whose. The names are short because clients carry it.
type requestState struct {
	Session string `json:"s"`
	Method  string `json:"m"`
	Asked   string `json:"n"`          // the name or uri
	Digest  []byte `json:"d"`          // of the arguments
	Call    string `json:"c"`          // id of the call
	Round   int    `json:"r"`          // of a call that is parked here, from 1; 0: no call is parked, Inner has the state
	Inner   string `json:"i,omitzero"` // the server's own state
	Has     bool   `json:"h,omitzero"` // the server sent one
	Expires int64  `json:"e"`          // seconds since 1970
}

const stateSeal = "requestState"

// sealState makes a requestState for one request of a session.
func (s sealer) sealState(sess *session.Session, r *gate.Request, st requestState) string {
	st.Session, st.Method, st.Asked, st.Digest = sess.ID, r.Method, r.Asked, digest(r.Args)
	st.Expires = time.Now().Add(gate.Patience).Unix()
	plain, err := json.Marshal(st)
	if err != nil {
		return "" // cannot happen: strings, numbers and bytes always encode
	}
	return s.seal(stateSeal, plain)
}

// openState opens the requestState of a retry. If it is not valid, why tells the client the reason; else why is empty.
func (s sealer) openState(sess *session.Session, r *gate.Request, raw []byte) (st requestState, why string) {
	text, ok := rawjson.Text(raw)
	if !ok {
		return st, "requestState must be a string"
	}
	plain, ok := s.open(stateSeal, text)
	if !ok || json.Unmarshal(plain, &st) != nil {
		return st, "requestState is not one of this server's, was altered, or is from before its restart; call again without it"
	}
	switch {
	case st.Session != sess.ID:
		return st, "requestState belongs to another session"
	case st.Method != r.Method || st.Asked != r.Asked:
		return st, "requestState belongs to another request"
	case string(st.Digest) != string(digest(r.Args)):
		return st, "requestState belongs to a request with other arguments"
	case time.Now().Unix() > st.Expires:
		return st, "requestState has expired; call again without it"
	}
	return st, ""
}

// digest returns equal digests for arguments that differ only in the order of keys and in white space. The digits of numbers count.
func digest(args []byte) []byte {
	if args == nil {
		args = []byte("{}")
	}
	v := jsontext.Value(args).Clone()
	if err := v.Canonicalize(jsontext.CanonicalizeRawInts(false), jsontext.CanonicalizeRawFloats(false)); err != nil {
		v = args // valid JSON that cannot be sorted, such as invalid UTF-8
	}
	sum := sha256.Sum256(v)
	return sum[:16]
}
