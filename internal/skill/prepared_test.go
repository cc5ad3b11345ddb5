package skill

import (
	"crypto/sha256"
	"flag"
	"io/fs"
	"maps"
	"os"
	"reflect"
	"slices"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"
	"github.com/vmihailenco/msgpack/v5"
)

var update = flag.Bool("update", false, "write the shipped skills in their prepared form")

// TestPrepared: the prepared form of the shipped skills is what their files say, places included, and counts for these files alone.
func TestPrepared(t *testing.T) {
	var all []preparedSkill
	read := map[string]Skill{}
	for _, name := range folders(Shipped()) {
		skills, problems := loadOne(Shipped(), name, "s", "shipped", nil)
		if len(skills) != 1 || problems != nil {
			t.Fatal(name, problems)
		}
		s := skills[0]
		read[name] = s
		data, err := fs.ReadFile(Shipped(), name+"/"+pageFile)
		if err != nil {
			t.Fatal(err)
		}
		said := preparedText{Skill: s.Plain()}
		said.Skill.Instructions, said.Skill.File, said.Skill.Source = "", "", ""
		for _, key := range slices.Sorted(maps.Keys(s.origin.keys)) {
			said.Keys = append(said.Keys, preparedKey{key, s.origin.keys[key].line})
		}
		for _, at := range s.origin.tools {
			said.Tools = append(said.Tools, at.line)
		}
		raw, err := msgpack.Marshal(said)
		if err != nil {
			t.Fatal(err)
		}
		sum := sha256.Sum256(data)
		all = append(all, preparedSkill{name, string(sum[:]), raw})
	}
	if *update {
		data, err := msgpack.Marshal(all)
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile("prepared.msgpack", data, 0o644); err != nil { //nolint:gosec // a file of the source
			t.Fatal(err)
		}
		prepared = data
	}
	ready := preparedSkills()
	if len(ready) != len(all) {
		t.Errorf("%d skills are prepared, and %d are shipped: run this test with -update", len(ready), len(all))
	}
	for name, want := range read {
		data, _ := fs.ReadFile(Shipped(), name+"/"+pageFile)
		r := &reader{fsys: want.Dir, shown: "s/" + name, ready: ready, origin: origin{keys: map[string]position{}}}
		if r.prepare("s/"+name+"/"+pageFile, data) == nil {
			t.Errorf("%s is not prepared as it is: run this test with -update", name)
			continue
		}
		got, problems := loadOne(Shipped(), name, "s", "shipped", ready)
		if len(got) != 1 || problems != nil || !reflect.DeepEqual(got[0], want) {
			t.Errorf("%s: prepared it says something else %v\n%s", name, problems, cmp.Diff(want.Plain(), got[0].Plain(),
				cmp.AllowUnexported(Skill{}, origin{}, position{})))
		}
		if r.prepare("x", append(data, ' ')) != nil {
			t.Errorf("%s: the prepared skill counts for another file", name)
		}
	}
	// Beside a SKILL.yaml, and in another folder, the file is read as any other.
	data, _ := fs.ReadFile(Shipped(), "reader/"+pageFile)
	both := fstest.MapFS{"reader/SKILL.md": {Data: data}, "reader/SKILL.yaml": {Data: []byte("description: other\n")}}
	skills, _ := Load(both, "s", "project")
	if len(skills) != 1 || skills[0].Description != "other" || skills[0].Instructions == "" {
		t.Errorf("%+v", skills)
	}
}
