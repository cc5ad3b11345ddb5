package cloud

// The options of clients of databases. Those that load a program, send files or change how statements are read stand in neither list.
const (
	mysqlOptions = "e|execute=s h|host=h u|user=v p|password=? P|port=v D|database=v defaults-file=x defaults-extra-file=x " +
		"init-command=s tee=w pager=?c login-path=v S|socket=v plugin-dir=e ssl-ca=r ssl-cert=r ssl-key=r ssl-capath=r ssl-crl=r " +
		"ssl-crlpath=r server-public-key-path=r character-sets-dir=r protocol=v default-character-set=v N|skip-column-names B|batch " +
		"t|table s|silent debug=? r|raw E|vertical X|xml H|html"
	plainMysql = "abort-source-on-error auto-rehash auto-vertical-output binary-as-hex binary-mode column-names column-type-info " +
		"c|comments C|compress connect-expired-password connect-timeout=v debug-check T|debug-info f|force I|help i|ignore-spaces " +
		"line-numbers L|skip-line-numbers max-allowed-packet=v max-join-size=v net-buffer-length=v A|no-auto-rehash b|no-beep " +
		"no-defaults o|one-database print-query-on-error progress-reports prompt=v q|quick quick-max-column-width=v reconnect " +
		"U|safe-updates|i-am-a-dummy sandbox secure-auth select-limit=v show-warnings sigint-ignore ssl ssl-cipher=v ssl-mode=v " +
		"skip-ssl get-server-public-key compression-algorithms=v zstd-compression-level=v tls-ciphersuites=v tls-version=v " +
		"ssl-verify-server-cert n|unbuffered v|verbose V|version w|wait"
	mysqladminOptions = "h|host=h u|user=v p|password=? P|port=v S|socket=b defaults-file=x r|relative i|sleep=v c|count=v " +
		"defaults-extra-file=x plugin-dir=e ssl-ca=r ssl-cert=r ssl-key=r ssl-capath=r ssl-crl=r ssl-crlpath=r character-sets-dir=r " +
		"protocol=v default-character-set=v"
	plainMysqladmin = "C|compress connect-timeout=v f|force help l|local b|no-beep no-defaults shutdown-timeout=v s|silent ssl " +
		"ssl-cipher=v ssl-mode=v skip-ssl tls-version=v ssl-verify-server-cert v|verbose V|version E|vertical w|wait=? " +
		"wait-for-all-slaves get-server-public-key"

	psqlOptions = "c|command=s f|file=x h|host=h U|username=v d|dbname=v p|port=v o|output=w L|log-file=w v|set|variable=v l|list " +
		"t|tuples-only A|no-align q|quiet X|no-psqlrc a|echo-all b|echo-errors e|echo-queries E|echo-hidden n|no-readline " +
		"s|single-step S|single-line 1|single-transaction w|no-password W|password H|html F|field-separator=v P|pset=v " +
		"R|record-separator=v T|table-attr=v x|expanded z|field-separator-zero 0|record-separator-zero csv"

	sqliteOptions = "cmd=s init=x separator=v nullvalue=v newline=v mmap=v vfs=v maxsize=v nonce=v header noheader column json csv " +
		"line list box table markdown html quote tabs ascii batch bail readonly safe echo stats interactive A append zip deserialize " +
		"memtrace=? version lookaside=2 pagecache=2"

	redisOptions = "h=h p=v a|pass=v user=v n=v u=h s=b r=v i=v eval=x rdb|functions-rdb=w scan pattern=v count=v bigkeys memkeys " +
		"stat latency pipe cluster=v d=v D=v t=v x X=v raw no-raw csv json tls cacert=r cert=r key=r cacertdir=r c"
	plainRedis = "2 3 4 6 e askpass sni=v insecure tls-ciphers=v tls-ciphersuites=v quoted-input quoted-json show-pushes=v " +
		"latency-history latency-dist pipe-timeout=v memkeys-samples=v hotkeys quoted-pattern=v intrinsic-latency=v ldb " +
		"ldb-sync-mode verbose no-auth-warning help version"

	mongoOptions = "eval=s f|file=x host=h port=v u|username=v p|password=? quiet norc nodb json=? tls tlsCAFile=r " +
		"tlsCertificateKeyFile=r tlsCRLFile=r authenticationDatabase=v kmsURL=h browser=c cryptSharedLibPath=x csfleLibraryPath=x"
	plainMongo = "h|help version build-info shell retryWrites=? authenticationMechanism=v gssapiServiceName=v " +
		"sspiHostnameCanonicalization=v sspiRealmOverride=v tlsCertificateKeyFilePassword=v tlsAllowInvalidHostnames " +
		"tlsAllowInvalidCertificates tlsCertificateSelector=v tlsDisabledProtocols=v tlsFIPSMode tlsUseSystemCA apiVersion=v " +
		"apiStrict apiDeprecationErrors verbose deepInspect=? skipStartupWarnings"
)

// The options of programs that dump and restore databases.
const (
	pgOptions   = "h|host=h p|port=v U|username=v d|dbname=v "
	plainPg     = "w|no-password W|password V|version help maintenance-db=v role=v"
	plainPgDump = "F|format=v j|jobs=v v|verbose Z|compress=v lock-wait-timeout=v no-sync a|data-only b|blobs B|no-blobs " +
		"large-objects c|clean C|create e|extension=v E|encoding=v n|schema=v N|exclude-schema=v O|no-owner s|schema-only " +
		"S|superuser=v T|exclude-table=v x|no-privileges|no-acl binary-upgrade column-inserts attribute-inserts " +
		"disable-dollar-quoting disable-triggers enable-row-security exclude-table-data=v extra-float-digits=v if-exists " +
		"include-foreign-data=v inserts load-via-partition-root no-comments no-publications no-security-labels no-subscriptions " +
		"no-table-access-method no-tablespaces no-toast-compression no-unlogged-table-data on-conflict-do-nothing " +
		"quote-all-identifiers restrict-key=v rows-per-insert=v section=v serializable-deferrable snapshot=v strict-names " +
		"use-set-session-authorization g|globals-only r|roles-only tablespaces-only no-role-passwords exclude-database=v " +
		"l|database=v " + plainPg
	plainPgRestore = "F|format=v l|list v|verbose a|data-only C|create e|exit-on-error I|index=v j|jobs=v n|schema=v " +
		"N|exclude-schema=v O|no-owner P|function=v s|schema-only S|superuser=v t|table=v T|trigger=v x|no-privileges|no-acl " +
		"1|single-transaction disable-triggers enable-row-security if-exists no-comments no-data-for-failed-tables no-publications " +
		"no-security-labels no-subscriptions no-table-access-method no-tablespaces restrict-key=v section=v strict-names " +
		"use-set-session-authorization " + plainPg
	plainPgCreate = "D|tablespace=v e|echo E|encoding=v l|locale=v lc-collate=v lc-ctype=v icu-locale=v locale-provider=v O|owner=v " +
		"S|strategy=v T|template=v " + plainPg
	plainMysqldump = "A|all-databases Y|all-tablespaces y|no-tablespaces add-drop-database add-drop-table add-drop-trigger add-locks " +
		"allow-keywords i|comments compatible=v compact c|complete-insert C|compress a|create-options B|databases " +
		"default-character-set=v delayed-insert K|disable-keys dump-date E|events e|extended-insert fields-terminated-by=v " +
		"fields-enclosed-by=v fields-optionally-enclosed-by=v fields-escaped-by=v f|force gtid header hex-blob help " +
		"ignore-database=v ignore-table-data=v ignore-table=v insert-ignore lines-terminated-by=v x|lock-all-tables l|lock-tables " +
		"max-allowed-packet=v net-buffer-length=v no-autocommit n|no-create-db t|no-create-info d|no-data N|no-set-names no-defaults " +
		"opt order-by-primary order-by-size protocol=v q|quick Q|quote-names replace R|routines set-charset single-transaction " +
		"skip-opt skip-comments skip-lock-tables skip-add-drop-table skip-extended-insert skip-triggers ssl skip-ssl ssl-mode=v " +
		"ssl-cipher=v tls-version=v ssl-verify-server-cert tables triggers tz-utc v|verbose V|version w|where=v X|xml " +
		"column-statistics=? set-gtid-purged=v"
	plainMongodump = "v|verbose=? quiet help version d|db=v c|collection=v port=v u|username=v p|password=v authenticationDatabase=v " +
		"authenticationMechanism=v q|query=v gzip numParallelCollections=v j=v excludeCollection=v readPreference=v ssl " +
		"forceTableScan oplog nsInclude=v nsExclude=v nsFrom=v nsTo=v dryRun stopOnError noIndexRestore maintainInsertionOrder " +
		"preserveUUID"
)
