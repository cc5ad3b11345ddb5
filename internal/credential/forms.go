package credential

// Form is one form of a secret.
type Form struct {
	Name string // unique: github-token
	What string // with an article, for people: a GitHub token

	// The pattern of a secret. mark is a text of at least three bytes that each secret contains: bars separate alternatives, and a class
	// stands for one character. before and after are the patterns around it (see compile). find replaces them for a form that needs a
	// function.
	before, mark, after string
	find                func(m *matcher, from, to int) (start, end int, ok bool)
	keeps               bool // the mark is not part of the secret, and stays when it is masked
	sure                int  // the length from which a match proves a secret; see [Span]

	Example string // a made-up secret of this form, with text before it if the form needs that
	Hidden  string // the part of Example that must not be shown; empty: all of it
	Other   string // a text that is nearly of this form
}

// The names of forms that callers treat specially.
const (
	PrivateKey        = "private-key"         // has several lines
	PasswordInAddress = "password-in-address" // recognized by its place only: it may be a placeholder
)

// The examples are made of these pieces, so that no scanner takes this file for a leak. None of them was ever issued.
const (
	x8  = "q7Rk2TvL"
	x16 = x8 + "x9VbN4sM"
	x20 = x16 + "pZ8c"
	x24 = x20 + "Yd3F"
	x32 = x24 + "hJ6gQa1e"
	x36 = x32 + "Uo5i"
	x40 = x36 + "W0tK"
	x64 = x40 + x24
	x80 = x40 + x40
	h8  = "9f8b7c6d"
	h16 = h8 + "5e4f3a2b"
	h24 = h16 + "1c0d8e7a"
	h32 = h24 + "6b9c4d2f"
	h40 = h32 + "a07e53b1"
	h64 = h40 + h24
	u8  = "QX7RT2MW"
	u16 = u8 + "LB4KDYN5"
	u24 = u16 + "VC3HZ6PJ"
	u64 = u24 + u24 + u16
)

// Forms are the forms that the services and the scanners GitHub secret scanning, Gitleaks and TruffleHog publish. Where those give an
// exact length, the table has the least length in use, because a service may lengthen its keys. Forms that depend on the text before the
// secret come last: if two forms match, the first one names the secret. The table must not be modified.
var Forms = []Form{
	{Name: "mycelium-token", What: "a token of Mycelium", mark: "myc_", after: `[A-Za-z0-9_-]{40,}`,
		Example: "my" + "c_" + x40 + "abc", Other: "myc_session_tokens"},

	// Clouds.
	{Name: "aws-access-key", What: "an AWS key", mark: "AKIA|ASIA|ABIA|ACCA", after: `[0-9A-Z]{16,}`,
		Example: "AK" + "IA" + u16, Other: "AKIA" + u8},
	{Name: "aws-session-token", What: "an AWS session token", mark: "IQoJb3JpZ2lu|FwoGZXIvYXdz", after: `[A-Za-z0-9+/]{80,}={0,2}`,
		Example: "IQoJb3Jp" + "Z2lu" + x80, Other: "IQoJb3JpZ2lu" + x16},
	{Name: "aws-bedrock-key", What: "an AWS Bedrock key", mark: "ABSK|bedrock-api-key-", after: `[A-Za-z0-9+/=_-]{100,}`,
		Example: "AB" + "SK" + x64 + x64, Other: "ABSK" + x64},
	{Name: "google-api-key", What: "a Google key", mark: "AIza", after: `[A-Za-z0-9_-]{30,}`,
		Example: "AI" + "za" + x24 + x8 + "_-x", Other: "AIza" + x20},
	{Name: "google-access-token", What: "a Google access token", mark: "ya29.", after: `[A-Za-z0-9_-]{20,}`,
		Example: "ya" + "29." + x40, Other: "ya29." + x8},
	{Name: "google-refresh-token", What: "a refresh token", mark: "1//0", after: `[A-Za-z0-9_-]{30,}`,
		Example: "1/" + "/0" + x40, Other: "1//0" + x16},
	{Name: "google-client-secret", What: "a Google client secret", mark: "GOCSPX-", after: `[A-Za-z0-9_-]{20,}`,
		Example: "GOC" + "SPX-" + x24 + "_-aB", Other: "GOCSPX-" + x8},
	{Name: "azure-account-key", What: "an Azure key", mark: "AccountKey=|SharedAccessKey=",
		after: `[A-Za-z0-9+/]{40,}={0,2}`, keeps: true,
		Example: "Account" + "Key=" + x80 + "a+b/cd==", Hidden: x80 + "a+b/cd==", Other: "AccountKey=" + x16},
	{Name: "azure-shared-signature", What: "an Azure signature", mark: "[?&;]sig=", after: `[A-Za-z0-9%+/]{40,}={0,2}`, keeps: true,
		Example: "https://h.example/c?sv=2024&" + "sig=" + x40 + "a%2Bc%3D", Hidden: x40 + "a%2Bc%3D",
		Other: "https://h.example/c?sig=" + x16},
	{Name: "azure-client-secret", What: "an Azure client secret", before: `[A-Za-z0-9_~.]{3}`, mark: "[0123456789]Q~",
		after:   `[A-Za-z0-9_~.-]{31,}`,
		Example: "a1B" + "8Q" + "~" + x24 + "_.-x" + x8, Other: "a1B8Q~" + x16},
	{Name: "azure-resource-key", What: "an Azure key", before: `[A-Za-z0-9]{52}`, mark: "JQQJ99", after: `[A-Za-z0-9]{20,}={0,2}`,
		Example: x40 + x8 + "aBcD" + "JQ" + "QJ99" + x24, Other: x16 + "JQQJ99" + x24},
	{Name: "azure-devops-token", What: "an Azure DevOps token", before: `[A-Za-z0-9]{76}`, mark: "AZDO", after: `[A-Za-z0-9]{4}`,
		Example: x40 + x36 + "AZ" + "DO" + "a1B2", Other: x40 + "AZDOa1B2"},
	{Name: "alibaba-key", What: "an Alibaba Cloud key", mark: "LTAI", after: `[A-Za-z0-9]{12,}`,
		Example: "LT" + "AI" + x20, Other: "LTAI" + x8},
	{Name: "tencent-key", What: "a Tencent Cloud key", mark: "AKID", after: `[A-Za-z0-9]{32}`,
		Example: "AK" + "ID" + x32, Other: "AKID" + x16},
	{Name: "yandex-key", What: "a Yandex Cloud key", mark: "AQVN", after: `[A-Za-z0-9_-]{35,}`,
		Example: "AQ" + "VN" + x36, Other: "AQVN" + x16},
	{Name: "digitalocean-token", What: "a DigitalOcean token", mark: "dop_v1_|doo_v1_|dor_v1_", after: `[0-9a-f]{40,}`,
		Example: "dop" + "_v1_" + h64, Other: "dop_v1_" + h16},
	{Name: "heroku-key", What: "a Heroku key", mark: "HRKU-", after: `[A-Za-z0-9_-]{30,}`,
		Example: "HR" + "KU-AA" + x36, Other: "HRKU-AA" + x8},
	{Name: "cloudflare-key", What: "a Cloudflare key", mark: "cfk_|cfut_|cfat_", after: `[A-Za-z0-9_-]{40,}`,
		Example: "cf" + "ut_" + x40 + h8, Other: "cfut_" + x16},
	{Name: "cloudflare-origin-key", What: "a Cloudflare key", mark: "v1.0-", after: `[0-9a-f]{24}-[0-9a-f]{140,}`,
		Example: "v1" + ".0-" + h24 + "-" + h64 + h64 + h24, Other: "v1.0-" + h24 + "-" + h64},
	{Name: "fly-token", What: "a Fly.io token", mark: "fo1_|fm1a_|fm1r_|fm2_", after: `[A-Za-z0-9+/=_-]{40,}`,
		Example: "fm" + "2_" + x64 + x64, Other: "fm2_" + x16},
	{Name: "vercel-token", What: "a Vercel token", mark: "vc[piark]_", after: `[A-Za-z0-9_-]{40,}`,
		Example: "vc" + "p_" + x40 + x16, Other: "vcp_" + x16},
	{Name: "netlify-token", What: "a Netlify token", mark: "nfp_", after: `[A-Za-z0-9]{36,}`,
		Example: "nf" + "p_" + x36, Other: "nfp_" + x16},
	{Name: "supabase-token", What: "a Supabase token", mark: "sbp_", after: `[0-9a-f]{40}`,
		Example: "sb" + "p_" + h40, Other: "sbp_" + h16},
	{Name: "supabase-key", What: "a Supabase key", mark: "sb_secret_", after: `[A-Za-z0-9-]{20,}(_[A-Za-z0-9]{8})?`,
		Example: "sb_" + "secret_" + x24 + "_" + h8, Other: "sb_secret_" + x8},
	{Name: "planetscale-token", What: "a PlanetScale token", mark: "pscale_tkn_|pscale_oauth_|pscale_pw_", after: `[A-Za-z0-9_=.-]{32,}`,
		Example: "pscale" + "_tkn_" + x40, Other: "pscale_tkn_" + x16},
	{Name: "tailscale-key", What: "a Tailscale key", mark: "tskey-", after: `[A-Za-z0-9-]{20,}`,
		Example: "ts" + "key-auth-" + x16 + "-" + x32, Other: "tskey-auth"},

	// Repositories, packages and builds.
	{Name: "github-token", What: "a GitHub token", mark: "gh[pousr]_", after: `[A-Za-z0-9]{16,}`, sure: 24,
		Example: "gh" + "p_" + x36, Other: "ghp_" + x8},
	{Name: "github-fine-token", What: "a GitHub token", mark: "github_pat_", after: `[A-Za-z0-9_]{20,}`,
		Example: "github" + "_pat_" + x20 + "_" + x40 + x20, Other: "github_pat_" + x8},
	{Name: "gitlab-token", What: "a GitLab token",
		mark:    "glpat-|gldt-|glrt-|glrtr-|glcbt-|glptt-|glft-|glimt-|glagent-|gloas-|glsoat-|glffct-|glwt-|GR1348941",
		after:   `[A-Za-z0-9_-]{16,}(\.[0-9a-z]{9})?`,
		Example: "gl" + "pat-" + x16 + "_-x1", Other: "glpat-" + x8},
	{Name: "bitbucket-token", What: "a Bitbucket token", mark: "ATBB", after: `[A-Za-z0-9]{24,}`,
		Example: "AT" + "BB" + x32, Other: "ATBB" + x16},
	{Name: "nuget-key", What: "a NuGet key", mark: "oy2", after: `[a-z0-9]{43}`,
		Example: "oy" + "2" + "k7mqz4v9" + h32 + "x7z", Other: "oy2" + h16},
	{Name: "npm-token", What: "an npm token", mark: "npm_", after: `[A-Za-z0-9]{30,}`,
		Example: "np" + "m_" + x36, Other: "npm_config_registry"},
	{Name: "pypi-token", What: "a PyPI token", mark: "pypi-", after: `[A-Za-z0-9_-]{50,}`,
		Example: "py" + "pi-AgEIcHlwaS5vcmc" + x64, Other: "pypi-" + x16},
	{Name: "rubygems-key", What: "a RubyGems key", mark: "rubygems_", after: `[0-9a-f]{40,}`,
		Example: "ruby" + "gems_" + h40 + h8, Other: "rubygems_" + h16},
	{Name: "crates-token", What: "a crates.io token", mark: "cio", after: `[A-Za-z0-9]{32}`,
		Example: "ci" + "o" + x32, Other: "cio" + x16},
	{Name: "docker-token", What: "a Docker token", mark: "dckr_pat_|dckr_oat_", after: `[A-Za-z0-9_-]{20,}`,
		Example: "dckr" + "_pat_" + x24 + "_-x", Other: "dckr_pat_" + x8},
	{Name: "artifactory-key", What: "an Artifactory key", mark: "AKCp|cmVmdGtu", after: `[A-Za-z0-9]{55,}`,
		Example: "AK" + "Cp" + x64 + "aB3dE", Other: "AKCp" + x16},
	{Name: "buildkite-token", What: "a Buildkite token", mark: "bkua_", after: `[0-9a-f]{40}`,
		Example: "bk" + "ua_" + h40, Other: "bkua_" + h16},
	{Name: "circleci-token", What: "a CircleCI token", mark: "CCIPAT_|CCIPRJ_", after: `[A-Za-z0-9]{15,}_[0-9a-f]{40}`,
		Example: "CCI" + "PAT_" + x20 + "_" + h40, Other: "CCIPAT_" + x16},
	{Name: "terraform-token", What: "a Terraform token", before: `[A-Za-z0-9]{14}`, mark: ".atlasv1.", after: `[A-Za-z0-9_=-]{60,}`,
		Example: x8 + "aB3dE5" + ".atlas" + "v1." + x64, Other: x8 + ".atlasv1." + x64},
	{Name: "vault-token", What: "a Vault token", mark: "hvs.|hvb.|hvr.", after: `[A-Za-z0-9_-]{24,}`,
		Example: "hv" + "s." + x80 + x16, Other: "hvs." + x8},
	{Name: "doppler-token", What: "a Doppler token", mark: "dp.pt.|dp.st.|dp.ct.|dp.sa.|dp.scim.|dp.audit.", after: `[A-Za-z0-9._-]{40,}`,
		Example: "dp" + ".pt." + x40 + "aB3", Other: "dp.pt." + x16},
	{Name: "pulumi-token", What: "a Pulumi token", mark: "pul-", after: `[0-9a-f]{40}`,
		Example: "pu" + "l-" + h40, Other: "pul-" + h16},
	{Name: "openshift-token", What: "an OpenShift token", mark: "sha256~", after: `[A-Za-z0-9_-]{43}`,
		Example: "sha" + "256~" + x40 + "_-x", Other: "sha256~" + x16},
	{Name: "databricks-token", What: "a Databricks token", mark: "dapi", after: `[0-9a-f]{32}(-[0-9])?`,
		Example: "da" + "pi" + h32 + "-2", Other: "dapi" + h16},
	{Name: "octopus-key", What: "an Octopus Deploy key", mark: "API-", after: `[0-9A-Z]{25,}`,
		Example: "AP" + "I-" + u24 + "K7", Other: "API-" + u8},
	{Name: "sonar-token", What: "a SonarQube token", mark: "sq[pua]_", after: `[0-9a-f]{40}`,
		Example: "sq" + "p_" + h40, Other: "sqp_" + h16},
	{Name: "sourcegraph-token", What: "a Sourcegraph token", mark: "sgp_|sgp_local_|slk_", after: `([0-9a-fA-F]{16}_)?[0-9a-fA-F]{40}`,
		Example: "sg" + "p_" + h16 + "_" + h40, Other: "sgp_" + h16},

	// Models.
	{Name: "anthropic-key", What: "an API key", mark: "sk-ant-", after: `[A-Za-z0-9_-]{6,}`, sure: 27,
		Example: "sk-" + "ant-api03-" + x80 + "_-AA", Other: "sk-ant-api"},
	{Name: "openai-key", What: "an API key", mark: "sk-", after: `[A-Za-z0-9_-]{20,}`, sure: 27,
		Example: "sk" + "-proj-" + x40 + "_-" + x40, Other: "sk-" + x16},
	{Name: "huggingface-token", What: "a Hugging Face token", mark: "hf_|api_org_", after: `[A-Za-z0-9]{28,}`,
		Example: "hf" + "_" + x32 + "aB", Other: "hf_hub_download"},
	{Name: "groq-key", What: "a Groq key", mark: "gsk_", after: `[A-Za-z0-9]{40,}`,
		Example: "gs" + "k_" + x40 + "WGdyb3FY", Other: "gsk_" + x16},
	{Name: "xai-key", What: "an xAI key", mark: "xai-", after: `[A-Za-z0-9]{60,}`,
		Example: "xa" + "i-" + x80, Other: "xai-" + x16},
	{Name: "perplexity-key", What: "a Perplexity key", mark: "pplx-", after: `[A-Za-z0-9]{40,}`,
		Example: "pp" + "lx-" + x40 + x8, Other: "pplx-" + x16},
	{Name: "replicate-token", What: "a Replicate token", mark: "r8_", after: `[A-Za-z0-9]{37}`,
		Example: "r8" + "_" + x36 + "a", Other: "r8_" + x16},
	{Name: "nvidia-key", What: "an NVIDIA key", mark: "nvapi-", after: `[A-Za-z0-9_-]{60,}`,
		Example: "nv" + "api-" + x64, Other: "nvapi-" + x16},
	{Name: "langsmith-key", What: "a LangSmith key", mark: "lsv2_pt_|lsv2_sk_", after: `[0-9a-f]{32}_[0-9a-f]{10}`,
		Example: "lsv2" + "_pt_" + h32 + "_" + h8 + "a1", Other: "lsv2_pt_" + h16},
	{Name: "pinecone-key", What: "a Pinecone key", mark: "pcsk_", after: `[A-Za-z0-9]{5,}_[A-Za-z0-9]{50,}`,
		Example: "pc" + "sk_" + x8 + "_" + x64, Other: "pcsk_" + x16},
	{Name: "tavily-key", What: "a Tavily key", mark: "tvly-", after: `[A-Za-z0-9-]{30,}`,
		Example: "tv" + "ly-dev-" + x32, Other: "tvly-" + x8},

	// Messages and mail.
	{Name: "slack-token", What: "a Slack token", mark: "xox[abeoprs]-", after: `[A-Za-z0-9-]{8,}`, sure: 25,
		Example: "xo" + "xb-298347561234-" + x24, Other: "xoxb-x"},
	{Name: "slack-app-token", What: "a Slack token", mark: "xapp-[0123456789]-|xwfp-[0123456789]", after: `[A-Za-z0-9-]{20,}`,
		Example: "xa" + "pp-1-A02ABCDEF3-" + x24, Other: "xapp-launcher-window-title"},
	{Name: "slack-webhook", What: "a webhook",
		mark:  "hooks.slack.com/services/|hooks.slack.com/workflows/|hooks.slack.com/triggers/|hooks.slack-gov.com/services/",
		after: `[A-Za-z0-9+/_-]{30,}`, keeps: true,
		Example: "https://hooks.slack.com/" + "services/T02ABCDEF/B03GHIJKL/" + x24, Hidden: "T02ABCDEF/B03GHIJKL/" + x24,
		Other: "hooks.slack.com/services/T02ABCDEF"},
	{Name: "discord-webhook", What: "a webhook", mark: "api/webhooks/", after: `[0-9]{15,}/[A-Za-z0-9_-]{30,}`, keeps: true,
		Example: "https://discord.com/api/" + "webhooks/298347561234384756/" + x64, Hidden: "298347561234384756/" + x64,
		Other: "https://discord.com/api/webhooks/298347561234384756"},
	{Name: "discord-token", What: "a Discord token", mark: "[MNO][DTjz][AEIMQUYcgk]",
		after:   `[A-Za-z0-9_-]{20,}\.[A-Za-z0-9_-]{6}\.[A-Za-z0-9_-]{27,}`,
		Example: "MT" + "k4NzIyMzkxMTA5MDQ1NjE1" + "NA.GhT6yK." + x36, Other: "MTk4NzIyMzkxMTA5MDQ1NjE1NA.GhT6yK"},
	{Name: "teams-webhook", What: "a webhook", mark: "webhook.office.com/webhookb2/", after: `[A-Za-z0-9@/-]{40,}`, keeps: true,
		Example: "https://acme.webhook." + "office.com/webhookb2/" + h16 + "@" + h16 + "/Incoming/" + h32,
		Hidden:  h16 + "@" + h16 + "/Incoming/" + h32,
		Other:   "https://acme.webhook.office.com/webhookb2/" + h8},
	{Name: "telegram-token", What: "a bot token", before: `[0-9]{6,}`, mark: ":AA", after: `[A-Za-z0-9_-]{30,}`,
		Example: "7312345678" + ":A" + "A" + x32 + "_", Other: "10:AA" + x32},
	{Name: "sendgrid-key", What: "a mail key", mark: "SG.", after: `[A-Za-z0-9_-]{16,}\.[A-Za-z0-9_-]{30,}`,
		Example: "SG" + "." + x20 + "a-." + x40 + "_b3", Other: "SG." + x20},
	{Name: "mailgun-key", What: "a mail key", mark: "key-", after: `[0-9a-f]{32}`,
		Example: "ke" + "y-" + h32, Other: "key-" + h40},
	{Name: "mailchimp-key", What: "a mail key", before: `[0-9a-f]{32}`, mark: "-us[0123456789]", after: `[0-9]?`,
		Example: h32 + "-u" + "s14", Other: h16 + "-us14"},
	{Name: "brevo-key", What: "a mail key", mark: "xkeysib-|xsmtpsib-", after: `[0-9a-f]{64}-[A-Za-z0-9]{16}`,
		Example: "xkey" + "sib-" + h64 + "-" + x16, Other: "xkeysib-" + h64},
	{Name: "twilio-key", What: "a Twilio key", mark: "SK[0123456789abcdef]", after: `[0-9a-f]{31}`,
		Example: "S" + "K" + h32, Other: "SK" + h16},

	// Money and shops.
	{Name: "stripe-key", What: "a payment key", mark: "[sr]k_live_|[sr]k_test_|[sr]k_prod_|[sr]k_org_", after: `[A-Za-z0-9]{16,}`,
		Example: "sk" + "_live_" + x24, Other: "sk_live_" + x8},
	{Name: "webhook-secret", What: "the secret of a webhook", mark: "whsec_", after: `[A-Za-z0-9+/=]{24,}`,
		Example: "wh" + "sec_" + x32, Other: "whsec_" + x8},
	{Name: "square-token", What: "a payment key", mark: "sq0atp-|sq0csp-", after: `[A-Za-z0-9_-]{22,}`,
		Example: "sq0" + "csp-" + x40 + "_-x", Other: "sq0csp-" + x8},
	{Name: "braintree-token", What: "a payment key", mark: "access_token$production$|access_token$sandbox$",
		after:   `[0-9a-z]{16}\$[0-9a-f]{32}`,
		Example: "access_token$" + "production$" + h16 + "$" + h32, Other: "access_token$production$" + h16},
	{Name: "flutterwave-key", What: "a payment key", mark: "FLWSECK", after: `[A-Za-z0-9_]{0,5}-[A-Za-z0-9]{12,}(-X)?`,
		Example: "FLW" + "SECK_TEST-" + h32 + "-X", Other: "FLWSECK_TEST-" + h8},
	{Name: "easypost-key", What: "a shipping key", mark: "EZAK|EZTK", after: `[A-Za-z0-9]{54}`,
		Example: "EZ" + "AK" + x40 + "aB3dE5gH7jK9mN", Other: "EZAK" + x16},
	{Name: "shippo-token", What: "a shipping key", mark: "shippo_live_|shippo_test_", after: `[0-9a-fA-F]{40}`,
		Example: "shippo" + "_live_" + h40, Other: "shippo_live_" + h16},
	{Name: "shopify-token", What: "a Shopify token", mark: "shpat_|shpca_|shppa_|shpss_|shptka_|shpua_", after: `[0-9a-fA-F]{32,}`,
		Example: "sh" + "pat_" + h32, Other: "shpat_" + h16},
	{Name: "facebook-token", What: "a Facebook token", mark: "EAACEdEose0cBA", after: `[A-Za-z0-9]{20,}`,
		Example: "EAACEdEo" + "se0cBA" + x80, Other: "EAACEdEose0cBA" + x8},

	// Work and watching.
	{Name: "linear-key", What: "a Linear key", mark: "lin_api_|lin_oauth_|lin_wh_", after: `[A-Za-z0-9]{32,}`,
		Example: "lin" + "_api_" + x40, Other: "lin_api_" + x16},
	{Name: "notion-token", What: "a Notion token", mark: "ntn_", after: `[A-Za-z0-9]{40,}`,
		Example: "nt" + "n_29834756123" + x32 + "aB3", Other: "ntn_" + x16},
	{Name: "notion-secret", What: "a Notion token", mark: "secret_", after: `[A-Za-z0-9]{43}`,
		Example: "sec" + "ret_" + x40 + "aB3", Other: "secret_" + x16},
	{Name: "atlassian-token", What: "an Atlassian token", mark: "ATATT3|ATCTT3", after: `[A-Za-z0-9_=-]{60,}`,
		Example: "AT" + "ATT3xFfGF0" + x80 + x80 + "=" + u8, Other: "ATATT3" + x16},
	{Name: "airtable-token", What: "an Airtable token", mark: "pat", after: `[A-Za-z0-9]{14}\.[0-9a-f]{64}`,
		Example: "pa" + "t" + x8 + "aB3dE5" + "." + h64, Other: "pat" + x8 + "aB3dE5." + h16},
	{Name: "figma-token", What: "a Figma token", mark: "figd_", after: `[A-Za-z0-9_-]{40,}`,
		Example: "fi" + "gd_" + x40, Other: "figd_" + x16},
	{Name: "typeform-token", What: "a Typeform token", mark: "tfp_", after: `[A-Za-z0-9_.=-]{40,}`,
		Example: "tf" + "p_" + x40 + x16, Other: "tfp_" + x16},
	{Name: "contentful-token", What: "a Contentful token", mark: "CFPAT-", after: `[A-Za-z0-9_-]{43}`,
		Example: "CF" + "PAT-" + x40 + "_-x", Other: "CFPAT-" + x16},
	{Name: "hubspot-token", What: "a HubSpot token", mark: "pat-na1-|pat-na2-|pat-eu1-", after: `[0-9a-f-]{36}`,
		Example: "pat" + "-na1-" + h8 + "-1a2b-4c5d-8e9f-" + h8 + "01ab", Other: "pat-na1-" + h8},
	{Name: "postman-key", What: "a Postman key", mark: "PMAK-", after: `[0-9a-f]{24}-[0-9a-f]{34}`,
		Example: "PM" + "AK-" + h24 + "-" + h32 + "a1", Other: "PMAK-" + h24},
	{Name: "sentry-token", What: "a Sentry token", mark: "sntrys_|sntryu_", after: `[A-Za-z0-9+/=_-]{40,}`,
		Example: "sn" + "tryu_" + h64, Other: "sntryu_" + h16},
	{Name: "newrelic-key", What: "a New Relic key", mark: "NRAK-|NRII-|NRJS-|NRAA-|NRRA-", after: `[A-Za-z0-9-]{19,}`,
		Example: "NR" + "AK-" + u24 + "K7Q", Other: "NRAK-" + u8},
	{Name: "newrelic-license", What: "a New Relic key", before: `[0-9a-f]{36}`, mark: "NRAL",
		Example: h32 + "a1b2" + "NR" + "AL", Other: h16 + "NRAL"},
	{Name: "grafana-token", What: "a Grafana token", mark: "glsa_", after: `[A-Za-z0-9]{32}_[A-Fa-f0-9]{8}`,
		Example: "gl" + "sa_" + x32 + "_" + h8, Other: "glsa_" + x16},
	{Name: "grafana-cloud-token", What: "a Grafana token", mark: "glc_|eyJrIjoi", after: `[A-Za-z0-9+/]{60,}={0,3}`,
		Example: "gl" + "c_" + x80, Other: "glc_" + x16},
	{Name: "dynatrace-token", What: "a Dynatrace token", mark: "dt0c01.|dt0s01.|dt0s02.|dt0s16.", after: `[0-9A-Z]{24}\.[0-9A-Z]{64}`,
		Example: "dt0" + "c01." + u24 + "." + u64, Other: "dt0c01." + u24},
	{Name: "onepassword-token", What: "a 1Password token", mark: "ops_eyJ", after: `[A-Za-z0-9+/_-]{100,}={0,3}`,
		Example: "op" + "s_eyJ" + x80 + x40, Other: "ops_eyJ" + x40},
	{Name: "adobe-secret", What: "an Adobe client secret", mark: "p8e-", after: `[A-Za-z0-9_-]{32}`,
		Example: "p8" + "e-" + x32, Other: "p8e-" + x16},
	{Name: "readme-key", What: "a ReadMe key", mark: "rdme_", after: `[0-9a-z]{70}`,
		Example: "rd" + "me_" + h64 + "k7mqz4", Other: "rdme_" + h16},

	// Keys of every kind.
	{Name: PrivateKey, What: "a private key", mark: "PRIVATE KEY", find: findPrivateKey,
		Example: "-----BEGIN RSA PRIV" + "ATE KEY-----\nMIIE" + x40 + "\n" + x64 + "\n-----END RSA PRIVATE KEY-----", Hidden: x40,
		Other: "-----BEGIN PUBLIC KEY-----"},
	{Name: "age-key", What: "an age key", mark: "AGE-SECRET-KEY-", after: `[0-9A-Z-]{40,}`,
		Example: "AGE-SECRET" + "-KEY-1" + u24 + u24 + u8 + "AB", Other: "AGE-SECRET-KEY-1" + u8},
	{Name: "json-web-token", What: "a signed token", mark: "eyJ",
		after: `[A-Za-z0-9_-]{6,}\.[A-Za-z0-9_-]{6,}\.[A-Za-z0-9_-]*(\.[A-Za-z0-9_-]+\.[A-Za-z0-9_-]+)?`, sure: 40,
		Example: "eyJ" + "hbGciOiJSUzI1NiJ9" + ".eyJ" + "pc3MiOiJodHRwczovL2EifQ." + x40, Other: "eyJhbGciOiJSUzI1NiJ9"},
	{Name: "basic-credential", What: "a password", mark: "[Bb]asic |BASIC ", find: findBasic,
		Example: "Authorization: Ba" + "sic " + "YWRtaW46U3VwZXJTZWNyZXQxMjM=", Hidden: "YWRtaW46U3VwZXJTZWNyZXQxMjM=",
		Other: "Basic internationalization"},
	{Name: "bearer-token", What: "a bearer token", mark: "[Bb]earer |BEARER ", after: ` *[A-Za-z0-9._~+/=-]{8,}`, keeps: true, sure: 27,
		Example: "Authorization: Bea" + "rer " + x32, Hidden: x32, Other: "bearer of news"},
	{Name: PasswordInAddress, What: "a password in an address", mark: "://", find: findPassword,
		Example: "postgres://admin:" + "Zx8pLq2w" + "@db.internal.example:5432/prod", Hidden: "Zx8pLq2w",
		Other: "https://example.com:8080/a@b"},
}
