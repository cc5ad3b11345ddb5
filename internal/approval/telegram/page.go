package telegram

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"strings"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/go-telegram/bot/models"
)

// Telegram's bounds.
const (
	maxPage   = 4096 // UTF-16 code units of one message
	maxButton = 64   // bytes of the data behind a button
	maxToast  = 200  // characters of the answer to a tap
)

// page is one message. Styles are positions and not marks in the text, so no text can change its own style.
type page struct {
	b      strings.Builder
	units  int // length in UTF-16 code units, which Telegram counts
	styles []models.MessageEntity
	rows   [][]button
}

// button is one button under a message.
type button struct {
	Text string `json:"text"`
	Data string `json:"callback_data"`
}

// keyboard is the reply_markup of a message with buttons. The type of the library also writes empty members for other kinds of buttons.
type keyboard struct {
	Rows [][]button `json:"inline_keyboard"`
}

func (p *page) text(s string) *page {
	p.b.WriteString(s)
	p.units += units(s)
	return p
}

func (p *page) textf(format string, args ...any) *page { return p.text(fmt.Sprintf(format, args...)) }

func (p *page) bold(s string) *page { return p.styled(models.MessageEntityTypeBold, s) }

func (p *page) pre(language, s string) *page {
	from := len(p.styles)
	p.styled(models.MessageEntityTypePre, s)
	if len(p.styles) > from {
		p.styles[from].Language = language
	}
	return p
}

// digest identifies what a page shows.
func (p *page) digest() string {
	h := sha256.New()
	_, _ = fmt.Fprintf(h, "%q %v %q", p.b.String(), p.styles, p.rows)
	return hex.EncodeToString(h.Sum(nil)[:8])
}

func (p *page) styled(style models.MessageEntityType, s string) *page {
	if s != "" {
		p.styles = append(p.styles, models.MessageEntity{Type: style, Offset: p.units, Length: units(s)})
	}
	return p.text(s)
}

// row adds a row of buttons.
func (p *page) row(some ...button) {
	if len(some) > 0 {
		p.rows = append(p.rows, some)
	}
}

// units counts the UTF-16 code units of a text.
func units(s string) (n int) {
	for _, r := range s {
		n += utf16.RuneLen(r)
	}
	return n
}

// cut splits a text after at most n UTF-16 code units.
func cut(s string, n int) (head, rest string) {
	if len(s) <= n {
		return s, ""
	}
	for i, r := range s {
		if n -= utf16.RuneLen(r); n < 0 {
			return s[:i], s[i:]
		}
	}
	return s, ""
}

// ends shortens a text of more than n UTF-16 code units to its beginning and end, and says how much is missing. whole is false then.
func ends(s string, n int) (shown string, whole bool) {
	if units(s) <= n {
		return s, true
	}
	head, rest := cut(s, n*2/3)
	skip, back := len(rest), 0
	for skip > 0 {
		r, size := utf8.DecodeLastRuneInString(rest[:skip])
		if back += utf16.RuneLen(r); back > n/3 {
			break
		}
		skip -= size
	}
	return fmt.Sprintf("%s\n⋯ %d of %d characters are not shown here ⋯\n%s", head, utf8.RuneCountInString(rest[:skip]),
		utf8.RuneCountInString(s), rest[skip:]), false
}
