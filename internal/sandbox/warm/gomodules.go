package warm

import (
	"bytes"
	"errors"
	"io"
	"os"
	"path"
	"slices"
	"strings"
	"time"

	"github.com/go-json-experiment/json"
	"golang.org/x/mod/module"
	"golang.org/x/mod/sumdb/dirhash"
)

// downloads is Go's cache of what it downloaded, below the home folder. It has the layout of a proxy.
const downloads = "go/pkg/mod/cache/download"

// sums reads a go.sum or go.work.sum: module, version and hash, in lines. A line that is no such line names nothing.
//
// The extracted modules of the person's cache are not taken, and neither are the hashes that lie beside the archives: a command extracts
// what it uses from the archives into a cache of the project's own.
func (l lists) sums(data []byte) {
	for line := range bytes.Lines(data) {
		f := strings.Fields(string(line))
		if len(f) != 3 || !strings.HasPrefix(f[2], "h1:") {
			continue
		}
		version, onlyMod := strings.CutSuffix(f[1], "/go.mod")
		name, err := module.EscapePath(f[0])
		escaped, versionErr := module.EscapeVersion(version)
		if err != nil || versionErr != nil || strings.Contains(escaped, "/") {
			continue
		}
		file := path.Join(name, "@v", escaped)
		add := func(ending string, take func(from, to *os.File, sums []string) error, sum string) {
			l.add(path.Join(proxyFolder, file+ending), item{path.Join(downloads, file+ending), []string{sum}, take})
		}
		if onlyMod {
			add(".mod", takeMod, f[2])
		} else {
			add(".zip", takeZip, f[2])
		}
		add(".info", takeInfo, version)
	}
}

func takeZip(from, to *os.File, sums []string) error {
	if err := copyAll(from, to); err != nil {
		return err
	}
	sum, err := dirhash.HashZip(to.Name(), dirhash.Hash1)
	if err != nil || !slices.Contains(sums, sum) {
		return errOther // a file that is no archive either
	}
	return nil
}

func takeMod(from, to *os.File, sums []string) error {
	if err := copyAll(from, to); err != nil {
		return err
	}
	sum, err := dirhash.Hash1([]string{"go.mod"}, func(string) (io.ReadCloser, error) { return os.Open(to.Name()) })
	if err == nil && !slices.Contains(sums, sum) {
		err = errOther
	}
	return err
}

// mostInfo bounds the file that tells of a version, in bytes.
const mostInfo = 64 << 10

// takeInfo takes of the file that tells of a version the time, because no hash covers it.
func takeInfo(from, to *os.File, versions []string) error {
	var info struct {
		Version string
		Time    time.Time `json:",omitzero"`
	}
	data, err := io.ReadAll(io.LimitReader(from, mostInfo))
	if err == nil && json.Unmarshal(data, &info) != nil {
		err = errOther
	}
	info.Version = versions[0]
	if data, jsonErr := json.Marshal(info); err == nil && jsonErr == nil {
		_, err = to.Write(data)
	} else {
		err = errors.Join(err, jsonErr)
	}
	return err
}
