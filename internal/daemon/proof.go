package daemon

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"os"
	"path/filepath"
	"strconv"

	"mycelium/internal/rawjson"
	"mycelium/internal/rpc"
)

// A daemon and its clients prove to each other that they know the key of the project's state. That they are of the same user proves
// nothing: an agent's program is, too. A proof is bound to the two processes, as the kernel reports them, so a program that stands between
// a client and the daemon cannot pass it on; and to a nonce of the other side, so that it cannot be used again.
//
// Most clients greet first: the client sends a nonce; the daemon answers with its proof and a nonce of its own; the client sends its proof
// before its first call. A client with a single question ([Ask]) sends its proof with it, and gets the daemon's with the answer. This
// proof is also bound to the question. Whoever has seen such a question can send it again only from a process with the same id, after
// the client has ended. The daemon then answers it once more, to a nonce for which nobody waits.

// KeySize is the length of a key, in bytes: that of the hash (RFC 2104, section 3).
const KeySize = sha256.Size

// nonceSize is the length of a nonce, in bytes: 128 bits do not repeat.
const nonceSize = 16

// The roles of proofs. A proof for one is none for another.
const (
	daemonRole   = "daemon"   // the daemon, to a greeting
	clientRole   = "client"   // a client, to the answer to its greeting
	questionRole = "question" // a client, with a question
	answerRole   = "answer"   // the daemon, with the answer
)

// key is the key of a project's state.
type key []byte

// readKey reads the key of a project.
func readKey(path string) (key, error) {
	k, err := os.ReadFile(filepath.Clean(path))
	if err != nil {
		return nil, fmt.Errorf("read the key of the daemon: %w", err)
	}
	if len(k) != KeySize {
		return nil, fmt.Errorf("read the key of the daemon: %s has %d bytes, not %d", path, len(k), KeySize)
	}
	return k, nil
}

// prove returns the proof of a role for a body and what it is bound to. Each part is preceded by its length, so that no two sequences of
// parts are the same text.
func (k key) prove(role string, body []byte, bound ...string) string {
	mac := hmac.New(sha256.New, k)
	write := func(part []byte) {
		_, _ = mac.Write(binary.BigEndian.AppendUint64(nil, uint64(len(part))))
		_, _ = mac.Write(part)
	}
	write([]byte(role))
	for _, b := range bound {
		write([]byte(b))
	}
	write(body)
	return hex.EncodeToString(mac.Sum(nil))
}

// newNonce returns a nonce.
func newNonce() (string, error) {
	var b [nonceSize]byte
	if err := random(b[:]); err != nil {
		return "", fmt.Errorf("make a nonce: %w", err)
	}
	return hex.EncodeToString(b[:]), nil
}

// same compares two proofs, in a time that does not depend on where they differ.
func same(a, b string) bool { return hmac.Equal([]byte(a), []byte(b)) }

// processes returns the parts of a proof that bind it to two processes.
func processes(daemon, client int) (d, c string) { return strconv.Itoa(daemon), strconv.Itoa(client) }

// StrangerError means that the process which answers at the daemon's socket does not prove that it is the daemon.
type StrangerError struct {
	Socket  string
	PID     int
	Program string // "" if it is not known
	Why     string
}

func (e *StrangerError) Error() string {
	program := e.Program
	if program == "" {
		program = "an unknown program"
	}
	return fmt.Sprintf("something else answers at the daemon's socket %s: pid %d, %s (%s)", e.Socket, e.PID, program, e.Why)
}

// stranger returns the error for a process that proves nothing.
func stranger(socket string, pid int, why string) error {
	program, _ := os.Readlink(filepath.Join("/proc", strconv.Itoa(pid), "exe"))
	return &StrangerError{Socket: socket, PID: pid, Program: program, Why: why}
}

// errUnproved refuses a client without a proof.
var errUnproved = &rpc.Error{Code: rpc.CodeInvalidRequest, Message: "the client does not prove that it knows the key of this project's " +
	"state; is it of another version?"}

// greeting is the params of helloMethod.
type greeting struct {
	Nonce string `json:"nonce"`
}

// hello is the answer to helloMethod.
type hello struct {
	Nonce string `json:"nonce"`
	Proof string `json:"proof"`
}

// question is the params of askMethod.
type question struct {
	nonce, proof, method string
	params               []byte
}

// proofOf returns the proof of a question by a process.
func (q question) proofOf(k key, pid int) string {
	return k.prove(questionRole, q.params, q.nonce, strconv.Itoa(pid), q.method)
}

// json returns the question as JSON. The small program has no time for reflection.
func (q question) json() []byte {
	return rawjson.Object(
		rawjson.Field{Name: "nonce", Value: rawjson.Quote(q.nonce)}, rawjson.Field{Name: "proof", Value: rawjson.Quote(q.proof)},
		rawjson.Field{Name: "method", Value: rawjson.Quote(q.method)}, rawjson.Field{Name: "params", Value: q.params})
}

// parseQuestion reads a question. ok is false unless it has all members, once, and no others.
func parseQuestion(raw []byte) (q question, ok bool) {
	nonce, proof, method := "", "", ""
	members := map[string]*string{"nonce": &nonce, "proof": &proof, "method": &method}
	s := rawjson.ScanObject(raw)
	for s.Next() {
		name := string(s.Name())
		if name == "params" && q.params == nil {
			q.params = s.Value()
			continue
		}
		to := members[name]
		delete(members, name)
		if to == nil {
			return q, false
		}
		if *to, ok = rawjson.Text(s.Value()); !ok {
			return q, false
		}
	}
	q.nonce, q.proof, q.method = nonce, proof, method
	return q, s.Complete() && len(members) == 0 && q.params != nil
}

// proved returns the answer to a question, with the daemon's proof of it: a result or an error, as JSON-RPC has it.
func (q question) proved(k key, pid int, answer []byte) []byte {
	d, c := processes(os.Getpid(), pid)
	return rawjson.Object(rawjson.Field{Name: "proof", Value: rawjson.Quote(k.prove(answerRole, answer, q.nonce, d, c))},
		rawjson.Field{Name: "answer", Value: answer})
}

// accept returns the answer to a question if the process with this id proves it. Nothing else in the message counts.
func (q question) accept(k key, pid int, proved []byte) (answer []byte, ok bool) {
	d, c := processes(pid, os.Getpid())
	answer = rawjson.Member(proved, "answer")
	ok = answer != nil && same(rawjson.TextAt(proved, "proof"), k.prove(answerRole, answer, q.nonce, d, c))
	return answer, ok
}
