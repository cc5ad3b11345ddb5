package scan

import "strings"

// cjk looks for orders in Japanese, Chinese and Korean, which are written without spaces. It searches each sentence for words of several
// lists.
func (t *passage) cjk(line string) {
	s := &sentence{text: line}
	if quotedCJK(line) {
		s.has = cRefuse
	}
	if contains(line, "無視", "忘れ", "破棄", "従わな", "忽略", "无视", "忘记", "守らなくて", "従う必要はな",
		"무시", "잊어", "잊고") &&
		contains(line, "指示", "命令", "ルール", "規則", "指令", "规则", "提示词", "プロンプト", "制約", "지시",
			"명령", "규칙") &&
		contains(line, "以前", "これまで", "上記", "前の", "すべて", "全て", "先の", "最初に", "今まで", "之前",
			"以上", "所有", "先前", "이전", "모든", "앞") {
		t.hit(Instruction, s, 0, "the text tells the model to ignore its instructions")
	}
	if contains(line, "ユーザ", "利用者", "使用者", "用户", "使用者に", "사용자", "人間") &&
		!contains(line, "以外", "之外", "外の人", "제외", "제3자") &&
		contains(line, "言わない", "言わず", "知らせず", "知らせない", "伝えず", "伝えない", "教えない", "秘密",
			"内緒", "気づかれ", "隠し", "隠す", "見せない", "不要告", "不要让", "请勿告", "勿告",
			"别告诉", "不得告", "隐瞒", "不要通知", "알리지", "말하지", "숨기") {
		t.hit(Instruction, s, 0, "the text tells the model to keep something from the user")
	}
	if path, ok := sensitive(line); ok && contains(line, "読み込", "読ん", "読み", "入れ", "渡し", "送", "含め", "读取",
		"發送", "发送", "读", "읽") &&
		(t.place != inProse || contains(line, "ください", "こと", "必ず", "なさい", "先に", "先读", "请", "하세요")) {
		t.hit(Exfil, s, 0, "the text asks the model to read or pass on "+path)
	}
	if contains(line, "会話", "やり取り", "对话", "對話", "대화", "チャット") &&
		contains(line, "全文", "全履歴", "すべて", "全て", "全体", "履歴", "そのまま", "全部", "完整", "历史",
			"전체") &&
		(t.place != inProse || contains(line, "入れ", "送", "含め", "渡", "发送", "放入", "보내")) {
		t.hit(Exfil, s, 0, "the text asks for the conversation")
	}
	if contains(line, "システムプロンプト", "系统提示", "시스템 프롬프트") && (t.place != inProse ||
		contains(line, "出力", "表示", "入れ", "渡", "送", "教え", "输出", "出力し")) {
		t.hit(Exfil, s, 0, "the text asks for the system prompt")
	}
	if t.place == inData && contains(line, "パスワード", "密码", "秘密鍵") &&
		contains(line, "表示し", "出力し", "送", "入れ", "输出") {
		t.hit(Exfil, s, 0, "the text asks for credentials")
	}
	t.cjkShadow(s)
}

func (t *passage) cjkShadow(s *sentence) {
	line := s.text
	others := contains(line, "他のサーバ", "別のサーバ", "ほかのサーバ", "他のツール", "すべてのツール",
		"全てのツール", "其他服务器", "其他工具", "다른 서버")
	names := false
	for _, w := range t.wordsOf(line).words {
		if i := strings.IndexFunc(w.text, func(r rune) bool { return r >= 0x80 }); i >= 0 {
			w.text = strings.Trim(w.text[:i], "_")
		}
		names = names || t.foreignTool(w.text)
	}
	if (others || names) && contains(line, "代わり", "前に必ず", "必ず", "変更", "使わない", "呼び出さない", "代替",
		"必须", "而不是", "대신", "반드시") {
		t.hit(Shadow, s, 0, "the text says how to use the tools of other servers")
	}
}

// quotedCJK reports whether a sentence quotes words.
func quotedCJK(line string) bool {
	return strings.Contains(line, "「") && contains(line, "例", "など", "といった", "のような", "検出", "拒否")
}
