package wrapper

// The options of which a program only changes how it works or what it shows: see Plain of [program.Row]. They are those of the manuals
// without what the rows name; what is missing in both asks.
const (
	plainEnv     = "v debug list-signal-handling help version"
	plainNice    = "# 20 help version"
	plainNohup   = "help version"
	plainTimeout = "v foreground preserve-status verbose help version"
	plainXargs   = "o x exit interactive open-tty show-limits verbose help version"
	plainStdbuf  = "help version"
	// What runs, loads, reads or sends is left out: --filter, --limit, --pipe-part, --sqlworker, --sshloginfile, --tmux, --transferfile,
	// --wrapper.
	plainParallel = "0|null eta progress u|ungroup line-buffer|linebuffer|lb group will-cite citation no-notice q|quote link xapply " +
		"shuf tag " +
		"plus v t|verbose pipe|spreadstdin r|no-run-if-empty round-robin|rr x|exit P|max-procs=v E=v s|max-chars=v trim=v resume " +
		"resume-failed retry-failed number-of-cpus number-of-cores number-of-threads color total-jobs|total=v help V|version minversion=v"
)
