// Package git knows git, subcommand by subcommand.
package git

import (
	"mycelium/internal/shell/effect"
	"mycelium/internal/shell/program"
)

// Rows is the row of git.
var Rows = []program.Row{
	{Name: "git",
		Options: "C=k c=v git-dir=b work-tree=b exec-path=? namespace=v config-env=v p|paginate P|no-pager super-prefix=v " +
			"attr-source=v list-cmds=v",
		Plain: "bare glob-pathspecs h help html-path icase-pathspecs info-path literal-pathspecs man-path no-advice no-lazy-fetch " +
			"no-optional-locks no-replace-objects noglob-pathspecs v version",
		Handle: globalOptions, Other: other, Subs: commands},
}

const optionsGitBlame = "output=w contents=r ignore-revs-file=r S=r X|exclude-from=r format=v"

// commands are the subcommands of git.
var commands = []program.Row{
	{Name: "blame|annotate|show-ref|for-each-ref|shortlog|show-branch", Plain: plainGitBlame,
		Options: optionsGitBlame, Here: "r", KeepsBranch: true, Handle: readPaths},
	{Name: "status", Plain: plainGitBlame, Options: optionsGitBlame + " v|verbose", Here: "r", KeepsBranch: true, Handle: status},
	{Name: "ls-files|ls-tree", Plain: plainGitBlame, Options: optionsGitBlame, Here: "r", KeepsBranch: true, Handle: namePaths},
	{Name: "check-ignore|check-attr", Plain: plainGitAsk, Options: "format=v", Here: "r", KeepsBranch: true, Handle: namePaths},
	{Name: "describe", Plain: plainGitDescribe, Here: "r", KeepsBranch: true, Handle: readPaths},
	{Name: "rev-parse", Plain: plainGitRevParse, Options: "default=v prefix=v resolve-git-dir=r git-path=v path-format=v", Here: "r",
		KeepsBranch: true, Handle: readPaths},
	{Name: "cat-file", Plain: plainGitCatFile, Options: "batch=? batch-check=? batch-command=?", Here: "r", KeepsBranch: true,
		Handle: readPaths},
	{Name: "rev-list|diff-tree|diff-index|diff-files|whatchanged|range-diff", Plain: plainGitRevList, Options: optionsGitLog, Here: "r",
		KeepsBranch: true, Handle: history},
	{Name: "name-rev|merge-base|count-objects|var|version|help|cherry|fsck|ls|" +
		"merge-tree|patch-id|get-tar-commit-id|check-ref-format|rev", Plain: plainGitAsk, Options: "format=v", Here: "r",
		KeepsBranch: true, Handle: readPaths},
	{Name: "verify-commit|verify-tag", Plain: "v verbose raw", Options: "format=v", Here: "r", KeepsBranch: true, Handle: readPaths},
	{Name: "reflog", Plain: plainGitLog, Options: optionsGitLog, Other: reflog, Subs: []program.Row{
		{Name: "expire|delete|drop", Here: "r", Does: lost},
		{Name: "show", Plain: plainGitLog, Options: optionsGitLog, Here: "r", Handle: history},
		{Name: "list|exists", Plain: "h", Here: "r"},
	}},
	{Name: "log|show|diff|format-patch", Plain: plainGitLog, Options: optionsGitLog, Here: "r", KeepsBranch: true, Handle: show},
	{Name: "symbolic-ref", Plain: plainGitSymbolicRef, Options: "d|delete m=v q short", Here: "r", Handle: symbolicRef},
	{Name: "grep", Plain: plainGitGrep,
		Options: "e=v f=r A=v B=v C=v O|open-files-in-pager=? n l i E P no-index untracked max-depth=v m=v", Here: "r",
		KeepsBranch: true, Handle: grep},
	{Name: "add|stage", Plain: plainGitAdd,
		Options: "f|force A|all u|update p chmod=v pathspec-from-file=n n|dry-run", Operands: "r*", Here: "rw",
		KeepsBranch: true, Handle: add},
	{Name: "commit", Plain: plainGitCommit,
		Options: "m|message=v F|file=r t|template=r C|reuse-message=v c|reedit-message=v author=v date=v " +
			"S|gpg-sign=? amend a|all p|patch fixup=v squash=v no-verify n cleanup=v trailer=v e|edit pathspec-from-file=n",
		Operands: "r*", Here: "rw", KeepsBranch: true, Handle: commit},
	{Name: "branch", Plain: plainGitBranch,
		Options: "d|delete D M C m|move c|copy f|force u|set-upstream-to=v contains=v no-contains=v merged=? " +
			"no-merged=? sort=v format=v points-at=v edit-description unset-upstream l|list a|all r|remotes v", Here: "r",
		Handle: branch},
	{Name: "switch", Plain: plainGitSwitch,
		Options: "c|create=v C|force-create=v f|force discard-changes orphan=v t|track=? d|detach m|merge conflict=v",
		Here:    "rw", Handle: switchBranch},
	{Name: "checkout", Plain: plainGitCheckout,
		Options: "b=v B=v f|force orphan=v t|track=? p|patch m|merge ours theirs detach l pathspec-from-file=n conflict=v",
		Here:    "rw", Handle: checkout},
	{Name: "restore", Plain: plainGitRestore,
		Options: "s|source=v S|staged W|worktree p|patch pathspec-from-file=n", Operands: "w*", Here: "rw",
		Handle: restore},
	{Name: "reset", Plain: plainGitReset,
		Options: "hard soft mixed keep merge p|patch q pathspec-from-file=n", Here: "rw", KeepsBranch: true,
		Handle: reset},
	{Name: "clean", Plain: plainGitClean, Options: "f|force n|dry-run d x X i|interactive e|exclude=v q", Here: "r", KeepsBranch: true,
		Handle: clean},
	{Name: "stash", Plain: plainGitStash, Options: optionsGitStash, Alone: effect.Read | effect.Write, Handle: stashAlone,
		Rest: effect.Write, Subs: []program.Row{
			{Name: "list|show", Plain: plainGitStashShow, Options: optionsGitLog, Here: "r", Handle: history},
			{Name: "drop|clear", Plain: plainGitStash, Here: "r", Does: lost},
			{Name: "push", Plain: plainGitStash, Options: optionsGitStash, Operands: "w*", Here: "rw", Does: effect.Write, Handle: stash},
			{Name: "save|pop|apply|branch|create|store", Plain: plainGitStash, Options: optionsGitStash, Operands: "v*", Here: "rw",
				Does: effect.Write, Handle: stash},
		}},
	{Name: "push", Plain: plainGitPush,
		Options: "f|force force-with-lease=? force-if-includes mirror d|delete prune all branches tags follow-tags " +
			"u|set-upstream o|push-option=v receive-pack|exec=c repo=v n|dry-run no-verify signed=? recurse-submodules=v q v thin",
		KeepsBranch: true, Handle: push},
	{Name: "send-pack|http-push", Plain: plainGitPush,
		Options: "f|force all mirror d D stdin receive-pack|exec=c n|dry-run q v thin force-with-lease=? force-if-includes signed=? " +
			"remote=v push-option=v", KeepsBranch: true, Handle: push},
	{Name: "subtree", Plain: "d|debug q|quiet", Other: other, Subs: []program.Row{
		{Name: "push", Plain: "d|debug q|quiet squash rejoin ignore-joins",
			Options: "P|prefix=v f|force b|branch=v m|message=v onto=v annotate=v", Handle: push},
	}},
	{Name: "pull", Plain: plainGitPull, Options: "r|rebase=? upload-pack=c f|force s|strategy=v X=v S=? j=? depth=v", Here: "rw",
		Does: effect.Network | effect.Write, Handle: pull},
	{Name: "fetch", Plain: plainGitFetch,
		Options: "upload-pack=c f|force p|prune depth=v j=v refmap=v o=v all u|update-head-ok", Here: "rw",
		Does:        effect.Network,
		KeepsBranch: true, Handle: fetch},
	{Name: "clone", Plain: plainGitClone,
		Options: "u|upload-pack=c config|c=v template=e b|branch=v o|origin=v depth=v reference|reference-if-able=r separate-git-dir=x " +
			"j=v filter=v recurse-submodules|recursive=? shallow-since=v bundle-uri=h", Here: "rw", Does: effect.Network, Handle: clone},
	{Name: "ls-remote", Plain: plainGitLsRemote, Options: "upload-pack|exec=c sort=v o=v h t", Here: "r", Does: effect.Network,
		KeepsBranch: true, Handle: fetch},
	{Name: "remote", Plain: "h", Options: "v|verbose", Subs: []program.Row{
		{Name: "show|get-url|-v", Plain: "n v verbose all push", Here: "r"},
		{Name: "update|prune", Plain: "p prune n dry-run v verbose", Here: "rw", Does: effect.Network},
		{Name: "add|set-url|rename|remove|rm|set-head|set-branches", Plain: "tags a|auto d|delete push add progress",
			Options: "f|fetch t|track=v m|master=v", Here: "r", Handle: remote},
	}},
	{Name: "config", Plain: plainGitConfig,
		Options: "f|file=w global system local worktree l|list get get-all get-regexp get-urlmatch unset unset-all " +
			"add e|edit blob=v type=v t=v replace-all rename-section remove-section", Handle: config},
	{Name: "merge", Plain: plainGitMerge,
		Options: "m|message=v F|file=r s|strategy=v X=v S=? abort continue squash no-ff ff-only cleanup=v into-name=v",
		Here:    "rw", KeepsBranch: true, Does: effect.Write, Handle: merge},
	{Name: "cherry-pick|revert", Plain: plainGitCherryPick,
		Options: "m|mainline=v S=? s|signoff strategy=v X=v abort continue n x e", Here: "rw",
		KeepsBranch: true, Does: effect.Write, Handle: pick},
	{Name: "rebase", Plain: plainGitRebase,
		Options: "x|exec=c onto=v s|strategy=v X=v i|interactive abort continue skip quit edit-todo root", Here: "rw",
		Does: effect.History | effect.Write, Shows: "abort quit", Handle: rebase},
	{Name: "tag", Plain: plainGitTag,
		Options: "m|message=v F|file=r u|local-user=v d|delete f|force l|list=? n=? sort=v contains=v points-at=v " +
			"format=v a s merged=? no-merged=?", Here: "r", KeepsBranch: true, Handle: tag},
	{Name: "apply", Plain: plainGitApply,
		Options: "check stat numstat summary directory=w p=v exclude=v include=v build-fake-ancestor=w unsafe-paths " +
			"R|reverse 3way index cached", Operands: "r*", Here: "rw", Does: effect.Write, Shows: "check stat numstat summary",
		Handle: patched},
	{Name: "am", Plain: plainGitAm,
		Options: "abort continue skip directory=v p=v", Operands: "r*", Here: "rw", Does: effect.Write, Handle: patched},
	{Name: "mv", Plain: plainGitMv, Options: "f|force", Operands: "m*w", Handle: moveFiles},
	{Name: "rm", Plain: plainGitRm, Options: "r f|force cached pathspec-from-file=n", Operands: "d*", Instead: "cached v*"},
	{Name: "init", Plain: plainGitInit, Options: "template=e separate-git-dir=x b|initial-branch=v shared=?", Operands: "w", Here: "w",
		Handle: initialize},
	{Name: "worktree", Plain: "h help V version v verbose", Subs: []program.Row{
		{Name: "list", Plain: "v verbose porcelain z expire=v", Here: "r"},
		{Name: "add", Plain: "f force d detach checkout lock orphan q quiet guess-remote track relative-paths",
			Options: "b=v B=v reason=v", Operands: "wv", Does: effect.Write, Handle: addWorktree},
		{Name: "remove", Plain: "h", Options: "f|force", Operands: "d", Does: effect.History},
		{Name: "prune|lock|unlock|move|repair", Plain: "n dry-run v verbose expire=v reason=v f force relative-paths", Operands: "w*",
			Does: effect.Write},
	}},
	{Name: "archive", Plain: "# l list v verbose worktree-attributes mtime=v",
		Options: "o|output=w format=v prefix=v remote=h exec=c add-file=r", Here: "r", Handle: readPaths},
	{Name: "bundle", Plain: "h help V version v verbose", Subs: []program.Row{
		{Name: "create", Plain: "q quiet progress all-progress all-progress-implied version=v all branches=? tags=? remotes=? not " +
			"since=v max-count=v n=v filter=v", Operands: "wv*"},
		{Name: "verify|list-heads|unbundle", Plain: "q quiet progress", Operands: "rv*"},
	}},
	{Name: "notes", Plain: "h", Options: "ref=v", Rest: effect.History, Subs: []program.Row{
		{Name: "list|show", Plain: "h", Here: "r"},
		{Name: "add|append|copy|edit|merge", Plain: "allow-empty separator=? stripspace q quiet v verbose s=v strategy=v abort stdin",
			Options: "m|message=v F|file=r C|reuse-message=v c|reedit-message=v", Here: "rw"},
	}},
	{Name: "bisect", Plain: "h", Subs: []program.Row{
		{Name: "run", Style: program.First, Plain: "h help", Parse: program.RunOperands},
		{Name: "start|good|bad|new|old|skip|reset|replay|next", Plain: "term-new=v term-bad=v term-old=v term-good=v no-checkout " +
			"first-parent", Here: "rw", Handle: bisect},
		{Name: "log|terms|help", Plain: "term-new term-bad term-old term-good", Here: "rw"},
		{Name: "view|visualize", Plain: plainGitLog, Options: optionsGitLog, Here: "rw", Handle: history},
	}},
	{Name: "sparse-checkout", Plain: "h", Subs: []program.Row{
		{Name: "list", Plain: "h", Here: "r"},
		{Name: "init|set|add|reapply|disable", Plain: "cone sparse-index stdin skip-checks", Here: "rw", Handle: sparse},
	}},
	{Name: "submodule", Plain: "quiet cached", Options: "q", Subs: []program.Row{
		{Name: "status|summary", Plain: "cached recursive q quiet files n=v summary-limit=v for-status commit", Here: "r"},
		{Name: "init|update|sync|deinit|absorbgitdirs", Plain: "q quiet N no-fetch all checkout merge rebase recommend-shallow " +
			"single-branch progress dissociate require-init jobs=v filter=v",
			Options: "init recursive remote depth=v j=v reference=r f|force", Here: "rw", Does: effect.Network | effect.Write,
			Handle: modules},
		{Name: "foreach", Plain: "q quiet", Style: program.First, Options: "recursive", Parse: eachModule},
		{Name: "add", Plain: "f force q quiet branch=v depth=v progress", Options: "b=v name=v reference=r", Here: "rw",
			Does: effect.Network | effect.Install},
	}},
	{Name: "lfs", Plain: "h", Subs: []program.Row{
		{Name: "ls-files|status|version|env|logs|track", Plain: "l long s size d debug a all deleted n name-only j json p porcelain " +
			"filename lockable not-lockable no-excluded no-modify-attrs verbose v dry-run", Options: "I|include=v X|exclude=v", Here: "r"},
		{Name: "fetch", Plain: "r recent a all p prune refetch d dry-run j json stdin", Options: "I|include=v X|exclude=v", Here: "rw",
			Does: effect.Network},
		{Name: "pull|checkout", Plain: "base ours theirs", Options: "I|include=v X|exclude=v to=w", Here: "rw", Does: effect.Network,
			Handle: large},
		{Name: "push", Does: effect.Push | effect.Network},
	}},
	{Name: "read-tree|checkout-index|update-index|maintenance|pack-refs|repack|multi-pack-index|commit-graph|write-tree|" +
		"commit-tree|hash-object|mktag|mktree|rerere|mergetool|difftool|gui|citool|stripspace|interpret-trailers|column|" +
		"fmt-merge-msg|unpack-objects|index-pack|pack-objects|merge-file|merge-index", Parse: other},
	{Name: "gc", Plain: "q quiet cruft force keep-largest-pack detach max-cruft-size=v", Options: "prune=? aggressive auto", Here: "rw",
		Handle: collect},
	{Name: "prune|filter-repo", Here: "rw", Does: lost},
	{Name: "filter-branch|replace|update-ref|fast-import|prune-packed", Here: "rw", Does: effect.History},
}
