package wrapper

// The options of which a program only changes how it works or what it shows: see Plain of [program.Row]. They are those of the manuals
// without what the rows name; what is missing in both asks.
const (
	plainEnv     = "v debug list-signal-handling help version"
	plainNice    = "# 20 help version"
	plainNohup   = "help version"
	plainTimeout = "v foreground preserve-status verbose help version"
	plainXargs   = "e=? l=? o x eof=? exit interactive open-tty show-limits verbose help version"
	plainStdbuf  = "help version"
)
