package network

import (
	"strings"

	"mycelium/internal/shell/effect"
	"mycelium/internal/shell/program"
)

// sslCommands are the commands of openssl that work on files. What they load is executed.
var sslCommands = []program.Row{
	{Name: "version", Style: program.Single, Options: sslOptions, Plain: "a b c d e f m o p r v " + plainSsl, Operands: "v*",
		Handle: passwords},
	{Name: "list", Style: program.Single, Options: sslOptions,
		Plain: "1 asymcipher-algorithms cipher-algorithms cipher-commands commands decoders digest-algorithms digest-commands " +
			"disabled encoders engines kdf-algorithms kem-algorithms key-exchange-algorithms key-managers mac-algorithms objects " +
			"options=v providers public-key-algorithms public-key-methods random-generators random-instances select=v " +
			"signature-algorithms standard-commands store-loaders verbose " + plainSsl, Operands: "v*", Handle: passwords},
	{Name: "ciphers", Style: program.Single, Options: sslOptions,
		Plain: "V ciphersuites=v convert=v psk s srp stdname tls1 tls1_1 tls1_2 tls1_3 v " + plainSsl, Operands: "v*", Handle: passwords},
	{Name: "speed", Style: program.Single, Options: sslOptions,
		Plain:    "aead async_jobs=v bytes=v cmac=v decrypt elapsed evp=v hmac=v mb misalign=v mr multi=v primes=v seconds=v " + plainSsl,
		Operands: "v*", Handle: passwords},
	{Name: "rand", Style: program.Single, Options: "out=w " + sslOptions, Plain: "base64 hex " + plainSsl, Operands: "v*",
		Handle: passwords},
	{Name: "prime", Style: program.Single, Options: sslOptions, Plain: "bits=v checks=v generate hex safe " + plainSsl, Operands: "v*",
		Handle: passwords},
	{Name: "passwd", Style: program.Single, Options: "in=r " + sslOptions,
		Plain: "1 5 6 aixmd5 apr1 noverify quiet reverse salt=v stdin table " + plainSsl, Operands: "v*", Handle: passwords},
	{Name: "rsa", Style: program.Single, Options: "in=r out=w passin=v passout=v " + sslOptions,
		Plain: "RSAPublicKey_in RSAPublicKey_out check inform=v modulus noout outform=v pubin pubout pvk-none pvk-strong pvk-weak " +
			"text traditional " + plainSsl + sslCiphers + sslDigests, Operands: "r*", Handle: passwords},
	{Name: "pkey", Style: program.Single, Options: "in=r out=w passin=v passout=v " + sslOptions,
		Plain: "check ec_conv_form=v ec_param_enc=v inform=v noout outform=v pubcheck pubin pubout text text_pub traditional " +
			plainSsl + sslCiphers, Operands: "r*", Handle: passwords},
	{Name: "x509", Style: program.Single,
		Options: "CA=r CAkey=r CAserial=b extfile=r force_pubkey=r in=r key=r out=w passin=v signkey=r " + sslOptions,
		Plain: "CAcreateserial CAform=v CAkeyform=v addreject=v addtrust=v alias badsig certopt=v checkemail=v checkend=v checkhost=v " +
			"checkip=v clrext clrreject clrtrust copy_extensions=v dateopt=v dates days=v email enddate ext=v extensions=v " +
			"fingerprint hash inform=v issuer issuer_hash issuer_hash_old keyform=v modulus nameopt=v new next_serial nocert noout " +
			"ocsp_uri ocspid outform=v preserve_dates pubkey purpose req serial set_serial=v setalias=v sigopt=v startdate subj=v " +
			"subject subject_hash subject_hash_old text trustout vfyopt=v x509toreq " + plainSsl + sslDigests, Operands: "r*",
		Handle: passwords},
	{Name: "req", Style: program.Single,
		Options: "CA=r CAkey=r config=x in=r key=r keygen_engine=x keyout=w out=w passin=v passout=v " + sslOptions,
		Plain: "addext=v batch copy_extensions=v days=v extensions=v inform=v keyform=v modulus multivalue-rdn nameopt=v new newhdr " +
			"newkey=v nodes noenc noout outform=v pkeyopt=v precert pubkey reqexts=v reqopt=v section=v set_serial=v sigopt=v subj=v " +
			"subject text utf8 verbose verify vfyopt=v x509 " + plainSsl + sslCiphers + sslDigests, Operands: "r*", Handle: passwords},
	{Name: "enc|base64", Style: program.Single, Options: "in=r kfile=r out=w pass=v " + sslOptions,
		Plain: "A K=v P S=v a base64 bufsize=v ciphers d debug e iter=v iv=v k=v list md=v none nopad nosalt p pbkdf2 salt v " +
			plainSsl + sslCiphers, Operands: "r*", Handle: passwords},
	{Name: "dgst|blake2b512|blake2s256|md4|md5|md5-sha1|ripemd|ripemd160|rmd160|sha1|sha224|sha256|sha3-224|sha3-256|" +
		"sha3-384|sha3-512|sha384|sha512|sha512-224|sha512-256|shake128|shake256|sm3|whirlpool", Style: program.Single,
		Options: "out=w passin=v prverify=r sign=r signature=r verify=r " + sslOptions,
		Plain: "binary c d debug engine_impl fips-fingerprint hex hmac=v keyform=v list mac=v macopt=v r sigopt=v xoflen=v " +
			plainSsl + sslDigests, Operands: "r*", Handle: passwords},
	{Name: "genrsa", Style: program.Single, Options: "out=w passout=v " + sslOptions,
		Plain: "3 F4 f4 primes=v traditional verbose " + plainSsl + sslCiphers, Operands: "r*", Handle: passwords},
	{Name: "genpkey", Style: program.Single, Options: "config=x out=w paramfile=r pass=v " + sslOptions,
		Plain: "algorithm=v genparam outform=v pkeyopt=v quiet text " + plainSsl + sslCiphers, Operands: "r*", Handle: passwords},
	{Name: "pkcs12", Style: program.Single,
		Options: "CAfile=r CApath=r CAstore=r certfile=r in=r inkey=r out=w passin=v passout=v password=v untrusted=r " + sslOptions,
		Plain: "CSP=v LMK cacerts caname=v certpbe=v chain clcerts descert export info iter=v keyex keypbe=v keysig legacy macalg=v " +
			"maciter name=v no-CAfile no-CApath no-CAstore nocerts nodes noenc noiter nokeys nomac nomaciter nomacver noout " +
			"passcerts=v twopass " + plainSsl + sslCiphers, Operands: "r*", Handle: passwords},
	{Name: "pkcs8", Style: program.Single, Options: "in=r out=w passin=v passout=v " + sslOptions,
		Plain: "inform=v iter=v nocrypt noiter outform=v scrypt scrypt_N=v scrypt_p=v scrypt_r=v topk8 traditional v1=v v2=v v2prf=v " +
			"" + plainSsl, Operands: "r*", Handle: passwords},
	{Name: "ec", Style: program.Single, Options: "in=r out=w passin=v passout=v " + sslOptions,
		Plain:    "check conv_form=v inform=v no_public noout outform=v param_enc=v param_out pubin pubout text " + plainSsl + sslCiphers,
		Operands: "r*", Handle: passwords},
	{Name: "ecparam", Style: program.Single, Options: "in=r out=w " + sslOptions,
		Plain:    "check check_named conv_form=v genkey inform=v list_curves name=v no_seed noout outform=v param_enc=v text " + plainSsl,
		Operands: "r*", Handle: passwords},
	{Name: "verify", Style: program.Single, Options: "CAfile=r CApath=r CAstore=r CRLfile=r trusted=r untrusted=r " + sslOptions,
		Plain: "allow_proxy_certs attime=v auth_level=v check_ss_sig crl_check crl_check_all explicit_policy extended_crl " +
			"ignore_critical inhibit_any inhibit_map issuer_checks nameopt=v no-CAfile no-CApath no-CAstore no_alt_chains " +
			"no_check_time partial_chain policy=v policy_check policy_print purpose=v show_chain suiteB_128 suiteB_128_only " +
			"suiteB_192 trusted_first use_deltas verbose verify_depth=v verify_email=v verify_hostname=v verify_ip=v verify_name=v " +
			"vfyopt=v x509_strict " + plainSsl, Operands: "r*", Handle: passwords},
	{Name: "crl", Style: program.Single, Options: "CAfile=r CApath=r CAstore=r gendelta=r in=r key=r out=w " + sslOptions,
		Plain: "badsig crlnumber dateopt=v fingerprint hash hash_old inform=v issuer keyform=v lastupdate nameopt=v nextupdate " +
			"no-CAfile no-CApath no-CAstore noout outform=v text verify " + plainSsl + sslDigests, Operands: "r*", Handle: passwords},
	{Name: "pkeyutl", Style: program.Single,
		Options: "config=x in=r inkey=r out=w passin=v peerkey=r pkeyopt_passin=v sigfile=r " + sslOptions,
		Plain: "asn1parse certin decrypt derive digest=v encrypt engine_impl hexdump kdf=v kdflen=v keyform=v peerform=v pkeyopt=v " +
			"pubin rawin rev sign verify verifyrecover " + plainSsl, Operands: "r*", Handle: passwords},
	{Name: "rsautl", Style: program.Single, Options: "in=r inkey=r out=w passin=v " + sslOptions,
		Plain: "asn1parse certin decrypt encrypt hexdump keyform=v oaep pkcs pubin raw rev sign verify x931 " + plainSsl, Operands: "r*",
		Handle: passwords},
	{Name: "asn1parse", Style: program.Single, Options: "genconf=r in=r oid=r out=w " + sslOptions,
		Plain: "dlimit=v dump genstr=v i inform=v item=v length=v noout offset=v strictpem strparse=v " + plainSsl, Operands: "r*",
		Handle: passwords},
	{Name: "dhparam", Style: program.Single, Options: "in=r out=w " + sslOptions,
		Plain: "2 3 5 check dsaparam inform=v noout outform=v text " + plainSsl, Operands: "r*", Handle: passwords},
	{Name: "cms", Style: program.Single,
		Options: "CAfile=r CApath=r CAstore=r certfile=r certsout=w config=x content=r in=r inkey=r out=w passin=v recip=r signer=r " +
			"verify_receipt=r " + sslOptions,
		Plain: "EncryptedData_decrypt EncryptedData_encrypt aes128-wrap aes192-wrap aes256-wrap allow_proxy_certs asciicrlf attime=v " +
			"auth_level=v binary cades check_ss_sig cmsout compress crl_check crl_check_all crlfeol data_create data_out " +
			"debug_decrypt decrypt des3-wrap digest_create digest_verify econtent_type=v encrypt explicit_policy extended_crl from=v " +
			"ignore_critical indef inform=v inhibit_any inhibit_map issuer_checks keyform=v keyid keyopt=v md=v nameopt=v no-CAfile " +
			"no-CApath no-CAstore no_alt_chains no_attr_verify no_check_time no_content_verify noattr nocerts nodetach noindef " +
			"nointern noout nosigs nosmimecap noverify originator=v outform=v partial_chain policy=v policy_check policy_print print " +
			"purpose=v pwri_password=v rctform=v receipt_request_all receipt_request_first receipt_request_from=v " +
			"receipt_request_print receipt_request_to=v resign secretkey=v secretkeyid=v sign sign_receipt stream subject=v " +
			"suiteB_128 suiteB_128_only suiteB_192 text to=v trusted_first uncompress use_deltas verify verify_depth=v verify_email=v " +
			"verify_hostname=v verify_ip=v verify_name=v verify_retcode wrap=v x509_strict " + plainSsl + sslCiphers + sslDigests,
		Operands: "r*", Handle: passwords},
	{Name: "smime", Style: program.Single,
		Options: "CAfile=r CApath=r CAstore=r certfile=r config=x content=r in=r inkey=r out=w passin=v recip=r signer=r " + sslOptions,
		Plain: "allow_proxy_certs attime=v auth_level=v binary check_ss_sig crl_check crl_check_all crlfeol decrypt encrypt " +
			"explicit_policy extended_crl from=v ignore_critical indef inform=v inhibit_any inhibit_map issuer_checks keyform=v md=v " +
			"no-CAfile no-CApath no-CAstore no_alt_chains no_check_time noattr nocerts nochain nodetach noindef nointern nosigs " +
			"nosmimecap noverify outform=v partial_chain pk7out policy=v policy_check policy_print purpose=v resign sign stream " +
			"subject=v suiteB_128 suiteB_128_only suiteB_192 text to=v trusted_first use_deltas verify verify_depth=v verify_email=v " +
			"verify_hostname=v verify_ip=v verify_name=v x509_strict " + plainSsl + sslCiphers + sslDigests, Operands: "r*",
		Handle: passwords},
	{Name: "dsa", Style: program.Single, Options: "in=r out=w passin=v passout=v " + sslOptions,
		Plain: "inform=v modulus noout outform=v pubin pubout pvk-none pvk-strong pvk-weak text " + plainSsl + sslCiphers, Operands: "r*",
		Handle: passwords},
	{Name: "pkcs7", Style: program.Single, Options: "in=r out=w " + sslOptions,
		Plain: "inform=v noout outform=v print print_certs text " + plainSsl, Operands: "r*", Handle: passwords},
	{Name: "ts", Style: program.Single,
		Options: "CAfile=r CApath=r CAstore=r chain=r config=x data=r in=r inkey=r out=w passin=v queryfile=r signer=r untrusted=r " +
			"" + sslOptions, Plain: "allow_proxy_certs attime=v auth_level=v cert check_ss_sig crl_check crl_check_all digest=v " +
			"explicit_policy extended_crl ignore_critical inhibit_any inhibit_map issuer_checks no_alt_chains no_check_time no_nonce " +
			"partial_chain policy=v policy_check policy_print purpose=v query reply section=v suiteB_128 suiteB_128_only suiteB_192 " +
			"text token_in token_out trusted_first tspolicy=v use_deltas verify verify_depth=v verify_email=v verify_hostname=v " +
			"verify_ip=v verify_name=v x509_strict " + plainSsl + sslDigests, Operands: "r*", Handle: passwords},
	{Name: "s_client", Style: program.Single, Options: "connect=h cert=r key=r CAfile=r servername=v " + sslOptions,
		Does: effect.Network | effect.Upload},
	{Name: "s_server", Style: program.Single, Options: "accept=v cert=r key=r " + sslOptions, Does: effect.Listen | effect.Network},
	{Name: "errstr|help", Style: program.Single, Options: sslOptions, Plain: plainSsl, Operands: "v*"},
}

// The options of most commands of openssl, and the names of ciphers and digests, which are options.
const (
	sslOptions = "engine=x provider=x provider-path=x rand=r writerand=w "
	plainSsl   = "help propquery=v "
	sslCiphers = "aes-128-cbc aes-128-cfb aes-128-ctr aes-128-ecb aes-128-gcm aes-128-ofb aes-192-cbc aes-192-ctr aes-192-ecb " +
		"aes-192-gcm aes-256-cbc aes-256-cfb aes-256-ctr aes-256-ecb aes-256-gcm aes-256-ofb aes128 aes192 aes256 aria-128-cbc " +
		"aria-128-cfb aria-128-cfb1 aria-128-cfb8 aria-128-ctr aria-128-ecb aria-128-ofb aria-192-cbc aria-192-cfb aria-192-cfb1 " +
		"aria-192-cfb8 aria-192-ctr aria-192-ecb aria-192-ofb aria-256-cbc aria-256-cfb aria-256-cfb1 aria-256-cfb8 aria-256-ctr " +
		"aria-256-ecb aria-256-ofb aria128 aria192 aria256 camellia-128-cbc camellia-128-ecb camellia-192-cbc camellia-192-ecb " +
		"camellia-256-cbc camellia-256-ecb camellia128 camellia192 camellia256 chacha20 chacha20-poly1305 des-ede des-ede-cbc " +
		"des-ede-cfb des-ede-ofb des-ede3 des-ede3-cbc des-ede3-cfb des-ede3-ofb des3 id-aes256-gcm sm4 sm4-cbc sm4-cfb sm4-ctr " +
		"sm4-ecb sm4-ofb "
	sslDigests = "blake2b512 blake2s256 md4 md5 md5-sha1 ripemd ripemd160 rmd160 sha1 sha224 sha256 sha3-224 sha3-256 sha3-384 " +
		"sha3-512 sha384 sha512 sha512-224 sha512-256 shake128 shake256 sm3 whirlpool "
)

// passwords handles where a password comes from: it may be a file.
func passwords(c *program.Call) {
	for _, o := range c.Options {
		if strings.HasPrefix(o.Name, "pass") || o.Name == "pkeyopt_passin" {
			if file, ok := strings.CutPrefix(o.Value.Text, "file:"); ok {
				c.Role('r', o.Value.Tail(len(o.Value.Text)-len(file)))
			}
		}
	}
}
