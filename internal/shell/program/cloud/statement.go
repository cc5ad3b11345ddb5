package cloud

import (
	"strings"

	"mycelium/internal/shell/program"
)

// asksSQL reports whether a text of SQL only asks. What it does not understand does not ask: comments, backslashes, brackets, other quotes
// than those around texts and names, and functions that are not known to be harmless.
func asksSQL(text, client string) bool {
	text = strings.TrimRight(strings.TrimSpace(text), ";")
	text = strings.TrimSuffix(strings.TrimSuffix(text, `\G`), `\g`)
	if strings.Contains(text, `\`) || client == "psql" && strings.Contains(text, "`") {
		return false
	}
	bare, closed := withoutTexts(text)
	if !closed || program.ContainsAny(bare, "--", "/*", "#", "$", "[") { // up to the first of these, every client reads the quotes alike
		return false
	}
	for one := range strings.SplitSeq(bare, ";") {
		if one = strings.TrimSpace(one); one != "" && !asksOne(one, client) {
			return false
		}
	}
	return strings.TrimSpace(bare) != ""
}

// withoutTexts returns SQL with nothing in its single quotes. What other quotes hold stays: it may be a name.
func withoutTexts(text string) (bare string, closed bool) {
	var b strings.Builder
	quote := byte(0)
	for i := range len(text) {
		ch := text[i]
		switch {
		case quote == 0 && (ch == '\'' || ch == '"' || ch == '`'):
			quote = ch
			b.WriteByte(ch)
		case quote != 0 && ch == quote:
			quote = 0
			b.WriteByte(ch)
		case quote != '\'':
			b.WriteByte(ch)
		}
	}
	return b.String(), quote == 0
}

// asksOne reports whether one statement only asks.
func asksOne(s, client string) bool {
	words := strings.FieldsFunc(strings.ToUpper(s), func(r rune) bool { return (r < 'A' || r > 'Z') && (r < '0' || r > '9') && r != '_' })
	if len(words) == 0 {
		return false
	}
	if words[0] == "PRAGMA" && strings.HasPrefix(client, "sqlite") {
		return asksPragma(words, s)
	}
	if !program.Named("SELECT|SHOW|EXPLAIN|DESCRIBE|DESC|WITH|VALUES|TABLE|USE|STATUS", words[0]) {
		return false
	}
	for _, w := range words {
		if program.Named("INSERT|UPDATE|DELETE|MERGE|INTO|OUTFILE|DUMPFILE|COPY|CALL|EXECUTE|REFRESH|PROGRAM", w) ||
			w == "CREATE" && words[0] != "SHOW" {
			return false
		}
	}
	return callsKnown(s, functions)
}

// asksPragma reports whether a pragma of SQLite only shows something.
func asksPragma(words []string, s string) bool {
	if len(words) == 1 || strings.Contains(s, "=") {
		return false
	}
	shows := program.Named("TABLE_INFO|TABLE_XINFO|TABLE_LIST|INDEX_LIST|INDEX_INFO|INDEX_XINFO|FOREIGN_KEY_LIST|INTEGRITY_CHECK|"+
		"QUICK_CHECK", words[1])
	return shows || len(words) == 2 && program.Named("USER_VERSION|SCHEMA_VERSION|JOURNAL_MODE|PAGE_COUNT|PAGE_SIZE|ENCODING|DATABASE_LIST|"+
		"FOREIGN_KEYS|COMPILE_OPTIONS|FREELIST_COUNT|COLLATION_LIST", words[1])
}

// functions are functions of SQL that only compute, and words of SQL before a parenthesis.
const functions = "|COUNT|SUM|AVG|MIN|MAX|TOTAL|LENGTH|CHAR_LENGTH|LOWER|UPPER|COALESCE|IFNULL|NULLIF|NOW|DATE|TIME|" +
	"DATETIME|STRFTIME|JULIANDAY|ROUND|ABS|SUBSTR|SUBSTRING|TRIM|LTRIM|RTRIM|CONCAT|GROUP_CONCAT|STRING_AGG|ARRAY_AGG|" +
	"JSON_AGG|JSONB_AGG|ROW_NUMBER|RANK|DENSE_RANK|LAG|LEAD|OVER|IN|ANY|ALL|SOME|EXISTS|VALUES|CAST|EXTRACT|TO_CHAR|" +
	"DATE_TRUNC|DATE_FORMAT|DATE_PART|AGE|VERSION|DATABASE|CURRENT_DATABASE|CURRENT_USER|CURRENT_SCHEMA|USER|PG_SIZE_PRETTY|" +
	"PG_DATABASE_SIZE|PG_TOTAL_RELATION_SIZE|PG_RELATION_SIZE|PG_TABLE_SIZE|TYPEOF|PG_TYPEOF|JSON_EXTRACT|JSON_ARRAY_LENGTH|" +
	"JSONB_ARRAY_LENGTH|YEAR|MONTH|DAY|HOUR|DAYOFWEEK|GREATEST|LEAST|UNNEST|POSITION|INSTR|LEFT|RIGHT|FLOOR|CEIL|CEILING|MOD|" +
	"POWER|SQRT|AS|FROM|WHERE|AND|OR|NOT|ON|USING|BY|SELECT|HAVING|CASE|WHEN|THEN|ELSE|UNION|EXCEPT|INTERSECT|JOIN|DISTINCT|" +
	"FILTER|PARTITION|LATERAL|VARCHAR|NUMERIC|DECIMAL|CHAR|LIMIT|OFFSET|BETWEEN|LIKE|IF|EXPLAIN|ANALYZE|PRAGMA_TABLE_INFO|" +
	"JSON_EACH|INTERVAL|GENERATE_SERIES|FORMAT|HEX|QUOTE|UNICODE|IIF|RECURSIVE|JSON_BUILD_OBJECT|JSONB_BUILD_OBJECT|" +
	"JSON_BUILD_ARRAY|JSON_GROUP_ARRAY|JSON_GROUP_OBJECT|JSON_OBJECT|JSON_ARRAY|JSON_TYPE|JSON_VALID|JSON_UNQUOTE|" +
	"ROW_TO_JSON|TO_JSON|TO_JSONB|SPLIT_PART|REPLACE|REVERSE|NTILE|FIRST_VALUE|LAST_VALUE|BOOL_AND|BOOL_OR|EVERY|CURDATE|" +
	"UNIX_TIMESTAMP|FROM_UNIXTIME|DATEDIFF|TIMESTAMPDIFF|STR_TO_DATE|ISNULL|FIELD|RANDOM|PRINTF|TO_TIMESTAMP|TO_DATE|" +
	"OBJ_DESCRIPTION|FORMAT_TYPE|PG_GET_INDEXDEF|PG_GET_CONSTRAINTDEF|PG_GET_VIEWDEF|ARRAY_LENGTH|ARRAY_TO_STRING|" +
	"STRING_TO_ARRAY|REGEXP_REPLACE|REGEXP_MATCHES|LPAD|RPAD|CONCAT_WS|SIGN|UNIXEPOCH|VARIANCE|STDDEV|"

// callsKnown reports whether each parenthesis stands behind a known word, or behind a sign.
func callsKnown(s, known string) bool {
	for i := range len(s) {
		if s[i] != '(' {
			continue
		}
		before := strings.TrimRight(s[:i], " \t\n")
		if before == "" {
			continue
		}
		switch last := before[len(before)-1]; {
		case strings.IndexByte("(,=<>+-*/|", last) >= 0:
		case last == '"' || last == '`' || last == '\'' || last == ']':
			return false
		default:
			start := strings.LastIndexFunc(before, func(r rune) bool {
				return (r < 'a' || r > 'z') && (r < 'A' || r > 'Z') && (r < '0' || r > '9') && r != '_'
			}) + 1
			if word := strings.ToUpper(before[start:]); word == "" || !strings.Contains(known, "|"+word+"|") {
				return false
			}
		}
	}
	return true
}

// methods are methods of MongoDB that only ask, and constructors of values.
const methods = "|FIND|FINDONE|COUNT|COUNTDOCUMENTS|ESTIMATEDDOCUMENTCOUNT|DISTINCT|LIMIT|SORT|SKIP|PRETTY|TOARRAY|STATS|GETINDEXES|" +
	"GETCOLLECTIONNAMES|GETCOLLECTIONINFOS|VERSION|SERVERSTATUS|EXPLAIN|HELLO|GETNAME|GETCOLLECTION|GETSIBLINGDB|SIZE|OBJECTID|ISODATE|DATE|" +
	"NUMBERLONG|NUMBERINT|NUMBERDECIMAL|DATASIZE|STORAGESIZE|TOTALSIZE|MAXTIMEMS|HINT|COLLATION|COMMENT|AGGREGATE|"

// asksMongo reports whether an expression for MongoDB only asks.
func asksMongo(text string) bool {
	text = strings.TrimRight(strings.TrimSpace(text), ";")
	if program.Named("show dbs|show collections|db", text) {
		return true
	}
	if !strings.HasPrefix(text, "db.") || program.ContainsAny(text, "=", "`", `\`, ";", "$where", "$function", "$accumulator", "$out",
		"$merge", "//", "/*", "eval") {
		return false
	}
	return callsKnown(text, methods)
}
