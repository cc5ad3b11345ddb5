// Package network knows programs that reach other machines.
package network

import (
	"mycelium/internal/shell/effect"
	"mycelium/internal/shell/program"
)

// Rows are the programs that reach other machines, sorted by name.
var Rows = []program.Row{
	{Name: "aria2c", Options: "d|dir=w o|out=w i|input-file=n", Operands: "h*", Here: "w", Does: effect.Network},
	{Name: "autossh", Style: program.First, Options: "M=v", Parse: ssh},
	{Name: "curl", Plain: plainCurl, Options: curlOptions, Operands: "h*", Does: effect.Network, Shows: "V", Handle: curl},
	{Name: "dig", Options: "f=r k=r b=v y=v", Plain: "4 6 c=v h i m p=v q=v r t=v u v x=v", Does: effect.Network},
	{Name: "ftp", Operands: "h*", Does: effect.Network | effect.Upload},
	{Name: "host", Plain: "4 6 A a C c=v d i l m=v N=v p=v R=v r s T t=v U v V W=v w", Operands: "h*", Does: effect.Network},
	{Name: "http", Does: effect.Network, Handle: request},
	{Name: "https", Same: "http"},
	{Name: "ifconfig", Plain: "a v s l m d u L r", Handle: configure},
	{Name: "mail", Does: effect.Network | effect.Upload},
	{Name: "mosh", Operands: "h", Does: effect.Network},
	{Name: "mtr", Options: "F|filename=r", Plain: plainMtr, Operands: "h", Does: effect.Network},
	{Name: "nc",
		Options:  "e|exec=x c|sh-exec=c l|listen p|source-port=v w|wait=v s=v x=h X=v q=v i=v o|output=w U|unixsock k u v z n lua-exec=x",
		Plain:    "4 6 b C D d F G=v g=v h I=v M=v m=v N O=v P=v r S T=v t V=v W=v",
		Operands: "hv", Does: effect.Network | effect.Upload, Handle: netcat},
	{Name: "nc.openbsd", Same: "nc"},
	{Name: "nc.traditional", Same: "nc"},
	{Name: "ncat", Same: "nc"},
	{Name: "netcat", Same: "nc"},
	{Name: "netstat", Plain: plainNetstat, Operands: "v*"},
	{Name: "ngrok", Does: effect.Network | effect.Listen | effect.Publish},
	{Name: "nmap", Style: program.Single, Options: "p=v oN=w oX=w oG=w oA=w iL=r script=x T=v", Operands: "h*",
		Does: effect.Network},
	{Name: "nslookup", Style: program.Single, Plain: "type=? query=? querytype=? q=? class=? cl=? port=? timeout=? retry=? " +
		"debug d2 nodebug nod2 recurse norecurse vc novc search nosearch domain=? fail nofail all ndots=? sil version",
		Does: effect.Network},
	{Name: "openssl", Plain: "help", Subs: sslCommands},
	{Name: "ping", Options: "c=v i=v w=v W=v t=v s=v I=v",
		Plain: "4 6 A a B C D d e=v F=v H h L l=v M=v m=v N=v n O o p=v Q=v q R r S=v T=v U V v", Operands: "h*", Does: effect.Network},
	{Name: "rsync", Plain: plainRsync,
		Options: "b|backup e|rsh=c rsync-path=v f|filter=v exclude=v include=v exclude-from=r include-from=r " +
			"files-from=n B|block-size=v T|temp-dir=w link-dest=r compare-dest=r copy-dest=r log-file=w partial-dir=w backup-dir=w " +
			"suffix=v " +
			"M|remote-option=v port=v bwlimit=v chmod=v chown=v password-file=r max-size=v min-size=v timeout=v out-format=v " +
			"delete|delete-before|delete-during|delete-delay|delete-after|delete-excluded|delete-missing-args del " +
			"early-input=r only-write-batch=w remove-source-files write-batch=w read-batch=r", Handle: transfer},
	{Name: "scp", Options: "i=r P=v F=x o=v S=x J=h l=v c=v D=c X=v", Plain: "3 4 6 B C O p q R r s T v", Handle: transfer},
	{Name: "sftp", Options: "i=r P=v F=x o=v S=x b=r J=h D=c X=v s=v", Plain: "4 6 a B=v C c=v f l=v N p q R=v r v",
		Does: effect.Network | effect.Upload, Handle: transfer},
	{Name: "socat", Does: effect.Network | effect.Upload, Handle: socat},
	{Name: "ss", Plain: plainSs, Options: "D|diag=w F|filter=r f|family=v A|query=v N|net=v K|kill", Operands: "v*", Handle: sockets},
	{Name: "ssh", Style: program.First,
		Options: "i=r p=v l=v F=x o=v L=v R=v D=v J=h W=h E=w S=r c=v m=v b=v e=v I=x w=v O=v Q=v B=v V P=v",
		Plain:   "4 6 a C f g k M N n q s T t v x y", Parse: ssh},
	{Name: "ssh-add", Operands: "r*", Does: effect.Secrets},
	{Name: "ssh-copy-id", Options: "i=r p=v", Operands: "h", Does: effect.Network | effect.Upload | effect.Privilege},
	{Name: "ssh-keygen", Options: "f=w t=v b=v C=v N=v P=v R=v F=v l y", Does: effect.Secrets},
	{Name: "ssh-keyscan", Options: "f=r", Plain: "4 6 c D H O=v p=v q T=v t=v v", Operands: "h*", Does: effect.Network},
	{Name: "sshpass", Style: program.First, Options: "p=v f=r e", Parse: program.RunOperands},
	{Name: "tcpdump", Options: "w=w r=r i=v", Does: effect.Network | effect.Privilege},
	{Name: "telnet", Operands: "hv", Does: effect.Network | effect.Upload},
	{Name: "traceroute", Plain: plainTraceroute, Operands: "hv", Does: effect.Network},
	{Name: "wget", Plain: plainWget,
		Options: "O|output-document=w P|directory-prefix=w o|output-file=w a|append-output=w i|input-file=n " +
			"post-file=r body-file=r post-data=v body-data=v header=v e|execute=i U|user-agent=v method=v ca-certificate=r " +
			"certificate=r private-key=r load-cookies=r save-cookies=w config=x use-askpass=x T|timeout=v t|tries=v l|level=v " +
			"user=v password=v warc-file=w A=v R=v D=v spider S|server-response r|recursive m|mirror p|page-requisites " +
			"x|force-directories content-disposition trust-server-names B|base=h ca-directory=r crl-file=r hsts-file=b rejected-log=w " +
			"warc-dedup=r warc-tempdir=w", Operands: "h*", Does: effect.Network,
		Handle: wget},
	{Name: "whois", Options: "h|host=h p|port=v",
		Plain: "a A B b c d F G G H K L l M m n r R Q S x i=v g=v q=v s=v T=v t=v v=v V=v I help " +
			"version verbose no-recursion", Does: effect.Network},
}

// curlOptions are the options of curl that take a value or send something.
const curlOptions = "o|output=w O|remote-name remote-name-all T|upload-file=r d|data=v data-ascii=v data-binary=v data-raw=v " +
	"data-urlencode=v F|form=v form-string=v json=v K|config=x unix-socket=b abstract-unix-socket=v X|request=v H|header=v " +
	"A|user-agent=v u|user=v b|cookie=v c|cookie-jar=w e|referer=v x|proxy=h preproxy=h socks5=h socks5-hostname=h socks4=h " +
	"D|dump-header=w E|cert=r key=r cacert=r capath=r w|write-out=v m|max-time=v connect-timeout=v retry=v retry-delay=v " +
	"retry-max-time=v r|range=v C|continue-at=v Y=v y=v z|time-cond=v J|remote-header-name P|ftp-port=v Q|quote=v t|telnet-option=v " +
	"resolve=v " +
	"connect-to=v interface=v url=h stderr=w trace=w trace-ascii=w output-dir=w netrc-file=r limit-rate=v max-redirs=v proto=v " +
	"proto-default=v ciphers=v create-dirs etag-save=w etag-compare=r hsts=b alt-svc=b url-query=v variable=v dns-servers=v " +
	"n|netrc|netrc-optional doh-url=h egd-file=r engine=x libcurl=w proxy-cacert=r proxy-capath=r proxy-cert=r proxy-key=r proxy1.0=h " +
	"socks4a=h " +
	"pubkey=r random-file=r crlfile=r proxy-crlfile=r " +
	"pinnedpubkey=v V|version G|get I|head L|location s|silent S|show-error f|fail k|insecure i|include v|verbose"
