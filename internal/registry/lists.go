package registry

import (
	"bytes"
	"encoding/xml"
	"net/url"
	"slices"
	"strings"

	"golang.org/x/net/html"

	"mycelium/internal/rawjson"
)

// The readers of the index of a package. A version that no lock file has is asked for only where the index has it, so that it carries
// nothing that the registry does not say itself.

// listsGo reads a list of versions, one in a line.
func listsGo(index []byte, _ *url.URL, a asking) bool {
	for line := range bytes.Lines(index) {
		if string(bytes.TrimSpace(line)) == a.Version {
			return true
		}
	}
	return false
}

func listsNPM(index []byte, _ *url.URL, a asking) bool {
	var doc struct {
		Tags     map[string]string   `json:"dist-tags"`
		Versions map[string]struct { /* not read */
		} `json:"versions"`
	}
	if rawjson.Decode(index, &doc) != nil {
		return false
	}
	_, version := doc.Versions[a.Version]
	_, tag := doc.Tags[a.Version]
	return version || tag
}

// listsPyPI reads the addresses of the files of a package, in either form of the simple index. A version is that of a file.
func listsPyPI(index []byte, page *url.URL, a asking) bool {
	for _, ref := range pythonLinks(index) {
		u, err := page.Parse(ref)
		if err != nil {
			continue
		}
		u.Fragment, u.RawFragment = "", ""
		switch {
		case a.ByURL && sameFile(u.String(), a.url):
			return true
		case !a.ByURL && pythonVersion(u.Path[strings.LastIndexByte(u.Path, '/')+1:], a.Package) == a.Version:
			return true
		}
	}
	return false
}

func sameFile(listed, asked string) bool {
	asked = escapes.Replace(asked)
	listed = escapes.Replace(listed)
	return asked == listed || asked == listed+".metadata"
}

func pythonLinks(index []byte) (out []string) {
	var doc struct {
		Files []struct {
			URL string `json:"url"`
		} `json:"files"`
	}
	if rawjson.Decode(index, &doc) == nil {
		for _, f := range doc.Files {
			out = append(out, f.URL)
		}
		return out
	}
	for z := html.NewTokenizer(bytes.NewReader(index)); ; {
		kind := z.Next()
		if kind == html.ErrorToken {
			return out
		}
		if t := z.Token(); kind == html.StartTagToken && t.Data == "a" {
			for _, attr := range t.Attr {
				if attr.Key == "href" {
					out = append(out, attr.Val)
				}
			}
		}
	}
}

// pythonVersion is the version in the name of a file of a package.
func pythonVersion(file, pkg string) string {
	if wheel, ok := strings.CutSuffix(file, ".whl"); ok {
		if p := strings.Split(wheel, "-"); len(p) > 1 {
			return p[1]
		}
	}
	for _, end := range []string{".tar.gz", ".zip", ".tar.bz2", ".tgz"} {
		if stem, ok := strings.CutSuffix(file, end); ok {
			_, version, _ := splitFile(stem, func(s string) bool { return pythonName(s) == pkg })
			return version
		}
	}
	return ""
}

// listsCrates reads a JSON object in each line.
func listsCrates(index []byte, _ *url.URL, a asking) bool {
	for line := range bytes.Lines(index) {
		var row struct {
			Version string `json:"vers"`
		}
		if rawjson.Decode(line, &row) == nil && row.Version == a.Version {
			return true
		}
	}
	return false
}

// listsGems reads lines that begin with VERSION or VERSION-PLATFORM.
func listsGems(index []byte, _ *url.URL, a asking) bool {
	for line := range bytes.Lines(index) {
		if version, _, _ := strings.Cut(strings.TrimSpace(string(line)), " "); version == a.Version {
			return true
		}
	}
	return false
}

func listsMaven(index []byte, _ *url.URL, a asking) bool {
	var doc struct {
		Versions []string `xml:"versioning>versions>version"`
	}
	return xml.Unmarshal(index, &doc) == nil && slices.Contains(doc.Versions, a.Version)
}
