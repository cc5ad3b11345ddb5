package project

// The options of compilers and of what builds: see plain.go.

const plainGcc = "c S E v w s W O Ofast g P C CC H M MM MD MMD MP MG p pg pipe pthread static shared rdynamic r t z=v Z u=v e=v h Q " +
	"ansi pedantic pedantic-errors traditional traditional-cpp trigraphs undef remap std=v stdlib=v param=v coverage " +
	"save-temps=? time target=v arch=v framework=v nostdlib nodefaultlibs nostartfiles nolibc nostdinc nostdinc++ " +
	"nostdlib++ pie no-pie static-pie static-libgcc static-libstdc++ static-libasan static-libubsan static-openmp " +
	"shared-libgcc dM dD dN dI dU dumpmachine dumpversion dumpfullversion dumpspecs print-file-name=v print-prog-name=v " +
	"print-search-dirs print-libgcc-file-name print-multi-lib print-multi-directory print-multiarch print-sysroot " +
	"print-resource-dir print-targets print-supported-cpus help=? version target-help ### no-canonical-prefixes " +
	"no-integrated-as integrated-as integrated-cpp Qunused-arguments emit-llvm analyze no-sysroot-suffix install_name=v " +
	"dynamiclib bundle dead_strip all_load ObjC current_version=v compatibility_version=v mmacosx-version-min=v " +
	"parse-as-library emit-library emit-module emit-executable module-name=v Onone sdk=v enable-testing " +
	"whole-module-optimization"
