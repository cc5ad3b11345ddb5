package source

import "strings"

// CheckStore reports what is wrong with the address of a store. usual is the one that a project has by default.
func CheckStore(store, usual string, bad Report) {
	switch path, sqlite := strings.CutPrefix(store, "sqlite://"); {
	case store == "":
	case sqlite && path == "":
		bad("store", "store names no file", "write "+usual)
	case strings.HasPrefix(store, "postgres://"), strings.HasPrefix(store, "postgresql://"):
		bad("store", "this version does not read postgres:// yet", "write "+usual+", or leave store out")
	case !sqlite:
		bad("store", "store must begin with sqlite://", "write "+usual+", or leave store out")
	}
}
