package network

// The options of which a program only changes how it works or what it shows: see Plain of [program.Row]. They are those of the manuals
// without what the rows name; what is missing in both asks.
const (
	plainCurl = "# 0 1 2 3 4 6 : a B g h=? j l M N p q R U=v Z alpn anyauth append aws-sigv4=v basic buffer ca-native cert-status " +
		"cert-type=v clobber compressed compressed-ssh create-file-mode=v crlf curves=v delegation=v digest disable " +
		"disable-eprt disable-epsv disallow-username-in-url dns-interface=v dns-ipv4-addr=v dns-ipv6-addr=v doh-cert-status " +
		"doh-insecure ech=v expect100-timeout=v fail-early fail-with-body false-start form-escape ftp-account=v " +
		"ftp-alternative-to-user=v ftp-create-dirs ftp-method=v ftp-pasv ftp-pret ftp-skip-pasv-ip ftp-ssl ftp-ssl-ccc " +
		"ftp-ssl-ccc-mode=v ftp-ssl-control globoff happy-eyeballs-timeout-ms=v haproxy-clientip=v haproxy-protocol help=? " +
		"hostpubmd5=v hostpubsha256=v http0.9 http1.0 http1.1 http2 http2-prior-knowledge http3 http3-only " +
		"ignore-content-length ip-tos=v ipv4 ipv6 junk-session-cookies keepalive keepalive-cnt=v keepalive-time=v key-type=v " +
		"krb=v list-only local-port=v login-options=v manual max-filesize=v negotiate next no-alpn no-buffer no-clobber " +
		"no-keepalive no-npn no-progress-meter no-sessionid noproxy=v npn ntlm ntlm-wb oauth2-bearer=v parallel " +
		"parallel-immediate parallel-max=v pass=v path-as-is post301 post302 post303 progress-bar progress-meter proto-redir=v " +
		"proxy-anyauth proxy-basic proxy-ca-native proxy-cert-type=v proxy-ciphers=v proxy-digest proxy-header=v " +
		"proxy-insecure proxy-key-type=v proxy-negotiate proxy-ntlm proxy-pass=v proxy-pinnedpubkey=v proxy-service-name=v " +
		"proxy-ssl-allow-beast proxy-ssl-auto-client-cert proxy-tls13-ciphers=v proxy-tlsauthtype=v proxy-tlspassword=v " +
		"proxy-tlsuser=v proxy-tlsv1 proxy-user=v proxytunnel rate=v raw remote-time remove-on-error request-target=v " +
		"retry-all-errors retry-connrefused sasl-authzid=v sasl-ir service-name=v sessionid sigalgs=v skip-existing " +
		"socks5-basic socks5-gssapi socks5-gssapi-nec socks5-gssapi-service=v speed-limit=v speed-time=v ssl ssl-allow-beast " +
		"ssl-auto-client-cert ssl-no-revoke ssl-reqd ssl-revoke-best-effort sslv2 sslv3 styled-output suppress-connect-headers " +
		"tcp-fastopen tcp-nodelay tftp-blksize=v tftp-no-options tls-max=v tls13-ciphers=v tlsauthtype=v tlspassword=v " +
		"tlsuser=v tlsv1 tlsv1.0 tlsv1.1 tlsv1.2 tlsv1.3 tr-encoding trace-config=v trace-ids trace-time use-ascii " +
		"vlan-priority=v xattr version"
	plainWget = "4 6 b c d E F H h I=v K k L N n q Q=v V v w=v X=v accept-regex=v accept=v adjust-extension ask-password " +
		"auth-no-challenge background backup-converted backups=v bind-address=v certificate-type=v ciphers=v compression=v " +
		"connect-timeout=v content-on-error continue convert-file-only convert-links cut-dirs=v debug default-page=v " +
		"delete-after dns-timeout=v domains=v exclude-directories=v exclude-domains=v follow-ftp follow-tags=v force-html " +
		"ftp-password=v ftp-user=v ftps-clear-data-connection ftps-fallback-to-ftp ftps-implicit ftps-resume-ssl " +
		"http-password=v http-user=v https-only ignore-case ignore-length ignore-tags=v include-directories=v inet4-only " +
		"inet6-only keep-session-cookies limit-rate=v local-encoding=v max-redirect no-cache no-check-certificate no-clobber " +
		"no-config no-cookies no-directories no-dns-cache no-glob no-host-directories no-hsts no-http-keep-alive " +
		"no-if-modified-since no-iri no-netrc no-parent no-passive-ftp no-proxy no-remove-listing no-use-server-timestamps " +
		"no-verbose no-warc-compression no-warc-digests no-warc-keep-log pinnedpubkey=v prefer-family=v preserve-permissions " +
		"private-key-type=v progress=v protocol-directories proxy-password=v proxy-user=v quiet quota=v random-wait " +
		"read-timeout=v referer=v regex-type=v reject-regex=v reject=v relative remote-encoding=v report-speed=v " +
		"restrict-file-names=v retr-symlinks retry-connrefused retry-on-http-error=v save-headers secure-protocol=v " +
		"show-progress span-hosts start-pos=v strict-comments timestamping unlink verbose wait=v waitretry=v warc-cdx " +
		"warc-header=v warc-max-size=v xattr help version"
	plainRsync = "0 4 6 8 A a C c D d E F g H h I i J K k L l m N n O o P p q R r S s t U u V v W X x y z 8-bit-output acls address=v " +
		"append append-verify archive atimes blocking-io checksum checksum-choice=v checksum-seed=v compress compress-choice=v " +
		"compress-level=v compress-threads=v confine-root=v contimeout=v copy-dirlinks copy-links copy-unsafe-links crtimes " +
		"cvs-exclude debug=v delay-updates delete-after delete-before delete-delay delete-during delete-excluded " +
		"delete-missing-args devices dirs drop-D dry-run executability existing fake-super force from0 fsync fuzzy group " +
		"groupmap=v hard-links human-readable i-r iconv=v ignore-errors ignore-existing ignore-missing-args " +
		"ignore-non-existing ignore-times inc-recursive info=v inplace insecure-links ipv4 ipv6 itemize-changes keep-dirlinks " +
		"links list-only log-file-format=v max-alloc=v max-delete=v mkpath modify-window=v munge-links no-i-r no-implied-dirs " +
		"no-inc-recursive no-motd no-W no-whole-file numeric-ids old-args old-d old-dirs omit-dir-times omit-link-times " +
		"one-file-system open-noatime outbuf=v owner partial perms preallocate progress protocol=v prune-empty-dirs quiet " +
		"recursive relative safe-links secluded-args size-only skip-compress=v sparse specials stats stderr=v stop-after=v " +
		"stop-at=v super times trust-sender update usermap=v verbose whole-file xattrs help version"
	plainSs = "0 4 6 a b d E e H h i l M m n O o p r S s T t u V w x Z z all bpf cgroup context contexts dccp events extended " +
		"inet-sockopt info ipv4 ipv6 listening memory mptcp no-header numeric oneline options packet processes raw resolve " +
		"sctp socket=v summary tcp threads tipc tipcinfo tos udp unix vsock xdp help version"
	plainMtr = "4 6 r|report w|report-wide c|report-cycles=v n|no-dns b|show-ips z|aslookup y|ipinfo=v i|interval=v j|json x|xml " +
		"l|raw C|csv " +
		"p|split o|order=v T|tcp u|udp S|sctp P|port=v L|localport=v s|psize=v m|max-ttl=v f|first-ttl=v U|max-unknown=v t|curses " +
		"displaymode=v a|address=v I|interface=v B|bitpattern=v G|gracetime=v Q|tos=v e|mpls Z|timeout=v h|help v|version"
	plainNetstat = "4 6 A=v a|all B b C|cache c|continuous d e|extend F|fib f g|groups h|help i|interfaces L l|listening M|masquerade " +
		"m " +
		"N|symbolic n|numeric numeric-hosts numeric-ports numeric-users o|timers p|programs|program P q R r|route S|sctp s|statistics " +
		"t|tcp U|udplite u|udp V|version v|verbose W|wide w|raw X x|unix Z|context protocol=v inet inet6 ax25 ipx netrom ddp bluetooth"
	plainTraceroute = "4 6 A|as-path-lookups a d|debug D|dccp e|extensions F|dont-fragment f|first=v g|gateway=v I|icmp i|interface=v " +
		"l|flowlabel=v m|max-hops=v N|sim-queries=v n P|protocol=v p|port=v q|queries=v r S s|source=v T|tcp t|tos=v U|udp UL|udplite " +
		"V|version v w|wait=v x z|sendwait=v mtu back fwmark=v sport=v help"
)
