package facts

import (
	"testing"

	"mycelium/internal/policy"
)

// TestSourcesThatInclude: a compiler shows the files that its sources name, so these count as read (W11).
func TestSourcesThatInclude(t *testing.T) {
	dir := projectWith(t, ".env", "src/a.c", "src/plain.h")
	for name, text := range map[string]string{
		"src/x.c":      "#include <stdio.h>\n#include \"../.env\"\n",
		"src/deep.c":   "#include \"plain.h\"\n  #  include \"deep.h\"\n",
		"src/deep.h":   "#/* */include \"../.env\"\n",
		"src/joined.c": "#inc\\\nlude \"../.env\"\n",
		"src/line.c":   "#line 1 \"../.env\"\nint x = ;\n",
		"src/embed.c":  "char s[] = {\n#embed \"../.env\"\n};\n",
		"src/asm.c":    "__asm__(\".incbin \\\".env\\\"\");\n",
		"src/asm.s":    ".incbin \".env\"\n",
		"src/macro.c":  "#define F \"../.env\"\n#include F\n",
		"src/option.c": "#include F\n",
		"src/path.c":   "#include <.env>\n",
		"src/good.c":   "#include \"plain.h\"\n#include <stdlib.h>\n// #include \"../.env\"\n#define E \".env\"\n",
	} {
		writeFile(t, text, dir, name)
	}
	wants(t, dir, policy.Deny, "gcc -E src/x.c", "gcc -c src/deep.c", "clang -fsyntax-only src/joined.c", "cc src/line.c",
		"gcc -c src/embed.c",
		"gcc -c src/asm.c", "as src/asm.s", "gcc src/macro.c", `gcc '-DF="../.env"' src/option.c`, "gcc -I. -E src/path.c",
		"g++ -I . -E src/path.c",
		`echo '#include F' > src/y.c; gcc '-DF="../.env"' -E src/y.c`, "gcc -E src/*.c", `gcc -E - <<< '#include ".env"'`,
		`echo '#include ".env"' | gcc -E -`,
		"cat > y.c <<'X'\n#include \".env\"\nX\ngcc -E y.c")
	wants(t, dir, policy.Allow, "gcc -c src/a.c", "gcc -I. -Wall -c src/good.c -o good.o", "cc -c src/option.c")
}
