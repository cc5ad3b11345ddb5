package git

// The options of which a program only changes how it works or what it shows: see Plain of [program.Row]. They are those of the manuals
// without what the rows name; what is missing in both asks.
const (
	plainGitAdd = "i N v ignore-errors ignore-missing ignore-removal intent-to-add interactive patch pathspec-file-nul refresh " +
		"renormalize sparse verbose warn-embedded-repo"
	plainGitAm = "3 c C=v i k m q r s S=? u 3way allow-empty binary committer-date-is-author-date empty=v exclude=v gpg-sign=? " +
		"ignore-date ignore-space-change ignore-whitespace include=v interactive keep keep-cr keep-non-patch message-id " +
		"patch-format=v quiet quit quoted-cr=v rebasing reject rerere-autoupdate resolved resolvemsg=v scissors " +
		"show-current-patch=? signoff utf8 whitespace=v"
	plainGitApply = "3 C=v N q v z add allow-binary-replacement allow-empty allow-overlap apply binary ignore-space-change " +
		"ignore-whitespace inaccurate-eof intent-to-add quiet recount reject unidiff-zero verbose whitespace=v"
	plainGitBranch = "i q t=? abbrev=? color=? column=? create-reflog ignore-case quiet recurse-submodules set-upstream show-current " +
		"track=? verbose with without"
	plainGitCheckout = "2 3 d q guess ignore-other-worktrees ignore-skip-worktree-bits overlay overwrite-ignore pathspec-file-nul progress " +
		"quiet recurse-submodules=?"
	plainGitCherryPick = "allow-empty allow-empty-message cleanup=v commit edit ff gpg-sign=? keep-redundant-commits quit reference " +
		"rerere-autoupdate skip strategy-option=v"
	plainGitClean = "quiet"
	plainGitClone = "4 6 l n q s v also-filter-submodules bare checkout dissociate hardlinks ipv4 ipv6 jobs=v local mirror naked progress " +
		"quiet reject-shallow remote-submodules server-option=v shallow-exclude=v shallow-submodules shared single-branch " +
		"sparse tags verbose"
	plainGitCommit = "i o q s u=? v z ahead-behind allow-empty allow-empty-message branch dry-run include interactive long null only " +
		"pathspec-file-nul porcelain post-rewrite quiet reset-author short signoff status untracked-files=? verbose verify"
	plainGitConfig = "z bool bool-or-int bool-or-str default=v expiry-date fixed-value includes int name-only null path show-origin " +
		"show-scope"
	plainGitLog = "# a B b C c D E|extended-regexp F|fixed-strings g I=v i k l=v M m N p P|perl-regexp q R s t u v=v W w X=? z " +
		"abbrev-commit " +
		"abbrev=? add-header=v after=v all all-match alternate-refs ancestry-path=? anchored=v attach=? " +
		"author-date-order base=v basic-regexp before=v binary bisect boundary branches=? break-rewrites cached cc=? " +
		"check cherry cherry-mark cherry-pick children clear-decorations color color-moved color-moved-ws=v " +
		"color-words combined-all-paths committer=v compact-summary cover-from-description=v cover-letter " +
		"creation-factor=v cumulative date-order dd decorate-refs-exclude=v decorate-refs=v decorate=? dense " +
		"diff-algorithm=v diff-filter=v diff-merges=v dirstat dirstat-by-file do-walk dst-prefix=v encoding=v " +
		"exclude-hidden=v exclude=v exit-code expand-tabs=? filename-max-length=v find-copies find-copies-harder " +
		"find-object=v find-renames first-parent follow force-in-body-from from=? full-diff full-history full-index " +
		"function-context glob=v graph histogram ignore-all-space ignore-blank-lines ignore-cr-at-eol " +
		"ignore-if-in-upstream ignore-matching-lines=v ignore-missing ignore-space-at-eol ignore-space-change " +
		"ignore-submodules in-reply-to=v indent-heuristic indexed-objects inline=? inter-hunk-context=v interdiff=v " +
		"invert-grep irreversible-delete ita-invisible-in-index ita-visible-in-index keep-subject left-only left-right " +
		"line-prefix=v log-size mailmap max-parents=v merge merge-base merges min-parents=v minimal name-only " +
		"name-status no-prefix no-renames no-stat no-walk=? not notes=? numbered numbered-files numstat oneline ours " +
		"output-indicator-context=v output-indicator-new=v output-indicator-old=v parents patch patch-with-raw " +
		"patch-with-stat patience pickaxe-all pickaxe-regex progress quiet range-diff=v raw reflog regexp-ignore-case " +
		"relative relative-date remerge-diff remotes=? remove-empty rename-empty reroll-count=v reverse rfc right-only " +
		"root rotate-to=v shortstat show-linear-break=? show-pulls signature=v signoff simplify-by-decoration " +
		"simplify-merges since-as-filter=v single-worktree skip-to=v skip=v source sparse src-prefix=v staged " +
		"start-number=v stat-count=v stat-graph-width=v stat-name-width=v stat-width=v stdout subject-prefix=v " +
		"submodule suffix=v summary tags=? text theirs thread=? timestamp to=v topo-order use-mailmap walk-reflogs " +
		"word-diff word-diff-regex=v ws-error-highlight=v zero-commit"
	plainGitFetch = "4 6 a k m n P q t v append atomic auto-gc auto-maintenance deepen=v dry-run filter=v ipv4 ipv6 jobs=v keep multiple " +
		"negotiate-only negotiation-tip=v prefetch progress prune-tags quiet recurse-submodules-default=v recurse-submodules=? " +
		"refetch server-option=v set-upstream shallow-exclude=v shallow-since=v show-forced-updates stdin submodule-prefix=v " +
		"tags unshallow update-shallow verbose write-commit-graph write-fetch-head"
	plainGitGrep = "# a c F G H h I L o p q r v W w z after-context=v all-match and basic-regexp before-context=v break cached color=? " +
		"column context=v count exclude-standard ext-grep extended-regexp files-with-matches files-without-match fixed-strings " +
		"full-name function-context heading ignore-case index invert-match line-number max-count=v name-only not null " +
		"only-matching or perl-regexp quiet recurse-submodules recursive show-function text threads=v word-regexp"
	plainGitInit     = "q bare object-format=v quiet"
	plainGitLsRemote = "q exit-code get-url heads quiet refs server-option=v symref tags"
	plainGitMerge    = "e n q v allow-unrelated-histories autostash commit edit ff gpg-sign=? log=? overwrite-ignore progress quiet quit " +
		"rerere-autoupdate signoff stat strategy-option=v summary verbose verify"
	plainGitMv   = "k n v dry-run sparse verbose"
	plainGitPull = "4 6 a k n o=v p q t v all allow-unrelated-histories append autostash cleanup=v commit deepen=v dry-run edit ff " +
		"ff-only gpg-sign=? ipv4 ipv6 jobs=? keep log=? negotiation-tip=v progress prune quiet recurse-submodules=? refmap=v " +
		"server-option=v set-upstream shallow-exclude=v shallow-since=v show-forced-updates signoff=? squash stat " +
		"strategy-option=v summary tags unshallow update-shallow verbose verify"
	plainGitPush   = "4 6 atomic ipv4 ipv6 porcelain progress quiet verbose verify"
	plainGitRebase = "C=v f m n q r=? S=? v allow-empty-message apply autosquash autostash committer-date-is-author-date empty=v ff " +
		"force-rebase fork-point gpg-sign=? ignore-date ignore-whitespace keep-base keep-empty merge preserve-merges quiet " +
		"reapply-cherry-picks rebase-merges=? rerere-autoupdate reschedule-failed-exec reset-author-date show-current-patch " +
		"signoff stat strategy-option=v update-refs verbose verify whitespace=v"
	plainGitReset   = "N intent-to-add pathspec-file-nul quiet recurse-submodules=? refresh"
	plainGitRestore = "2 3 m q conflict=v ignore-skip-worktree-bits ignore-unmerged merge ours overlay pathspec-file-nul progress quiet " +
		"recurse-submodules=? theirs"
	plainGitRm          = "n q dry-run ignore-unmatch pathspec-file-nul quiet sparse"
	plainGitSwitch      = "q guess ignore-other-worktrees overwrite-ignore progress quiet recurse-submodules=?"
	plainGitSymbolicRef = "quiet recurse"
	plainGitTag         = "e i annotate cleanup=v color=? column=? create-reflog edit ignore-case no-contains=v sign with without"
	plainGitBlame       = "a b c C=? d e f g=? i k l L=v m M=? n o p q r s=? t u=? v w=? x=v z abbrev=? after=v ahead-behind all " +
		"author=v before=v branch branches=? cached color-by-age color-lines color=? column=? committer contains=v " +
		"count=v current date-order debug deduplicate deleted dereference directory email empty-directory eol " +
		"error-unmatch exclude-existing=? exclude-per-directory=v exclude-standard exclude=v find-renames=? " +
		"first-parent full-name full-tree grep=v group=v hash=? head heads ignore-case ignore-rev=v " +
		"ignore-submodules=? ignored=? incremental independent killed line-porcelain list long merge-base merged=v " +
		"merges minimal modified more=? name name-only name-status no-contains=v no-merged=v null numbered object-only " +
		"others perl points-at=v porcelain=? progress python quiet recurse-submodules reflog=? remotes renames " +
		"resolve-undo reverse root score-debug sha1-name shell short show-email show-name show-number show-stash " +
		"show-stats since=v sort=v sparse stage summary tags tcl topics topo-order unmerged until=v untracked-files=? " +
		"verbose verify with-tree=v"
	plainGitDescribe = "abbrev=? all always broken=? candidates=v contains debug dirty=? exact-match exclude=v first-parent long match=v tags"
	plainGitRevParse = "q quiet absolute-git-dir abbrev-ref=? after=v all before=v bisect branches=? disambiguate=v exclude-hidden=v " +
		"exclude=v flags git-common-dir git-dir glob=v is-bare-repository is-inside-git-dir is-inside-work-tree " +
		"is-shallow-repository keep-dashdash local-env-vars not output-object-format=v parseopt remotes=? revs revs-only " +
		"shared-index-path short=? show-cdup show-object-format=? show-prefix show-ref-format show-superproject-working-tree " +
		"show-toplevel since=v sq sq-quote stop-at-non-option stuck-long symbolic symbolic-full-name tags=? until=v verify"
	plainGitCatFile = "e p s t z Z allow-unknown-type batch-all-objects buffer filter=v follow-symlinks mailmap unordered use-mailmap"
	plainGitAsk     = "a c g H h i l m n q v z abbrev=? aliases all allow-onelevel allow-unrelated-histories always annotate-stdin branch " +
		"build-options cache cached config connectivity-only dangling developer-interfaces exclude=v external-commands " +
		"fork-point full guides human-readable independent index info is-ancestor lost-found man messages merge-base=v " +
		"name-objects name-only no-index non-matching normalize octopus peel-tag progress quiet raw reflogs refs=v " +
		"refspec-pattern root source=v stable stdin strict tags trivial-merge undefined unreachable unstable user-interfaces " +
		"verbatim verbose write-tree"
	plainGitRevList = plainGitLog + " bisect-all bisect-vars commit-header count disk-usage=? dual-color exclude-promisor-objects filter=v " +
		"header in-commit-order max-age=v min-age=v missing=v no-commit-id no-filter object-names objects objects-edge stdin " +
		"use-bitmap-index unpacked no-merges r"
	plainGitStashShow = plainGitLog + " include-untracked only-untracked"
	plainGitStash     = "q h quiet index pathspec-file-nul"

	// The options of what shows the history: they read and write files, or have values.
	optionsGitLog = "output=w o|output-directory=w O=r G=v S=v n|max-count=v since=v until=v author=v grep=v format=v pretty=? L=v " +
		"date=v U|unified=? stat ext-diff textconv i|no-index"
	// The options of git stash and its subcommands.
	optionsGitStash = "m|message=v u|include-untracked a|all p|patch k|keep-index S|staged pathspec-from-file=n"
)
