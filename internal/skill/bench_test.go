package skill

import "testing"

// BenchmarkLoad reads and validates the shipped skills, as every start does.
func BenchmarkLoad(b *testing.B) {
	c := program()
	for b.Loop() {
		skills, _ := Load(Shipped(), "shipped", "shipped")
		if n := Validate(skills, c).Count()[Valid]; n != len(skills) {
			b.Fatal(n)
		}
	}
}

// BenchmarkSuggest matches one sentence against every shipped trigger.
func BenchmarkSuggest(b *testing.B) {
	skills, _ := Load(Shipped(), "shipped", "shipped")
	lib := Validate(skills, program())
	var names []string
	for _, s := range lib.All() {
		names = append(names, s.Name)
	}
	for b.Loop() {
		lib.Intent("please read the file main.go and CLAUDE.mdを編集して、それからレビューして", names)
	}
}
