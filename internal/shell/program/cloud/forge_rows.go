package cloud

import (
	"mycelium/internal/shell/effect"
	"mycelium/internal/shell/program"
)

// forgeShow are the options of what gh and glab show, and of most of their subcommands.
const (
	forgeShow      = "R|repo=v json=v q|jq=v t|template=v L|limit=v "
	plainForgeShow = "w|web help "
)

// forgeCommands are the subcommands of gh and glab, by two words.
var forgeCommands = []program.Row{
	{Name: "pr|mr|issue", Options: "R|repo=v", Plain: "help", Rest: effect.Network | effect.Publish, Subs: []program.Row{
		{Name: "list|ls|view|status|diff|checks", Options: forgeShow, Plain: plainForgeShow + "app=v a|assignee=v A|author=v B|base=v " +
			"d|draft H|head=v l|label=v S|search=v s|state=v mention=v m|milestone=v c|comments conflict-status color=v name-only " +
			"patch " +
			"i|interval=v fail-fast required watch all closed merged mine opened not-draft not-label=v page=v per-page=v " +
			"P=v reviewer=v source-branch=v target-branch=v output=v", Does: effect.Network},
		{Name: "checkout|co", Options: "R|repo=v b|branch=v", Plain: "detach f|force recurse-submodules help", Here: "rw",
			Does: effect.Network, Handle: checkoutRequest},
		{Name: "merge", Does: effect.Network | effect.Push | effect.Publish},
	}},
	{Name: "run|workflow|ci|pipeline", Options: "R|repo=v", Plain: "help", Rest: effect.Network | effect.Publish, Subs: []program.Row{
		{Name: "list|ls", Options: forgeShow, Plain: "a|all b|branch=v c|commit=v created=v e|event=v s|status=v u|user=v w|workflow=v " +
			"page=v per-page=v P=v help", Does: effect.Network},
		{Name: "view|watch|status|trace", Options: forgeShow, Plain: plainForgeShow + "a|attempt=v exit-status j|job=v log log-failed " +
			"v|verbose r|ref=v y|yaml i|interval=v compact live b|branch=v", Does: effect.Network},
		{Name: "download", Options: "D|dir=w n|name=v p|pattern=v R|repo=v", Plain: "help", Here: "rw", Does: effect.Network,
			Handle: download},
	}},
	{Name: "repo", Options: "R|repo=v", Plain: "help", Rest: effect.Network | effect.Publish, Subs: []program.Row{
		{Name: "view|list", Options: forgeShow,
			Plain: plainForgeShow + "b|branch=v archived fork l|language=v no-archived source topic=v " +
				"visibility=v", Does: effect.Network},
		{Name: "deploy-key|autolink|license|gitignore", Options: "R|repo=v", Plain: "help", Rest: effect.Network | effect.Publish,
			Subs: []program.Row{{Name: "list|view", Options: forgeShow, Plain: plainForgeShow, Does: effect.Network}}},
		{Name: "clone", Options: "u|upstream-remote-name=v", Plain: "no-upstream help", Operands: "vwv*", Here: "rw",
			Does: effect.Network, Handle: cloneForge},
		{Name: "delete|archive|rename|edit", Does: effect.Network | effect.Publish | effect.Destructive},
	}},
	{Name: "release", Options: "R|repo=v", Plain: "help", Rest: effect.Network | effect.Publish, Subs: []program.Row{
		{Name: "list|view", Options: forgeShow, Plain: plainForgeShow + "exclude-drafts exclude-pre-releases O|order=v",
			Does: effect.Network},
		{Name: "download", Options: "D|dir=w p|pattern=v O|output=w A|archive=v R|repo=v", Plain: "clobber skip-existing help",
			Here: "rw",
			Does: effect.Network, Handle: download},
	}},
	{Name: "search", Options: "R|repo=v", Plain: "help", Rest: effect.Network | effect.Publish, Subs: []program.Row{
		{Name: "code|commits|issues|prs|repos", Options: forgeShow, Plain: plainForgeShow + plainForgeSearch, Does: effect.Network},
	}},
	{Name: "status", Options: "e|exclude=v o|org=v", Plain: "help", Does: effect.Network},
	{Name: "browse", Options: "R|repo=v", Plain: "b|branch=v c|commit=? n|no-browser p|projects r|releases s|settings w|wiki a|actions " +
		"blame help", Does: effect.Network},
	{Name: "label|ruleset|org", Options: "R|repo=v", Plain: "help", Rest: effect.Network | effect.Publish, Subs: []program.Row{
		{Name: "list|ls|view|check", Options: forgeShow,
			Plain: plainForgeShow + "order=v S|search=v sort=v o|org=v p|parents b|branch=v " +
				"default", Does: effect.Network},
	}},
	{Name: "api",
		Options: "X|method=v f|raw-field=v F|field=v H|header=v input=r jq|q=v t|template=v paginate hostname=h p|preview=v cache=v",
		Plain:   "i|include silent slurp verbose help", Does: effect.Network, Handle: forgeAPI},
	{Name: "auth", Plain: "help", Rest: effect.Secrets | effect.Network, Subs: []program.Row{
		{Name: "status", Options: "t|show-token h|hostname=h a|active json=v q|jq=v template=v", Plain: "help", Does: effect.Network,
			Handle: showToken},
	}},
	{Name: "secret", Options: "R|repo=v", Plain: "help", Rest: effect.Network | effect.Publish, Subs: []program.Row{
		{Name: "list", Options: forgeShow, Plain: "a|app=v e|env=v o|org=v u|user help", Does: effect.Network},
	}},
	{Name: "codespace|cs", Options: "R|repo=v", Plain: "help", Rest: effect.Network | effect.Publish, Subs: []program.Row{
		{Name: "list|view", Options: forgeShow, Plain: plainForgeShow + "o|org=v u|user=v c|codespace=v repo-owner=v",
			Does: effect.Network},
	}},
	{Name: "gist|project", Options: "R|repo=v", Plain: "help", Rest: effect.Network | effect.Publish, Subs: []program.Row{
		{Name: "list|view|item-list|field-list", Options: forgeShow, Plain: plainForgeShow + "f|filename=v files r|raw public secret " +
			"filter=v include-content closed format=v owner=v", Does: effect.Network},
	}},
	{Name: "ssh-key|gpg-key|cache", Options: "R|repo=v", Plain: "help", Rest: effect.Network | effect.Publish, Subs: []program.Row{
		{Name: "list", Options: forgeShow, Plain: "k|key=v O|order=v r|ref=v S|sort=v help", Does: effect.Network},
	}},
	{Name: "variable", Options: "R|repo=v", Plain: "help", Rest: effect.Network | effect.Publish | effect.Secrets, Subs: []program.Row{
		{Name: "list|get", Options: forgeShow, Plain: "e|env=v o|org=v help", Does: effect.Network, Handle: showVariables},
	}},
	{Name: "config", Options: "R|repo=v", Plain: "help", Rest: effect.Network | effect.Publish, Subs: []program.Row{
		{Name: "list|get", Options: "h|host=h g|global", Plain: "help", Does: effect.Read, Handle: showSetting},
	}},
	{Name: "attestation", Options: "R|repo=v", Plain: "help", Rest: effect.Network | effect.Publish, Subs: []program.Row{
		{Name: "verify|trusted-root",
			Options: "R|repo=v o|owner=v b|bundle=r custom-trusted-root=r hostname=h format=v tuf-url=h tuf-root=r",
			Plain: "bundle-from-oci cert-identity=v i|cert-identity-regex=v cert-oidc-issuer=v deny-self-hosted-runners d|digest-alg=v " +
				"q|jq=v L|limit=v no-public-good predicate-type=v signer-digest=v signer-repo=v signer-workflow=v source-digest=v " +
				"source-ref=v t|template=v verify-only help", Operands: "r*", Does: effect.Network},
	}},
	{Name: "alias", Options: "R|repo=v", Plain: "help", Rest: effect.Install | effect.Unknown, Subs: []program.Row{{Name: "list|ls",
		Plain: "help", Does: effect.Read}}},
	{Name: "extension|ext", Options: "R|repo=v", Plain: "help", Rest: effect.Install | effect.Network | effect.Unknown,
		Subs: []program.Row{
			{Name: "list|ls", Plain: "help", Does: effect.Read},
			{Name: "search", Options: forgeShow, Plain: plainForgeShow + "license=v order=v owner=v sort=v", Does: effect.Network},
		}},
	{Name: "copilot|models|agent-task|skill", Does: effect.Install | effect.Network | effect.Unknown},
	{Name: "version|help|completion|--version", Plain: "s|shell=v help", Operands: "v*"},
}

// plainForgeSearch are the options of gh search.
const plainForgeSearch = "app=v archived assignee=v author=v author-date=v author-email=v author-name=v B|base=v checks=v closed=v " +
	"commenter=v comments=v committer=v committer-date=v committer-email=v committer-name=v created=v draft extension=v filename=v " +
	"followers=v forks=v good-first-issues=v hash=v H|head=v help-wanted-issues=v include-forks=v include-prs interactions=v " +
	"involves=v label=v language=v license=v locked match=v mentions=v merge merged merged-at=v milestone=v no-assignee no-label " +
	"no-milestone no-project number-topics=v order=v owner=v parent=v project=v reactions=v review=v review-requested=v " +
	"reviewed-by=v size=v sort=v stars=v state=v team-mentions=v topic=v tree=v updated=v visibility=v"
