package project

// The options of cargo, rustc and rustfmt, besides those that the rows name.

// cargoOptions are the options of many subcommands of cargo.
const cargoOptions = "manifest-path=r target-dir=w artifact-dir|out-dir=w lockfile-path=w p|package=v " +
	"config=x registry=v index=h Z=v color=v target=v"

// plainCargo are the harmless options of every subcommand of cargo.
const plainCargo = "h help V version q|quiet v|verbose frozen locked offline F|features=v all-features " +
	"no-default-features default-features list l"

// plainCargoBuild are those of what builds.
const plainCargoBuild = plainCargo + " bin=v bins example=v examples test=v tests bench=v benches lib doc all all-targets " +
	"workspace exclude=v profile=v r|release j|jobs=v message-format=v future-incompat-report " +
	"ignore-rust-version keep-going unit-graph timings=? no-run no-fail-fast no-deps document-private-items fix " +
	"allow-dirty allow-staged allow-no-vcs broken-code edition edition-idioms explain=v"

// plainCargoShow are those of what shows, and of what changes Cargo.toml.
const plainCargoShow = plainCargo + " all all-targets workspace w bin lib bins charset=v d|duplicates e|edges=v i|invert=v " +
	"depth=v f|format=v prefix=v prune=v exclude=v no-dedupe check message-format=v filter-platform=v " +
	"format-version=v no-deps limit=v precise=v recursive breaking b aggressive n|dry-run ignore-rust-version " +
	"publish-time=v r|release profile=v doc dev build optional edition=v name=v vcs=v allow-dirty no-verify " +
	"no-metadata exclude-lockfile j|jobs=v keep-going no-delete versioned-dirs respect-source-config verify"

const plainRustc = "A|allow=v W|warn=v D|deny=v F|forbid=v force-warn=v l=v O g h help V version v verbose " +
	"test check-cfg=v color=v crate-name=v diagnostic-width=v error-format=v json=v remap-path-prefix=v " +
	"remap-path-scope=v"

const plainRustfmt = "q quiet v verbose V version h help l files-with-diff backup color=? emit=v " +
	"style-edition=v unstable-features"
