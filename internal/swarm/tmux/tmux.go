// Package tmux drives tmux by its command line: panes, keys, windows.
package tmux
