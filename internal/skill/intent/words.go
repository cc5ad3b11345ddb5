package intent

import (
	"strings"
	"sync"
)

// kind is what a word is about. A verb has one of the first kinds, a thing one of the others. A word can be both: "test" is a verb whose
// thing is a test.
type kind uint8

const (
	none       kind = iota
	do              // to run, to take, to give: what is done is said by the thing
	read            // to look at something
	check           // to find out whether something holds
	change          // to alter what exists
	create          // to make what does not exist
	firstThing      // the kinds below are things

	tests
	builds
	reviews
	versions // version control
	docs
	skills
	sheets
	pdfs
	browsers
	data
	faces // what users see
	news  // what colleagues are told
	texts // values, wordings: what an editor changes
	code  // also what malfunctions
	kinds
)

// medium reports whether a thing is a format or a means: it is wanted in whatever a request does with it.
func (k kind) medium() bool { return k == sheets || k == pdfs || k == browsers }

// word is an entry of the lexicon.
type word struct {
	verb, thing kind
	verbal      bool // it can be the verb of a request
}

// english are the words of requests by their stems (see [stem]), a phrase with its parts joined by "_". A line is a kind of verb, a kind
// of thing and the words.
const english = `
do - measure get navigat go_to visit log_in predict forecast estimat tell hook_up plug switch adopt migrate_to have want like turn calculat comput count kick_off launch pick sketch paint squash stage put_together collect gather scaffold prepar scan combin join sign compress unlock protect share post inform notify run rerun execut perform do try start use take give make_sure need fill rotat split convert send put export import open_up sum go_through extract merg click provid produc deliver
read - point_me pull_up bring_up scan dump look_up dig_up figure_out find_out quot peek browse outlin go_over study learn_how read show open view look look_at find search grep list explain walk describ locat print display inspect trac cat summariz have_a_look
check - tell_me_what tell_me_which tell_me_how tell_me_where tell_me_why check see verify make_sure ensur validat confirm report
change - append prepend cut crop undo rephrase shorten_the reverse undo_the align indent insert lower rais uncomment comment_out turn_off turn_on enabl disabl increase decrease reduc shorten reformat format reorder sort capitaliz amend polish strip drop trim convert_to edit chang replac rewrit correct updat remov delet swap bump tweak set mov modify adjust bring finish clean revert improv repair fix restyl rework get_rid reword put_back
create - develop come_up_with set_up_a add creat mak writ implement generat draft handl build_a build_me extend compose invent set_up support allow introduc introduc complet draw compose
do code throw rais return code_up hook migrat inline simplify optimiz wire rewire decoupl dedup rewrite_the_class support async debug patch cache refactor renam implement speed_up port extract_the_logic split_up debounc
- code wrapper script hook_script pointer check_box button context layer plugin plug-in enum tabl column_type transaction block field_access input_validation memory_usage performanc prototyp error_handl rate_limit import script class_hierarchy concurrency mutex event callback scheduler worker queue cach hang freez deadlock callback model interfac method_call algorithm async orm middlewar rout controller token job dead_code backend regex loop exception null_pointer code bug function method class modul packag endpoint handler parser api component helper query leak race flag logic servic client struct interfac retry retri pool loop variabl librari library feature crash algorithm nil null global_state state pagination logger hook
- texts comment size width height length count dat default feature_flag flag_file name field limit indentat spell wording_of row label_text rate_limit config text wording port valu version lin typo titl label heading url settings timeout option env string file folder dir directory repo project startup content cookie session schema architecture paragraph sentenc word comma quote indentation log_level number constant log key newline quote path logo greet description field column
do tests test make_test make_check npm_test go_test cargo_test
- tests tests unit_test suit spec e2e pytest jest vitest coverag integration_test ctest rspec unittest test_suit test_case test_run tests_pass assertion
do builds build compil lint typecheck type_check type-check rebuild
- builds compiler_warning static_analysis type_checker type_error lint_error lint_warning compile_error compiler_error build_error linter eslint tsc clippy gofmt vet golangci-lint mypy ruff
do reviews review critiqu criticiz criticis audit_the_code look_over
- reviews review code_review reviewer feedback review_comment second_opinion second_pair_of_ey point_out problem
do versions git_blame git_log git_diff git_status commit merg branch stash cherry-pick cherry_pick tag rebase pull push cherry-pick amend squash
- versions git pull_request pr diff git_log blam merge_conflict conflict commit branch history gh working_tree
do docs document
- docs docs doc contributing documentation readm readme.md changelog guid manual tutorial doc_comment docstring section release_not architectur faq api_doc javadoc godoc
- skills skill rol
- sheets xlsx xls excel spreadsheet workbook pivot_tabl pivot
- pdfs pdf
- browsers browser chrom screenshot playwright firefox localhost
do data analyz analyse plot
- data data dataset statistic chart graph correlat correlation trend outlier mean median averag percentil regression distribution histogram analysis
create faces design restyl redesign
- faces landing_pag ui ux login_pag login_screen   layout sidebar homepage navbar dashboard mock wirefram font palett theme them mockup settings_pag color user_interfac pag
create news announce
- news status_report newsletter announcement announc status_updat incident_report weekly_report weekly_updat memo weekly_status_updat all-hand
`

// japanese are the words of requests as they are written, in the same form. Verbs are stems: the endings are read after them.
const japanese = `
do - つない つなぎ 予測 推定 まとめ 出し 出す 行っ 行い やっ 通し 起動し 並べ 取っ 数え 計算 求め 埋め 圧縮 変え 共有 通知 実行 走らせ 回し 回す 流し 流す かけ 試し 試す 使っ 使う 撮っ 撮る 入力 回転 出力 変換 抽出 分割 結合 合計 お願い 頼み 頼む ほしい 欲しい 送っ 開始 始め 計測 測っ 測る 打っ 切っ 頼 下さい 準備
read - 開か 読ま 探さ 一覧にして 見つけ 見比べ 眺め 解説 要約 参照 閲覧 読み上げ 特定 紹介 列挙 読ん 読み 読む 読め 見せ 見 開い 開き 開く 探し 探す 調べ 検索 表示 説明 覗い 覗き 追っ 挙げ 一覧 読解 把握 眺め 示し
check - 確認 検証 見直し 見直し 確かめ 報告 教え チェック 見直
change - 編集 置換 書き直し 差し替え 改め 整え 直せ 変えろ 短くし 長くし 良くし 大きくし 小さくし 更新し 下げ 増やし 減らし 有効化 無効化 書き換え 変更 置き換え 変え 直し 直す 修正 更新 消し 消す 戻し 戻す 上げ 下げ 削除 移動 訂正 改善 追記 消さ 変えな 削っ 削る 入れ替え 言い換え 直さ オフにして オンにして 空にし 取り消し なくし なくす 反映 きれいに にして
create - 入れ 入れる ようにして ように 作成 作っ 作る 作り 書い 書く 書き 追加 生成 付け 新設 書か 起こし 描い 切り出し 考え 用意 作れ 足し 加え 設け
do code 解消 開発 対応 コーディング 並列化 分離 統一 拡張 実装 リファクタリング リファクタ リネーム 移植 高速化 最適化 共通化 抽象化 非同期化 簡略化 改修 デバッグ デバッグし
- code インポート エクスポート プラグイン メモリリーク メモリ使用量 デッドロック 列挙型 ループ スクリプト 入力チェック ハンドラ クラッシュ フリーズ 性能 無限ループ 試作品 プロトタイプ api ライブラリ クラッシュする コード バグ 関数 処理 クラス メソッド モジュール パッケージ エンドポイント コンポーネント リーク 競合 クエリ グローバル変数 変数 例外 機能 オプション 固まる 固まっ 壊れ 動かない インターフェース アルゴリズム スケジューラ キャッシュ ワーカー キュー 落ちる 不具合 パーサ テストコード ページング ロジック
- texts エラーログ 一文 文章 警告 エラーメッセージ ログメッセージ ページタイトル ボタンラベル ディレクトリ プロジェクト リポジトリ アプリ コメント 番号 サイズ 幅 高さ 件数 日付 行 紹介文 綴り インデント タイトル テンプレート 場所 設定 文言 見出し 誤字 タイムアウト ポート バージョン 値 メッセージ 表現 ファイル フォルダ 依存 ログ 定義 箇所 中身 内容 カンマ 行目 表記 記述 文字列 レベル 段落 タブ ボタン 構成 ラベル 名前 年 起動 仕組み 項目
do tests テスト 動作確認
- tests テストカバレッジ 全テスト テスト 単体テスト 結合テスト ユニットテスト テストスイート カバレッジ 動作確認 e2eテスト
do builds フルビルド ビルド コンパイル リント 型チェック 静的解析 クリーンビルド リビルド
- builds コンパイラの警告 フルビルド リントエラー 型エラー ビルドエラー リント警告 型チェッカー リンター リリースビルド 型検査 コンパイルエラー
do reviews レビュー コードレビュー 査読 指摘
- reviews レビュー コードレビュー 査読 問題点
do versions コミット マージ スタッシュ プッシュ
- versions マージリクエスト コミットメッセージ コミットログ プルリク 作業ツリー ブランチ プルリクエスト プルリク 履歴 差分 コンフリクト タグ
do docs 文書化 ドキュメント化
- docs リリースノート 使い方 チュートリアル ドキュメント 文書 手順書 ガイド 更新履歴 移行ガイド 説明書 マニュアル ドキュメントコメント
- skills スキル 権限
- sheets エクセルファイル エクセル スプレッドシート ピボットテーブル ピボット
- browsers ブラウザ スクリーンショット スクショ スマホ表示 画面キャプチャ
do data 分析 データ分析 集計 可視化
- data 平均 中央値 外れ値 推移 折れ線グラフ 分布 グラフ 棒グラフ 統計 相関 傾向 データ
create faces デザイン
- faces 見た目 画面デザイン ランディングページ スタイル テーマ ログイン画面 ナビバー レイアウト 配色 ダッシュボード モックアップ フォント 画面
- news 週報 アナウンス ニュースレター 社内向け お知らせ 社内
`

// lexicon are the words that are known without any skill. It is made when it is first used.
var lexicon = sync.OnceValue(func() map[string]word {
	verbs := map[string]kind{"-": none, "do": do, "read": read, "check": check, "change": change, "create": create}
	things := map[string]kind{
		"-": none, "code": code, "texts": texts, "tests": tests, "builds": builds, "reviews": reviews, "versions": versions, "docs": docs,
		"skills": skills, "sheets": sheets, "pdfs": pdfs, "browsers": browsers, "data": data, "faces": faces, "news": news,
	}
	out := map[string]word{}
	for line := range strings.Lines(english + japanese) {
		f := strings.Fields(line)
		if len(f) < 2 {
			continue
		}
		v, t := verbs[f[0]], things[f[1]]
		for _, s := range f[2:] {
			s = stems(strings.ReplaceAll(s, "_", " "))
			w := out[s]
			if v != none {
				w.verb, w.verbal = v, true
			}
			if t != none {
				w.thing = t
			}
			out[s] = w
		}
	}
	return out
})

// stem returns a word of English without the endings of its forms. It is made for comparing words, and not always a word.
func stem(s string) string {
	n := len(s)
	switch {
	case n > 5 && strings.HasSuffix(s, "ing"):
		s = undouble(s[:n-3])
	case n > 4 && strings.HasSuffix(s, "ies"):
		return s[:n-3] + "y"
	case n > 4 && strings.HasSuffix(s, "ied"):
		return s[:n-3] + "y"
	case n > 4 && strings.HasSuffix(s, "ed"):
		s = undouble(s[:n-2])
	case n > 4 && (strings.HasSuffix(s, "sses") || strings.HasSuffix(s, "ches") || strings.HasSuffix(s, "shes") || strings.HasSuffix(s, "xes")):
		s = s[:n-2]
	case n > 3 && s[n-1] == 's' && s[n-2] != 's' && s[n-2] != 'u' && s[n-2] != 'i':
		s = s[:n-1]
	}
	if n := len(s); n > 3 && s[n-1] == 'e' {
		s = s[:n-1]
	}
	return s
}

// stems returns the words of a phrase by their stems, parted by single spaces. Words of other scripts stay as they are.
func stems(s string) string {
	f := strings.Fields(s)
	for i := range f {
		f[i] = stem(f[i])
	}
	return strings.Join(f, " ")
}

func undouble(s string) string {
	if n := len(s); n > 2 && s[n-1] == s[n-2] && !strings.ContainsRune("lsz", rune(s[n-1])) {
		return s[:n-1]
	}
	return s
}
