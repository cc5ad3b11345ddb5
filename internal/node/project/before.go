package project

import (
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"mycelium/internal/config/settings"
)

// levelOff is the level of a log that has no lines. Only LOG_SILENT sets it.
const levelOff = "off"

// logLevel is the level of the log, and the flag or variable that sets it; "" are the files, whose empty level is warn.
func (l *Loader) logLevel() (level, from string) {
	switch {
	case l.Getenv("LOG_SILENT") != "":
		return levelOff, "LOG_SILENT"
	case l.Verbose:
		return "debug", "--verbose"
	case strings.EqualFold(l.Getenv("MYCELIUM_LOG"), "debug"):
		return "debug", "MYCELIUM_LOG"
	}
	return l.logs.Level, ""
}

// logFormat is text or json, as logLevel.
func (l *Loader) logFormat() (format, from string) {
	if v := l.Getenv("MYCELIUM_LOG_FORMAT"); v != "" {
		return v, "MYCELIUM_LOG_FORMAT"
	}
	return l.logs.Format, ""
}

// BeforeFiles are the settings that flags and variables of this run set, and that count before the files.
func (l *Loader) BeforeFiles() (all []settings.Setting) {
	add := func(key, value, from string) {
		if from == "" || value == "" {
			return
		}
		if quoted, err := jsontext.AppendQuote(nil, value); err == nil {
			all = append(all, settings.Setting{Key: key, Value: quoted, From: from})
		}
	}
	level, from := l.logLevel()
	add("log.level", level, from)
	format, from := l.logFormat()
	add("log.format", format, from)
	add("session.defaultRole", l.Getenv("MYCELIUM_CURRENT_ROLE"), "MYCELIUM_CURRENT_ROLE")
	add("state", l.StateDir, "--state")
	return all
}
