package skill

import (
	"bytes"
	"encoding/json"
	"fmt"
	"image/color"
	"image/gif"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// runScript runs a script of a shipped skill with python3, as run_script does, in a folder with a copy of the skill. It returns what it
// printed, and whether it ended with 0.
func runScript(t *testing.T, skill, name string, args ...string) (string, bool) {
	t.Helper()
	dir := t.TempDir()
	files, err := fs.Sub(Shipped(), skill)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.CopyFS(dir, files); err != nil {
		t.Fatal(err)
	}
	c := exec.CommandContext(t.Context(), "python3", append([]string{"scripts/" + name}, args...)...)
	c.Dir = dir
	out, err := c.CombinedOutput()
	if err != nil && c.ProcessState == nil {
		t.Fatal(err)
	}
	return string(out), err == nil
}

// office returns the path of a file that python-docx, openpyxl or PptxGenJS made.
func office(t *testing.T, name string) string {
	t.Helper()
	path, err := filepath.Abs(filepath.Join("testdata/office", name))
	if err != nil {
		t.Fatal(err)
	}
	return path
}

// TestDocumentScripts: what the scripts read from documents of other programs.
func TestDocumentScripts(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		skill, script string
		args          []string
		want          string // all of it
	}{
		{"docx", "docx_text.py", []string{office(t, "letter.docx")},
			"# Report 報告\n# Chapter\nHello \nDear {{name}}, you owe {{ amount }}.\n- first\n" +
				"| a\\|b | B |\n| --- | --- |\n| 1 | {{amount}} |\n"},
		{"xlsx", "xlsx_summary.py", []string{office(t, "book.xlsx")}, "## Sales: 3 rows, 3 columns\nday,n,sum\n2026-01-02,3,\n" +
			"2026-01-02 03:04:05,TRUE,日本\n\n## Empty: 0 rows, 0 columns\n\n"},
		{"xlsx", "xlsx_summary.py", []string{office(t, "book.xlsx"), "--sheet", "Sales", "--formulas", "--rows", "2"},
			"day,n,sum\n2026-01-02,3,=B2*2\n"},
		{"pptx", "pptx_text.py", []string{office(t, "talk.pptx")}, "## Slide 1\n### Title 題\n- one\n  - two\nNotes: say it\n\n" +
			"## Slide 2 (hidden)\n| x | y |\n| 1 | 2 |\n\n"},
	} {
		if got, ok := runScript(t, tt.skill, tt.script, tt.args...); got != tt.want || !ok {
			t.Errorf("%s %v: %v\n%s", tt.script, tt.args, ok, got)
		}
	}
	for skill, file := range map[string]string{"docx/docx_text.py": "book.xlsx", "xlsx/xlsx_summary.py": "talk.pptx",
		"pptx/pptx_text.py": "missing"} {
		name, script, _ := strings.Cut(skill, "/")
		if got, ok := runScript(t, name, script, office(t, file)); ok || strings.Contains(got, "Traceback") || got == "" {
			t.Errorf("%s %s: %v\n%s", script, file, ok, got)
		}
	}
	got, ok := runScript(t, "xlsx", "xlsx_summary.py", office(t, "book.xlsx"), "--sheet", "No")
	if ok || !strings.Contains(got, "there are: Sales, Empty") {
		t.Error(got)
	}
}

// TestFill: a template is filled also where Word has split a field, in headers and tables, and never half.
func TestFill(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	values, out := filepath.Join(dir, "values.json"), filepath.Join(dir, "out.docx")
	write := func(v map[string]any) {
		data, err := json.Marshal(v)
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(values, data, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	fill := func() (string, bool) {
		return runScript(t, "docx-handler", "docx_fill.py", office(t, "letter.docx"), values, out)
	}
	write(map[string]any{"name": "x"})
	if got, ok := fill(); ok || got != "no value for: amount\n" {
		t.Error(got)
	}
	if _, err := os.Stat(out); err == nil {
		t.Error("a file was written although a value is missing")
	}
	write(map[string]any{"name": "Aoi & Co <x>", "amount": 12})
	if got, ok := fill(); !ok || !strings.HasSuffix(got, "4 fields filled\n") {
		t.Error(got)
	}
	got, _ := runScript(t, "docx", "docx_text.py", out)
	if !strings.Contains(got, "\nDear Aoi & Co <x>, you owe 12.\n") || !strings.Contains(got, "| 1 | 12 |") {
		t.Error(got)
	}
	if got, ok := fill(); ok || !strings.Contains(got, "FileExistsError") {
		t.Errorf("a file is written over: %s", got)
	}
}

// TestGIF: the GIF is the frames, colour by colour, and repeats. Go's decoder reads it.
func TestGIF(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	args := []string{filepath.Join(dir, "out.gif"), "--delay", "90"}
	const size = 128
	at := func(frame, x, y int) color.RGBA { // 240 colours, so that the codes grow to their greatest length
		return color.RGBA{uint8((x + frame*7) % 16 * 16), uint8((y*3 + x) % 15 * 17), 0, 255} //nolint:gosec // below 256
	}
	for frame := range 3 {
		var b bytes.Buffer
		fmt.Fprintf(&b, "P6\n# a comment\n%d %d\n255\n", size, size)
		for y := range size {
			for x := range size {
				c := at(frame, x, y)
				b.Write([]byte{c.R, c.G, c.B})
			}
		}
		name := filepath.Join(dir, fmt.Sprintf("f%d.ppm", frame))
		if err := os.WriteFile(name, b.Bytes(), 0o600); err != nil {
			t.Fatal(err)
		}
		args = append(args, name)
	}
	made, ok := runScript(t, "slack-gif-creator", "make_gif.py", args...)
	if !ok || !strings.HasSuffix(made, "3 frames of 128×128, 240 colours\n") {
		t.Fatal(made)
	}
	data, err := os.ReadFile(args[0])
	if err != nil {
		t.Fatal(err)
	}
	g, err := gif.DecodeAll(bytes.NewReader(data))
	if err != nil || len(g.Image) != 3 || g.LoopCount != 0 || g.Delay[1] != 9 {
		t.Fatalf("%v %d %d %v", err, len(g.Image), g.LoopCount, g.Delay)
	}
	for frame, m := range g.Image {
		for y := range size {
			for x := range size {
				if got := color.RGBAModel.Convert(m.At(x, y)); got != at(frame, x, y) {
					t.Fatalf("frame %d at %d,%d: %v", frame, x, y, got)
				}
			}
		}
	}
	want := fmt.Sprintf("128×128, 3 frames, 0.27 s, repeats, %d bytes\nas an emoji: fits\n", len(data))
	if got, ok := runScript(t, "slack-gif-creator", "check_gif.py", args[0]); !ok || got != want {
		t.Error(got)
	}
	if err := os.WriteFile(args[0], data[:len(data)/2], 0o600); err != nil {
		t.Fatal(err)
	}
	if got, ok := runScript(t, "slack-gif-creator", "check_gif.py", args[0]); ok || strings.Contains(got, "Traceback") {
		t.Error(got)
	}
}

// TestSmallScripts: the profile of a CSV file, the contrast of colours, and a page in one file.
func TestSmallScripts(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	write := func(name, text string) string {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	got, ok := runScript(t, "data-analyst", "csv_profile.py", write("a.tsv", "\ufeffn\tcity\n1\t東京\n2\t京都\n\t東京\n6\n"))
	if want := "4 rows, 2 columns, separated by '\\t'\n1 rows have more or fewer cells than the header\n" +
		"n: number, 3 values, 1 missing, 3 different; from 1 to 6, mean 3, standard deviation 2.64575\n" +
		"city: text, 3 values, 1 missing, 2 different; most frequent: '東京' 2×, '京都' 1×\n"; got != want || !ok {
		t.Error(got)
	}
	// The ratios of w3.org/WAI: black on white is 21, #767676 the lightest grey that passes on white.
	got, ok = runScript(t, "theme-factory", "contrast.py", "#000", "#fff", "#767676", "#ffffff", "#777777", "#ffffff")
	if want := "#000 on #fff: 21.00, any text\n" +
		"#767676 on #ffffff: 4.54, any text\n#777777 on #ffffff: 4.47, large text only\n"; got != want || ok {
		t.Error(got, ok)
	}
	page := write("site/page.html", `<!DOCTYPE html><link rel="stylesheet" href="a.css"><p title="a&quot;b">&amp;<img src="b.png" alt></p>`+
		`<script src="a.js"></script><script>if (a<b) {}</script>`)
	write("site/a.css", `h1{background:url("b.png")}`)
	write("site/a.js", `say("</script>", 1 < 2)`)
	write("site/b.png", "PNG")
	out := filepath.Join(dir, "out.html")
	if got, ok := runScript(t, "web-artifacts-builder", "one_file.py", page, out); !ok {
		t.Fatal(got)
	}
	data, err := os.ReadFile(out)
	want := `<!DOCTYPE html><style>` + "\n" + `h1{background:url("data:image/png;base64,UE5H")}` + "\n" +
		`</style><p title="a&quot;b">&amp;<img src="data:image/png;base64,UE5H" alt></p>` +
		`<script>` + "\n" + `say("<\/script>", 1 < 2)` + "\n" + `</script><script>if (a<b) {}</script>`
	if err != nil || string(data) != want {
		t.Errorf("%v\n%s", err, data)
	}
	page = write("site/far.html", `<img src="https://example.com/x.png"><img src="../a.tsv"><img src="b.png">`)
	out = filepath.Join(dir, "far.html")
	got, ok = runScript(t, "web-artifacts-builder", "one_file.py", page, out)
	if want := "not taken in, so nothing is written: https://example.com/x.png, ../a.tsv\n"; got != want || ok {
		t.Error(got)
	}
	if _, err := os.Stat(out); err == nil {
		t.Error("a page that needs other files was written")
	}
}
