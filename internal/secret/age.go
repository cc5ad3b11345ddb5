package secret

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"strings"
	"time"
	"unicode/utf8"

	"filippo.io/age"
	"filippo.io/age/armor"
)

// maxFile bounds the age file and its decrypted content, in bytes.
const maxFile = 1 << 20

// opened is the content of the age file when it was last read.
type opened struct {
	stamp  [2]stamp // of the file and of its identities
	values map[string]string
}

// stamp identifies a state of a file.
type stamp struct {
	size int64
	at   time.Time
}

// fromFile finds a secret in the age file. It reads the file again if the file or its identity has changed.
func (s *Store) fromFile(name string) (string, error) {
	o := s.options
	if o.File == "" {
		return "", &noSourceError{"no age file is configured"}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	info, err := os.Stat(o.File)
	if errors.Is(err, fs.ErrNotExist) && !o.Required {
		return "", &noSourceError{"there is no age file " + o.File}
	}
	if err != nil {
		return "", fmt.Errorf("age file: %w", err)
	}
	key, err := os.Stat(o.Identity)
	if err != nil {
		return "", fmt.Errorf("identity of the age file: %w (make one with: age-keygen -o %s)", err, o.Identity)
	}
	now := [2]stamp{{info.Size(), info.ModTime()}, {key.Size(), key.ModTime()}}
	if s.file.values == nil || s.file.stamp != now {
		values, err := o.open(info, key)
		if err != nil {
			return "", err
		}
		s.file = opened{now, values}
	}
	value, ok := s.file.values[name]
	if !ok {
		return "", fmt.Errorf("the age file %s does not have it: %w", o.File, ErrAbsent)
	}
	return value, nil
}

// open decrypts the file.
func (o Options) open(info, key fs.FileInfo) (map[string]string, error) {
	switch {
	case !info.Mode().IsRegular() || info.Size() > maxFile:
		return nil, fmt.Errorf("age file %s: not an ordinary file of at most %d KiB", o.File, maxFile>>10)
	case !key.Mode().IsRegular():
		return nil, fmt.Errorf("identity %s: not an ordinary file", o.Identity)
	case key.Mode().Perm()&0o077 != 0:
		return nil, fmt.Errorf("identity %s: others can read it (mode %04o); do: chmod 600 %s", o.Identity, key.Mode().Perm(), o.Identity)
	}
	text, err := os.ReadFile(o.Identity)
	if err != nil {
		return nil, fmt.Errorf("identity: %w", err)
	}
	identities, err := age.ParseIdentities(bytes.NewReader(text))
	if err != nil { // the text of err may contain a part of the key
		return nil, fmt.Errorf("identity %s: not a file that age-keygen made (identities with a passphrase cannot be used, because nobody is "+
			"there to type it)", o.Identity)
	}
	f, err := os.Open(o.File)
	if err != nil {
		return nil, fmt.Errorf("age file: %w", err)
	}
	defer f.Close()
	in := bufio.NewReader(f)
	var sealed io.Reader = in
	if start, _ := in.Peek(len(armor.Header)); string(start) == armor.Header {
		sealed = armor.NewReader(in)
	}
	plain, err := age.Decrypt(sealed, identities...)
	var nobody *age.NoIdentityMatchError
	if errors.As(err, &nobody) {
		return nil, fmt.Errorf("age file %s: no identity in %s can decrypt it", o.File, o.Identity)
	}
	if err != nil { // the text of err quotes the file, which may not be encrypted
		return nil, fmt.Errorf("age file %s: not an age file, or damaged; seal it with: age -r RECIPIENT -o %s", o.File, o.File)
	}
	b, err := io.ReadAll(io.LimitReader(plain, maxFile+1))
	if err != nil {
		return nil, fmt.Errorf("age file %s: it is damaged", o.File)
	}
	values, err := parse(b)
	if err != nil {
		return nil, fmt.Errorf("age file %s: %w", o.File, err)
	}
	return values, nil
}

// parse reads the decrypted age file. Each secret is a line NAME=value or NAME: value. A value may be in quotes; in double quotes, \n,
// \t, \r, \" and \\ are escapes as in JSON. Empty lines and lines that begin with # are skipped. Errors name only the line.
func parse(b []byte) (map[string]string, error) {
	if len(b) > maxFile || !utf8.Valid(b) {
		return nil, errors.New("its content is not text, or is too long")
	}
	values := map[string]string{}
	n := 0
	for line := range strings.Lines(string(b)) {
		n++
		line = strings.TrimSpace(line)
		if line == "" || line == "---" || strings.HasPrefix(line, "#") {
			continue
		}
		line = strings.TrimPrefix(line, "export ")
		at := strings.IndexAny(line, "=:")
		if at < 0 || !IsName(strings.TrimSpace(line[:at])) || line[at] == ':' && at+1 < len(line) && line[at+1] != ' ' && line[at+1] != '\t' {
			return nil, fmt.Errorf("line %d of its content is neither NAME=value nor NAME: value", n)
		}
		name := strings.TrimSpace(line[:at])
		value, ok := unquote(strings.TrimSpace(line[at+1:]))
		if !ok {
			return nil, fmt.Errorf("line %d of its content: the value of %s cannot be read; write it on one line, in quotes if it has escapes",
				n, name)
		}
		if _, twice := values[name]; twice {
			return nil, fmt.Errorf("line %d of its content has %s for the second time", n, name)
		}
		values[name] = value
	}
	return values, nil
}

// unquote reads a value. It returns false for quotes that do not close, and for YAML forms that continue on the next line.
func unquote(s string) (string, bool) {
	if s == "" {
		return "", true
	}
	q := s[0]
	if q != '"' && q != '\'' {
		block := strings.TrimLeft(s, "|>+-0123456789") == "" && (q == '|' || q == '>')
		return s, !block
	}
	if len(s) < 2 || s[len(s)-1] != q {
		return "", false
	}
	inner := s[1 : len(s)-1]
	if q == '\'' {
		return inner, !strings.Contains(inner, "'")
	}
	var b strings.Builder
	for i := 0; i < len(inner); i++ {
		switch c := inner[i]; {
		case c == '"':
			return "", false
		case c != '\\':
			b.WriteByte(c)
		case i+1 == len(inner):
			return "", false
		default:
			i++
			sign, ok := map[byte]byte{'n': '\n', 't': '\t', 'r': '\r', '"': '"', '\\': '\\'}[inner[i]]
			if !ok {
				return "", false
			}
			b.WriteByte(sign)
		}
	}
	return b.String(), true
}
