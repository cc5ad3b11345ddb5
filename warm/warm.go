// Package warm keeps the modules of the present issue in go.mod while their rooms are being built. It goes before the issue ends.
package warm

import (
	_ "charm.land/bubbletea/v2"
	_ "charm.land/lipgloss/v2"
	_ "github.com/anthropics/anthropic-sdk-go"
	_ "github.com/go-telegram/bot"
	_ "github.com/mattn/go-runewidth"
	_ "golang.org/x/term"
	_ "mvdan.cc/sh/v3/syntax"
)
