package main

import (
	"bufio"
	"bytes"
	"fmt"
	"io"

	"mycelium/internal/rawjson"
)

// converse sends requests one after the other and returns the answers. Notifications that come in between are kept too, so
// that a script can look for them.
func converse(w io.Writer, r io.Reader, requests []string) ([]string, error) {
	in := bufio.NewReader(r)
	var got []string
	for _, req := range requests {
		if _, err := io.WriteString(w, req+"\n"); err != nil {
			return got, fmt.Errorf("send: %w", err)
		}
		id := rawjson.Member([]byte(req), "id")
		if id == nil {
			continue // a notification has no answer
		}
		for {
			line, err := in.ReadBytes('\n')
			if err != nil {
				return got, fmt.Errorf("no answer to %s: %w", req, err)
			}
			line = bytes.TrimSpace(line)
			got = append(got, string(line))
			if bytes.Equal(rawjson.Member(line, "id"), id) && rawjson.Member(line, "method") == nil {
				break
			}
		}
	}
	return got, nil
}
