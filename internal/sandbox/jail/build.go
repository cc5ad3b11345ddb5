package jail

import (
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"io"
	"io/fs"
	"runtime"
)

// sources are the files of this package. They are part of every program that can be the child.
//
//go:embed *.go
var sources embed.FS

// Modules are what this package imports besides the standard library, with their versions: a test compares them with go.mod. It imports no
// other package of ours, whose changes Build would not tell.
const Modules = "github.com/go-json-experiment/json v0.0.0-20260820222146-c27c302e5fc3\n" +
	"golang.org/x/sys v0.49.0\n"

// Build identifies the walls that a program builds: by the sources of this package, which name the modules that it imports, and the release
// of Go. Two programs with one Build build the same walls, whatever else is in them.
func Build() string {
	h := sha256.New()
	say := func(s string) { _, _ = io.WriteString(h, s+"\x00") }
	say(runtime.Version() + " " + runtime.GOOS + "/" + runtime.GOARCH)
	_ = fs.WalkDir(sources, ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		data, err := sources.ReadFile(name)
		say(name)
		say(string(data))
		return err
	}) // what is embedded can be read
	return hex.EncodeToString(h.Sum(nil))
}
