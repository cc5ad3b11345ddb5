package project

// The options of which a program only changes how it works or what it shows: see Plain of [program.Row]. They are those of the manuals
// without what the rows name; what is missing in both asks.
const (
	plainMake = "b d e h i L m O=? p R r S v w always-make assume-new=v assume-old=v check-symlink-times debug=? environment-overrides " +
		"ignore-errors keep-going load-average=? max-load=? new-file=v no-builtin-rules no-builtin-variables no-keep-going " +
		"no-print-directory no-silent old-file=v output-sync=? print-data-base print-directory quiet silent stop trace " +
		"warn-undefined-variables what-if=v help version"
)
