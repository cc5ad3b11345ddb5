package internal_test

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

var (
	rowName  = regexp.MustCompile(`^\| ([A-Z]+\d+[A-Za-z0-9., –]*) \|`)
	quoted   = regexp.MustCompile("`([^`]+)`")
	funcTest = regexp.MustCompile(`(?m)^func ((?:Test|Fuzz|Benchmark)\w+)\(`)
)

// TestCapabilitiesNameRealTests checks that every test and script that docs/capabilities.md gives as proof exists, and that every
// row gives one.
func TestCapabilitiesNameRealTests(t *testing.T) {
	b, err := os.ReadFile("../docs/capabilities.md")
	if err != nil {
		t.Fatal(err)
	}
	tests, files := testNames(t)
	rows := 0
	for line := range strings.Lines(string(b)) {
		m := rowName.FindStringSubmatch(line)
		if m == nil {
			continue
		}
		rows++
		cells := strings.Split(strings.Trim(strings.TrimSpace(line), "|"), "|")
		proofs := quoted.FindAllStringSubmatch(cells[len(cells)-1], -1)
		if len(proofs) == 0 {
			t.Errorf("%s: no proof named", m[1])
		}
		for _, p := range proofs {
			if !tests[p[1]] && !files[p[1]] {
				t.Errorf("%s: %s exists nowhere", m[1], p[1])
			}
		}
	}
	if rows < 40 {
		t.Errorf("only %d rows: is the reader wrong?", rows)
	}
}

var demandName = regexp.MustCompile(`^\| ([BVSHTRPCUM]\d+) \|`)

// TestConformanceProofs checks that every demand in docs/proofs/conformance.md names a transcript or test that exists, or says why it
// has none.
func TestConformanceProofs(t *testing.T) {
	b, err := os.ReadFile("../docs/proofs/conformance.md")
	if err != nil {
		t.Fatal(err)
	}
	tests, files := testNames(t)
	rows, transcripts := 0, 0
	for line := range strings.Lines(string(b)) {
		m := demandName.FindStringSubmatch(line)
		if m == nil {
			continue
		}
		rows++
		cells := strings.Split(strings.Trim(strings.TrimSpace(line), "|"), "|")
		proof := strings.TrimSpace(cells[len(cells)-1])
		if strings.HasPrefix(proof, "– ") {
			continue
		}
		names := quoted.FindAllStringSubmatch(proof, -1)
		if len(names) == 0 {
			t.Errorf("%s: neither a proof nor a reason", m[1])
		}
		for _, n := range names {
			if files["internal/gateway/testdata/"+n[1]] { // TestTranscripts plays every file there
				transcripts++
			} else if !tests[n[1]] && !files[n[1]] {
				t.Errorf("%s: %s exists nowhere", m[1], n[1])
			}
		}
	}
	if rows < 90 || transcripts < 60 {
		t.Errorf("only %d rows and %d transcripts: is the reader wrong?", rows, transcripts)
	}
}

// testNames are the names of all test functions, and the paths of all scripts and corpora from the root.
func testNames(t *testing.T) (tests, files map[string]bool) {
	t.Helper()
	tests, files = map[string]bool{}, map[string]bool{}
	for _, top := range []string{"internal", "cmd", "bench", "test"} {
		err := filepath.WalkDir(filepath.Join("..", top), func(p string, d fs.DirEntry, err error) error {
			if err != nil || d.IsDir() {
				return err
			}
			rel, _ := filepath.Rel("..", p)
			if strings.HasSuffix(p, ".txtar") {
				files[filepath.ToSlash(rel)] = true
				files[d.Name()] = true
			}
			if !strings.HasSuffix(p, "_test.go") {
				return nil
			}
			b, err := os.ReadFile(p)
			if err != nil {
				return err
			}
			for _, m := range funcTest.FindAllSubmatch(b, -1) {
				tests[string(m[1])] = true
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	return tests, files
}

// TestDocumentsLinkToRealFiles follows the relative links of every page.
func TestDocumentsLinkToRealFiles(t *testing.T) {
	link := regexp.MustCompile(`\]\(([^)#:]+)(?:#[^)]*)?\)`)
	pages := []string{"../README.md"}
	err := filepath.WalkDir("../docs", func(p string, _ fs.DirEntry, err error) error {
		if err == nil && strings.HasSuffix(p, ".md") {
			pages = append(pages, p)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, page := range pages {
		b, err := os.ReadFile(page)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range link.FindAllStringSubmatch(string(b), -1) {
			if _, err := os.Stat(filepath.Join(filepath.Dir(page), m[1])); err != nil {
				t.Errorf("%s links to %s, which is not there", page, m[1])
			}
		}
	}
}
