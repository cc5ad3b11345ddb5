package credential

import "testing"

func TestAsksFor(t *testing.T) {
	for _, s := range []string{
		"password", "Password", "pass_word", "userPassword", "PassPhrase", "Your GitHub token, please", "token", "accessToken", "API key", "apiKey",
		"api_key", "key", "License key", "clientSecret", "PIN", "pinCode", "P.I.N.", "p a s s w o r d", "2FA code", "2fa", "Enter the OTP",
		"one-time code", "Verification code", "security_code", "Card number", "cardNumber", "CVV", "CVC2", "Credit card", "SSN", "Passcode",
		"seed phrase", "recovery code", "Private key", "credentials", "pass\u200bword", "ｐａｓｓｗｏｒｄ", "p\u0430ssword", "pa\u0301ssword",
		"パスワード", "パスワードを入力してください", "ﾊﾟｽﾜｰﾄﾞ", "暗証番号", "ＡＰＩキー", "認証コード", "秘密鍵", "カード番号", "ワンタイムパスワード", "アクセストークン",
	} {
		if AsksFor(s, false) == "" {
			t.Errorf("%q asks for no secret", s)
		}
	}
	for _, s := range []string{
		"", "name", "Name?", "Your name", "keyword", "Keyboard layout", "monkey", "Issue key", "project key", "compass words", "tokenizer", "pinned",
		"spin", "opinion", "country code", "zip code", "postal code", "author", "discard number", "passenger", "Boarding time", "next page token",
		"名前", "キーワード", "キーボード", "カード", "番号", "郵便番号", "コード", "確認してください", "Имя", "Όνομα",
	} {
		if w := AsksFor(s, false); w != "" {
			t.Errorf("%q asks for a secret: %q", s, w)
		}
	}
	if AsksFor("max tokens", true) != "" || AsksFor("token", true) == "" {
		t.Error("a number of tokens is no secret, a token is")
	}
}
