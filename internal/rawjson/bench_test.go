package rawjson

import (
	"strconv"
	"strings"
	"testing"
)

// benchObject returns the params of a tool call: about size bytes of arguments, half of them one string, before the last member.
func benchObject(size int) []byte {
	return []byte(`{"name":"echo__echo","arguments":{"text":"` + strings.Repeat("0123456789abcde ", size/32) +
		`","list":[` + strings.Repeat(`{"path":"src/a.go","line":7},`, size/64) + `null]},"_meta":{"progressToken":7,"a/b":{"c":"d"}}}`)
}

var benchSizes = []int{1 << 10, 100 << 10}

func BenchmarkMember(b *testing.B) {
	for _, size := range benchSizes {
		object := benchObject(size)
		b.Run(strconv.Itoa(size), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if Member(object, "_meta") == nil {
					b.Fatal()
				}
			}
		})
	}
}

func BenchmarkPath(b *testing.B) {
	object := benchObject(1 << 10)
	b.ReportAllocs()
	for b.Loop() {
		if Path(object, "_meta", "a/b", "c") == nil {
			b.Fatal()
		}
	}
}

func BenchmarkMembers(b *testing.B) {
	object := benchObject(1 << 10)
	b.ReportAllocs()
	for b.Loop() {
		n := 0
		for range Members(object) {
			n++
		}
		if n != 3 {
			b.Fatal()
		}
	}
}

func BenchmarkSet(b *testing.B) {
	for _, size := range benchSizes {
		object := benchObject(size)
		for _, key := range []string{"name", "new"} {
			b.Run(strconv.Itoa(size)+"/"+key, func(b *testing.B) {
				b.ReportAllocs()
				for b.Loop() {
					Set(object, key, []byte(`"echo"`))
				}
			})
		}
	}
}

func BenchmarkSetBoth(b *testing.B) {
	object := benchObject(1 << 10)
	b.ReportAllocs()
	for b.Loop() {
		SetBoth(object, "name", []byte(`"echo"`), "_meta", nil)
	}
}

func BenchmarkCaseVariant(b *testing.B) {
	for _, size := range benchSizes {
		object := benchObject(size)
		b.Run(strconv.Itoa(size), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if _, key := CaseVariant(object, "name", "arguments", "uri", "_meta"); key != "" {
					b.Fatal()
				}
			}
		})
	}
}

func BenchmarkText(b *testing.B) {
	for _, n := range []int{8, 64, 4096} {
		raw := []byte(`"` + strings.Repeat("a", n) + `"`)
		b.Run(strconv.Itoa(n), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if _, ok := Text(raw); !ok {
					b.Fatal()
				}
			}
		})
	}
}

func BenchmarkQuote(b *testing.B) {
	for _, n := range []int{8, 64, 4096} {
		s := strings.Repeat("a", n)
		b.Run(strconv.Itoa(n), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				Quote(s)
			}
		})
	}
}

func BenchmarkRepeatedName(b *testing.B) {
	object := benchObject(1 << 10)
	b.ReportAllocs()
	for b.Loop() {
		if RepeatedName(object, 500) != "" {
			b.Fatal()
		}
	}
}

func BenchmarkRewrite(b *testing.B) {
	object := benchObject(100 << 10)
	for name, with := range map[string][]byte{"keep": nil, "replace": []byte(`"x"`)} {
		b.Run(name, func(b *testing.B) {
			v := Visitor[struct{}]{
				Member: func(struct{}, []byte, byte) (s struct{}, whole bool) { return s, false },
				String: func(struct{}, []byte) []byte { return with },
			}
			b.ReportAllocs()
			for b.Loop() {
				if _, ok := Rewrite(nil, object, struct{}{}, &v); !ok {
					b.Fatal()
				}
			}
		})
	}
}
