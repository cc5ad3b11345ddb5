package hook

import (
	"fmt"
	"os"
	"path/filepath"

	"mycelium/internal/rawjson"
)

// Installed is the note beside an installed small program.
type Installed struct {
	Myc    string // the whole program, which is elsewhere
	Digest string // the SHA-256 of the small program
}

// NotePath returns the path of the note about an installed program.
func NotePath(program string) string { return program + ".json" }

// JSON returns the note as it is written.
func (n Installed) JSON() []byte {
	return append(rawjson.Object(rawjson.Field{Name: "myc", Value: rawjson.Quote(n.Myc)},
		rawjson.Field{Name: "sha256", Value: rawjson.Quote(n.Digest)}), '\n')
}

// ReadInstalled reads the note about an installed program.
func ReadInstalled(program string) (n Installed, err error) {
	text, err := os.ReadFile(NotePath(program))
	if err != nil {
		return n, err
	}
	n = Installed{rawjson.TextAt(text, "myc"), rawjson.TextAt(text, "sha256")}
	if !filepath.IsAbs(n.Myc) || n.Digest == "" {
		return n, fmt.Errorf("%s does not say which program was installed", NotePath(program))
	}
	return n, nil
}
