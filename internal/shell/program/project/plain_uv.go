package project

// The options of uv and poetry.

// plainUv are the harmless options of every subcommand of uv.
const plainUv = "q|quiet v|verbose h help V version n|no-cache|no-cache-dir no-config progress " +
	"python-downloads managed-python preview preview-features=v no-env-file native-tls system-certs"

// plainUvProject are those of what works on a project.
const plainUvProject = plainUv + " all-extras extra=v no-extra=v all-groups group=v no-group=v only-group=v " +
	"no-default-groups dev only-dev locked frozen check check-exists editable inexact exact sync install-project " +
	"install-workspace install-local no-install-package=v only-install-package=v all-packages package=v active " +
	"output-format=v dry-run U|upgrade P|upgrade-package=v upgrade-group=v reinstall force-reinstall " +
	"reinstall-package=v refresh refresh-package=v resolution=v prerelease=v pre fork-strategy=v exclude-newer=v " +
	"exclude-newer-package=v link-mode=v compile-bytecode build-isolation no-build-isolation-package=v sources " +
	"no-sources-package=v no-build no-build-package=v no-binary no-binary-package=v no-index python-platform=v " +
	"python-version=v torch-backend=v python-preference=v isolated no-project d|depth=v prune=v dedupe invert outdated " +
	"universal show-sizes format=v no-emit-package=v emit-project emit-workspace emit-local no-emit-project " +
	"no-emit-workspace no-emit-local header annotate hashes bump=v short optional=v sdist wheel force-pep517 " +
	"build-logs clear list diff"

// plainUvNew are those of init and venv.
const plainUvNew = plainUv + " clear allow-existing relocatable no-project application library no-package script vcs=v " +
	"build-backend=v description=v no-description author-from=v readme pin-python workspace link-mode=v refresh " +
	"exclude-newer=v python-preference=v"

const poetryOptions = "C|directory=k P|project=k o|output=w list local unset"

const plainPoetry = "v|verbose h help q|quiet ansi no-ansi V|version n|no-interaction no-plugins no-cache " +
	"without=v with=v only=v only-root sync no-root no-directory dry-run E|extras=v all-extras all-groups compile " +
	"regenerate no-update update check lock strict G|group=v D|dev tree why l|latest outdated a|all T|top-level " +
	"next-phase s|short f|format=v clean without-hashes name=v src flat readme=v description=v author=v python=v " +
	"license=v i|interactive"
