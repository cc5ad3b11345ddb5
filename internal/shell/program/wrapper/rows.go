// Package wrapper knows programs that run other commands: shells, env, sudo, xargs and the like.
package wrapper

import (
	"mycelium/internal/shell/effect"
	"mycelium/internal/shell/program"
)

// Rows are shells, and wrappers around other commands, sorted by name.
var Rows = []program.Row{
	{Name: "aa-exec", Style: program.First, Parse: sudo},
	{Name: "ash", Parse: shell},
	{Name: "bash", Parse: shell},
	{Name: "busybox", Plain: "list list-full help", Style: program.First, Parse: program.RunOperands},
	{Name: "caffeinate", Style: program.First, Options: "t=v w=v", Plain: "d i m s u", Parse: program.RunOperands},
	{Name: "capsh", Style: program.First, Parse: sudo},
	{Name: "chrt", Style: program.First, Options: "T|sched-runtime=v P|sched-period=v D|sched-deadline=v p|pid=v",
		Plain: "a|all-tasks b|batch d|deadline e|ext f|fifo i|idle m|max o|other r|rr R|reset-on-fork v|verbose h|help V|version", Parse: behindFirst},
	{Name: "dash", Parse: shell},
	{Name: "doas", Style: program.First, Options: "u=v C=r", Parse: sudo},
	{Name: "env", Plain: plainEnv, Style: program.First,
		Options: "u|unset=v C|chdir=v S|split-string=v i|ignore-environment 0|null P=v a|argv0=v " +
			"block-signal=? default-signal=? ignore-signal=?", Parse: env},
	{Name: "fish", Parse: shell},
	{Name: "flock", Style: program.First, Options: "c|command=v w|wait|timeout=v E|conflict-exit-code=v",
		Plain: "e x|exclusive F|no-fork n|nb|nonblock o|close s|shared u|unlock verbose h|help V|version", Parse: flock},
	{Name: "hyperfine", Options: "p|prepare=c s|setup=c c|cleanup=c w|warmup=v r|runs=v m|min-runs=v M|max-runs=v " +
		"n|command-name=v S|shell=v export-json=w export-markdown=w export-csv=w export-asciidoc=w export-orgmode=w reference=c " +
		"conclude=c L|parameter-list=2 D|parameter-step-size=v",
		Plain: "i|ignore-failure=? N style=v u|time-unit=v show-output sort=v h|help V|version", Operands: "c*"},
	{Name: "ionice", Style: program.First, Options: "c|class=v n|classdata=v p|pid=v P|pgid=v u|uid=v",
		Plain: "t|ignore h|help V|version", Parse: ionice},
	{Name: "ksh", Parse: shell},
	{Name: "ltrace", Style: program.First, Options: "p=v o=w", Parse: sudo},
	{Name: "nice", Plain: plainNice, Style: program.First, Options: "n|adjustment=v", Parse: program.RunOperands},
	{Name: "nohup", Plain: plainNohup, Style: program.First, Parse: program.RunOperands},
	{Name: "nsenter", Style: program.First, Options: "t|target=v S|setuid=v G|setgid=v", Parse: sudo},
	{Name: "parallel", Plain: plainParallel, Style: program.First,
		Options: "a|arg-file=v j|jobs=v I=v S|sshlogin=h delay=v timeout=v results=w joblog=w C|colsep=v N=v n|max-args=v L=v " +
			"d|delimiter=v retries=v tmpdir|tempdir=w bar k|keep-order dry-run basefile|bf=r block=v env=v halt=v header=v load=v " +
			"memfree=v " +
			"nice=v profile|J=x recstart=v recend=v return=v rpl=i id|semaphorename=v ssh=c sshdelay=v tagstring=v trc=v wd|workdir=k " +
			"X " +
			"m", Parse: parallel},
	{Name: "perf", Style: program.First, Parse: sudo},
	{Name: "pkexec", Style: program.First, Options: "u|user=v", Parse: sudo},
	{Name: "runuser", Options: "c|command=v u=v", Parse: su},
	{Name: "script", Style: program.First,
		Options: "c|command=v I|log-in=w O|log-out=w B|log-io=w T|log-timing=w t|timing=?w E=v m|logging-format=v o|output-limit=v echo=v",
		Plain:   "a|append e|return f|flush force q|quiet h|help V|version", Operands: "w",
		Parse: script},
	{Name: "setpriv", Style: program.First, Parse: sudo},
	{Name: "setsid", Plain: "c|ctty f|fork w|wait h|help V|version", Style: program.First, Parse: program.RunOperands},
	{Name: "sh", Parse: shell},
	{Name: "stdbuf", Plain: plainStdbuf, Style: program.First, Options: "i|input=v o|output=v e|error=v", Parse: program.RunOperands},
	{Name: "strace", Style: program.First, Options: "p|attach=v o|output=w e=v f c", Parse: sudo},
	{Name: "su", Options: "c|command=v s|shell=v g=v G=v w=v", Parse: su},
	{Name: "sudo", Style: program.First,
		Options: "u|user=v g|group=v h|host=v p|prompt=v C=v r=v t=v T=v U=v D|chdir=v R|chroot=v a=v", Parse: sudo},
	{Name: "sudoedit", Operands: "b*", Does: effect.Privilege},
	{Name: "systemd-run", Style: program.First, Options: "p|property=v u|unit=v user t|pty", Parse: sudo},
	{Name: "taskset", Plain: "a|all-tasks c|cpu-list p|pid h|help V|version", Style: program.First, Parse: behindFirst},
	{Name: "tcsh", Parse: shell},
	{Name: "time", Plain: "a|append h l p|portability q|quiet v|verbose help V|version", Style: program.First,
		Options: "o|output=w f|format=v", Parse: program.RunOperands},
	{Name: "timeout", Plain: plainTimeout, Style: program.First, Options: "s|signal=v k|kill-after=v", Parse: behindFirst},
	{Name: "truss", Style: program.First, Parse: sudo},
	{Name: "unbuffer", Plain: "p", Style: program.First, Parse: program.RunOperands},
	{Name: "unshare", Style: program.First, Parse: sudo},
	{Name: "watch", Plain: "b|beep C|no-color c|color d|differences=? e|errexit g|chgexit p|precise r|no-rerun t|no-title " +
		"w|no-wrap h|help v|version", Style: program.First, Options: "n|interval=v q|equexit=v s|shotsdir=w x|exec", Parse: watch},
	{Name: "xargs", Plain: plainXargs, Style: program.First,
		Options: "a|arg-file=v d|delimiter=v E=v I=v i|replace=? L=v l|max-lines=? e|eof=? n|max-args=v P|max-procs=v s|max-chars=v " +
			"process-slot-var=v 0|null r|no-run-if-empty t p J=v R=v S=v", Parse: xargs},
	{Name: "zsh", Parse: shell},
}
