package cloud

// The options of clients of databases. Those that load a program, send files or change how statements are read stand in neither list.
const (
	mysqlOptions = "e|execute=s h|host=h u|user=v p|password=? P|port=v D|database=v defaults-file=x defaults-extra-file=x " +
		"init-command=s " +
		"tee=w pager=c login-path=v S|socket=v plugin-dir=e ssl-ca=r ssl-cert=r ssl-key=r ssl-capath=r ssl-crl=r ssl-crlpath=r " +
		"server-public-key-path=r character-sets-dir=r protocol=v default-character-set=v N|skip-column-names B|batch t|table s|silent " +
		"debug=? r|raw E|vertical X|xml H|html"
	plainMysql = "abort-source-on-error auto-rehash auto-vertical-output binary-as-hex binary-mode column-names column-type-info " +
		"c|comments C|compress connect-expired-password connect-timeout=v debug-check T|debug-info f|force I|help i|ignore-spaces " +
		"line-numbers L|skip-line-numbers max-allowed-packet=v max-join-size=v net-buffer-length=v A|no-auto-rehash b|no-beep " +
		"no-defaults o|one-database print-query-on-error progress-reports prompt=v q|quick quick-max-column-width=v reconnect " +
		"U|safe-updates|i-am-a-dummy sandbox secure-auth select-limit=v show-warnings sigint-ignore ssl ssl-cipher=v ssl-mode=v " +
		"skip-ssl " +
		"get-server-public-key compression-algorithms=v zstd-compression-level=v tls-ciphersuites=v tls-version=v " +
		"ssl-verify-server-cert " +
		"n|unbuffered v|verbose V|version w|wait"
	mysqladminOptions = "h|host=h u|user=v p|password=? P|port=v S|socket=v defaults-file=x r|relative " +
		"i|sleep=v c|count=v defaults-extra-file=x plugin-dir=e ssl-ca=r ssl-cert=r ssl-key=r ssl-capath=r ssl-crl=r ssl-crlpath=r " +
		"character-sets-dir=r protocol=v default-character-set=v"
	plainMysqladmin = "C|compress connect-timeout=v debug-check debug-info f|force help l|local b|no-beep no-defaults " +
		"shutdown-timeout=v " +
		"s|silent ssl ssl-cipher=v ssl-mode=v skip-ssl tls-version=v ssl-verify-server-cert v|verbose V|version E|vertical w|wait=? " +
		"wait-for-all-slaves get-server-public-key"

	psqlOptions = "c|command=s f|file=x h|host=h U|username=v d|dbname=v p|port=v o|output=w L|log-file=w v|set|variable=v l|list " +
		"t|tuples-only A|no-align q|quiet X|no-psqlrc a|echo-all b|echo-errors e|echo-queries E|echo-hidden n|no-readline " +
		"s|single-step S|single-line 1|single-transaction w|no-password W|password H|html F|field-separator=v P|pset=v " +
		"R|record-separator=v T|table-attr=v x|expanded z|field-separator-zero 0|record-separator-zero csv"

	sqliteOptions = "cmd=s init=x separator=v nullvalue=v newline=v mmap=v vfs=v maxsize=v nonce=v " +
		"header noheader column json csv line list box table markdown html quote tabs ascii batch bail readonly safe echo stats " +
		"interactive A append zip deserialize memtrace=? version lookaside=2 pagecache=2"

	redisOptions = "h=h p=v a|pass=v user=v n=v u=h s=b r=v i=v eval=x rdb|functions-rdb=w scan pattern=v count=v bigkeys " +
		"memkeys stat latency pipe cluster=v d=v D=v t=v x X=v raw no-raw csv json tls cacert=r cert=r key=r cacertdir=r c"
	plainRedis = "2 3 4 6 e askpass sni=v insecure tls-ciphers=v tls-ciphersuites=v quoted-input quoted-json show-pushes=v " +
		"latency-history " +
		"latency-dist pipe-timeout=v memkeys-samples=v hotkeys quoted-pattern=v intrinsic-latency=v ldb ldb-sync-mode verbose " +
		"no-auth-warning help version"

	mongoOptions = "eval=s f|file=x host=h port=v u|username=v p|password=? quiet norc nodb json=? tls tlsCAFile=r " +
		"tlsCertificateKeyFile=r tlsCRLFile=r authenticationDatabase=v kmsURL=h browser=c cryptSharedLibPath=x csfleLibraryPath=x"
	plainMongo = "h|help version build-info shell retryWrites=? authenticationMechanism=v gssapiServiceName=v " +
		"sspiHostnameCanonicalization=v sspiRealmOverride=v tlsCertificateKeyFilePassword=v tlsAllowInvalidHostnames " +
		"tlsAllowInvalidCertificates tlsCertificateSelector=v tlsDisabledProtocols=v tlsFIPSMode tlsUseSystemCA apiVersion=v apiStrict " +
		"apiDeprecationErrors verbose deepInspect=? skipStartupWarnings"
)

// plainMinikube are the options of minikube, before and behind a subcommand.
const plainMinikube = "l|layout=v w|watch=? n|node|namespace=v short components d|docs light l=v alsologtostderr logtostderr v=v " +
	"b|bootstrapper=v " +
	"rootless skip-audit user=v h|help"
