package project

// The options of pip. Those of uv are in plain_uv.go.

// plainPip are the harmless options of every subcommand of pip.
const plainPip = "debug disable-pip-version-check h help isolated no-cache-dir no-color no-input " +
	"no-python-version-warning q|quiet require-virtualenv use-feature=v v|verbose V|version"

// plainPipInstall are those of install, download and wheel.
const plainPipInstall = plainPip + " I|ignore-installed abi=v check-build-dependencies compile dry-run force-reinstall " +
	"ignore-requires-python implementation=v no-binary=v no-build-isolation no-clean no-deps no-index no-verify " +
	"no-warn-conflicts no-warn-script-location only-binary=v pre prefer-binary progress-bar=v python-version=v " +
	"require-hashes root-user-action=v upgrade-strategy=v use-pep517 resolution=v prerelease=v exclude-newer=v " +
	"link-mode=v compile-bytecode strict generate-hashes no-header no-annotate annotation-style=v all-extras extra=v " +
	"group=v universal python-platform=v strip-extras P|upgrade-package=v no-emit-package=v offline refresh reinstall " +
	"no-build exact"

// plainPipList are those of what shows.
const plainPipList = plainPip + " abi=v a|algorithm=v all exclude-editable include-editable implementation=v no-binary=v " +
	"no-index not-required only-binary=v platform=v pre python-version=v user ignore-requires-python json verify"
