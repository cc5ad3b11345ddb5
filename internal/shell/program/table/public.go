package table

import "mycelium/internal/shell/program"

// Public reports whether a name is that of a public program without a row, which says its version and its options when it is asked for
// them and does nothing else. A program that somebody wrote for themselves may take no notice of its words.
func Public(name string) bool { return program.Named(public, name) }

const public = "" +
	"age|air|airflow|ansible-config|ansible-galaxy|ansible-lint|argocd|asciidoctor|aspell|atmos|autorest|bacon|bandwhich|" +
	"benthos|bison|bower|brakeman|btm|btop|buck2|buf|buildah|buildkite-agent|byobu|caddy|cargo-audit|cargo-nextest|" +
	"carthage|cbindgen|certbot|cfn-lint|changeset|checkov|chezmoi|chronyd|cilium|circleci|conftest|consul|cosign|crc|" +
	"crictl|croc|cscope|cspell|ctags|ctop|cwebp|dagger|dasel|dbmate|dbt|delta|depcheck|deptry|devbox|dive|dlt|doctl|dog|" +
	"doggo|dotenv-linter|doxygen|dprint|earthly|editorconfig-checker|eksctl|emcc|emerge|envsubst|etcdctl|evans|fastfetch|" +
	"fastlane|fclones|ffuf|fission|flex|fluxctl|flyctl|flyway|fnm|fossil|fq|frp|fx|gcovr|gdu|ghcup|gifsicle|ginkgo|" +
	"git-cliff|git-lfs|gitleaks|gitui|gleam|global|glow|gnuplot|gocyclo|gopls|goreleaser|gosec|gource|govulncheck|gperf|" +
	"gpg|gping|grafana-cli|graphviz|grype|gs|haproxy|helix|helmfile|hg|hlint|htmlq|hub|hugo|hx|hyfetch|iex|infracost|" +
	"inkscape|istioctl|jadx|jaq|jbang|jekyll|jless|joshuto|jpegoptim|jsonlint|julia|jupyter|k0s|k3s|k6|k9s|kafkacat|kcat|" +
	"kompose|kops|krew|ktlint|kube-linter|kube-score|kubeadm|kubebuilder|kubecolor|kubeconform|kubens|kubent|kubescape|" +
	"kubeseal|kubeval|lazydocker|lazygit|lcov|libtool|licensee|linkerd|liquibase|litecli|llc|lld|lldb|lnav|locust|" +
	"lua-language-server|luarocks|lychee|lynx|madge|markdownlint-cli2|mdcat|mediainfo|mermaid|mkcert|mlr|mockgen|mutagen|" +
	"mycli|nasm|nats|ncdu|ncu|neofetch|nerdctl|newman|nginx|nikto|nim|nimble|nix|nodemon|nomad|npm-check-updates|ntpq|nu|" +
	"nuclei|nuget|nvcc|nyx|oc|odin|oha|opa|openapi-generator|operator-sdk|opt|osv-scanner|parcel|pdftk|peco|periphery|" +
	"pgcli|phpcs|phpstan|pijul|pixi|pnpx|pod|polaris|popeye|postcss|pprof|procs|promtool|protolint|psalm|pup|qlty|quarto|" +
	"rabbitmqctl|ragel|railway|rancher|rbspy|rclone|re2c|rebar3|redocly|reek|remark|restic|rye|sam|samply|sass|scalafmt|" +
	"sccache|schemacrawler|semgrep|sentry-cli|sg|shellspec|siege|skaffold|skopeo|snyk|sops|sourcery|spectral|speedtest|" +
	"sqlc|sqlx|starship|steampipe|stern|storybook|svgo|svn|swagger|swc|syft|tailscale|tailwindcss|tart|tbls|teleport|" +
	"temporal|terraform-docs|terragrunt|terrascan|testcafe|tfsec|tig|tilt|tldr|tmuxinator|traefik|tree-sitter|trivy|" +
	"trufflehog|tsp|tuist|tyk|usql|varnishd|vegeta|velero|verible|vhs|vitess|vue|wasm-bindgen|wasm-opt|wasm-pack|wasmer|" +
	"watchexec|watchman|wireshark|wkhtmltopdf|xcodegen|xcodes|xonsh|xq|yamlfmt|yasm|yazi|ytt|zizmor|zola|zoxide|zsv"
