package shell_test

import (
	"encoding/json"
	"fmt"
	"mycelium/internal/shell"
	"os"
	"strings"
	"testing"
)

func TestZZ(t *testing.T) {
	b, _ := os.ReadFile("/tmp/fzprobe/in")
	for _, l := range strings.Split(strings.TrimSpace(string(b)), "\n") {
		l = strings.ReplaceAll(l, "⏎", "\n")
		f := shell.Facts(l, shell.Options{Dir: "/home/dev/shop", Home: "/home/dev"})
		fmt.Println("==", l)
		for _, p := range f.Parts {
			j, _ := json.Marshal(p)
			fmt.Println("  ", string(j))
		}
	}
}
