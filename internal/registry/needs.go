package registry

import (
	"bytes"
	"strings"

	"mycelium/internal/rawjson"
)

// A registry lists the dependencies of a package in the index of the package, or in a file beside its code. The dependencies of a new package
// are in no lock file yet, so they are read from the answers of the registry, by the readers of lock files where the form is the same.

// Tells reports whether the answer to a request lists dependencies, so that [Locked.Learn] can read it.
func (k Kind) Tells(a Asked) bool { return forms[k].needs(a) != nil }

// Beside returns the path of the file that lists the dependencies of the package that a request fetches; "" if there is none. It is for
// clients that do not ask for this file: an older pip reads the list in the wheel itself.
func (k Kind) Beside(a Asked) string {
	if k == PyPI && strings.HasSuffix(a.Path, ".whl") {
		return a.Path + ".metadata"
	}
	return ""
}

// Learn adds the dependencies that an answer lists, if [Kind.Tells] is true for its request. An answer that cannot be read adds nothing.
func (l *Locked) Learn(k Kind, a Asked, data []byte) {
	read := forms[k].needs(a)
	var one Locked
	if read == nil || read(&one, data) != nil {
		return
	}
	l.join(&one)
}

func needsGo(a Asked) reader {
	if strings.HasSuffix(a.Path, ".mod") {
		return lockGoMod
	}
	return nil
}

// needsNPM reads the index of a package, which has all versions, or the part of one version.
func needsNPM(a Asked) reader {
	if a.Package == "" || strings.HasSuffix(a.Path, ".tgz") {
		return nil
	}
	return func(l *Locked, data []byte) error {
		if !rawjson.Valid(data) {
			return errNotJSON
		}
		learnNPM(l, data)
		for _, version := range rawjson.Members(rawjson.Member(data, "versions")) {
			learnNPM(l, version)
		}
		return nil
	}
}

// learnNPM reads one version of a package. The value of a dependency is a range of versions, or npm:NAME@RANGE, which is another package.
func learnNPM(l *Locked, version []byte) {
	for _, key := range []string{"dependencies", "optionalDependencies", "peerDependencies"} {
		for name, want := range rawjson.Members(rawjson.Member(version, key)) {
			if text, _ := rawjson.Text(want); strings.HasPrefix(text, "npm:") {
				name, _ = cutVersion(strings.TrimPrefix(text, "npm:"))
			}
			l.addNPM(name, "")
		}
	}
}

// needsPyPI reads the metadata of a file (PEP 658), or PyPI's own JSON.
func needsPyPI(a Asked) reader {
	switch {
	case strings.HasSuffix(a.Path, ".metadata"):
		return func(l *Locked, data []byte) error {
			head, _, _ := bytes.Cut(bytes.ReplaceAll(data, []byte("\r\n"), []byte("\n")), []byte("\n\n"))
			for line := range strings.Lines(string(head)) {
				if name, want, _ := strings.Cut(line, ":"); strings.EqualFold(name, "Requires-Dist") {
					addPython(l, want)
				}
			}
			return nil
		}
	case strings.HasSuffix(a.Path, "/json"):
		return func(l *Locked, data []byte) error {
			var doc struct {
				Info struct {
					Needs []string `json:"requires_dist"`
				} `json:"info"`
			}
			err := rawjson.Decode(data, &doc)
			for _, want := range doc.Info.Needs {
				addPython(l, want)
			}
			return err
		}
	}
	return nil
}

// addPython adds a requirement, as NAME[EXTRA] (>=1.0); MARKER (PEP 508). One that is an address is fetched from there.
func addPython(l *Locked, want string) {
	if m := requirement().FindStringSubmatch(strings.TrimSpace(want)); m != nil && !strings.HasPrefix(m[4], "@") && pythonName(m[1]) != "" {
		l.add(PyPI, pythonName(m[1]), "")
	}
}

// needsCrates reads the index of a crate, which has a JSON object for each version.
func needsCrates(a Asked) reader {
	if a.Package == "" || a.Path != indexCrates(a.Package) {
		return nil
	}
	return func(l *Locked, data []byte) error {
		for line := range bytes.Lines(data) {
			var row struct {
				Needs []struct {
					Name    string `json:"name"`
					Package string `json:"package"` // the true name, where name is another one
				} `json:"deps"`
			}
			if err := rawjson.Decode(line, &row); err != nil {
				continue
			}
			for _, d := range row.Needs {
				if d.Package != "" {
					d.Name = d.Package
				}
				if name := strings.ToLower(d.Name); isCrate(name) {
					l.add(Crates, name, "")
				}
			}
		}
		return nil
	}
}

// needsGems reads the index of a gem, which has a line for each version: VERSION NAME:RANGE&RANGE,NAME:RANGE|CHECKSUM.
func needsGems(a Asked) reader {
	if a.Package == "" || a.Path != indexGems(a.Package) {
		return nil
	}
	return func(l *Locked, data []byte) error {
		for line := range strings.Lines(string(data)) {
			_, rest, _ := strings.Cut(line, " ")
			needs, _, _ := strings.Cut(rest, "|")
			for one := range strings.SplitSeq(needs, ",") {
				if name, _, ok := strings.Cut(one, ":"); ok && isWord(name) {
					l.add(Gems, name, "")
				}
			}
		}
		return nil
	}
}

func needsMaven(a Asked) reader {
	if strings.HasSuffix(a.Path, ".pom") {
		return readPOM
	}
	return nil
}
