package warm

import (
	"bytes"
	"crypto/sha256"
	"crypto/sha512"
	"encoding/base64"
	"encoding/hex"
	"hash"
	"io"
	"os"
	"path"
	"strings"

	"github.com/go-json-experiment/json/jsontext"
)

// npmContent is the content in npm's cache, below the home folder and below the folder that npm finds. Files are named by their hash.
const npmContent = "content-v2"

// digests are the hashes of a lock file that count. SHA-1 does not: another content can be made for it.
var digests = map[string]func() hash.Hash{"sha512": sha512.New, "sha384": sha512.New384, "sha256": sha256.New}

// packages reads a lock file of npm: the value of every member "integrity" (Subresource Integrity). npm itself compares what it takes from its
// cache by that hash. The index of the cache, which tells of other projects, is not taken: npm finds content by its hash without it.
func (l lists) packages(data []byte) {
	d := jsontext.NewDecoder(bytes.NewReader(data), jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true))
	for {
		t, err := d.ReadToken()
		if err != nil {
			return
		}
		if kind, n := d.StackIndex(d.StackDepth()); t.Kind() != '"' || kind != '{' || n%2 == 0 {
			continue
		}
		if t.String() != "integrity" || d.PeekKind() != '"' {
			continue
		}
		if t, err = d.ReadToken(); err != nil {
			return
		}
		for sum := range strings.FieldsSeq(t.String()) {
			l.integrity(sum)
		}
	}
}

// integrity adds the content with a hash: its name, a hyphen and the hash in base64; options may follow.
func (l lists) integrity(sum string) {
	sum, _, _ = strings.Cut(sum, "?")
	name, encoded, _ := strings.Cut(sum, "-")
	raw, err := base64.StdEncoding.DecodeString(encoded)
	digest := digests[name]
	if digest == nil || err != nil || len(raw) != digest().Size() {
		return
	}
	h := hex.EncodeToString(raw)
	file := path.Join(npmContent, name, h[:2], h[2:4], h[4:])
	l.add(path.Join(npmFolder, file), item{path.Join(".npm/_cacache", file), []string{h}, func(from, to *os.File, sums []string) error {
		is := digest()
		if _, err := io.Copy(io.MultiWriter(to, is), from); err != nil {
			return err
		}
		if hex.EncodeToString(is.Sum(nil)) != sums[0] {
			return errOther
		}
		return nil
	}})
}
