package inbox

import (
	"net/url"
	"strconv"
	"strings"

	"mycelium/internal/approval"
	"mycelium/internal/node/api"
)

// answerOfForm reads the answer to a request from a form. problem says why it is none.
func answerOfForm(form url.Values, q approval.Request) (a api.Answer, problem string) {
	allow := false
	a.Allow, a.Digest, a.Reason, a.Sure = &allow, form.Get("digest"), strings.TrimSpace(form.Get("reason")), sureIn(form)
	switch form.Get("answer") {
	case "once":
		allow, a.For = true, approval.Once
	case "session":
		allow, a.For, a.As = true, approval.Session, approval.As(form.Get("as"))
	case "rule":
		allow, a.For, a.As = true, approval.Rule, approval.As(form.Get("as"))
		if q.Kind != approval.Call || q.Rule == approval.PromotionRule {
			return a, "This cannot be allowed as a rule."
		}
	case "deny":
		a.For = approval.Once
	case "never":
		a.For = approval.Never
	case "go-on": // of an agent that wants to stop: the words are its next instruction
		allow, a.For, a.Text, a.Reason = true, approval.Once, a.Reason, ""
	case "say": // the answers to its questions
		allow, a.For, a.Text, a.Reason = true, approval.Once, spoken(form, q.Questions), ""
		if a.Text == "" {
			return a, "Choose an option, or write an answer, for every question."
		}
	default:
		return a, "The form says neither to allow nor to deny."
	}
	if a.Digest == "" {
		return a, "The form does not say which request it answers."
	}
	return a, ""
}

// sureIn reports whether the box of the second sign is marked.
func sureIn(form url.Values) bool { return form.Get("sure") == "yes" }

// spoken returns the answers to questions as the agent reads them; "" if one is missing.
func spoken(form url.Values, questions []approval.Asked) string {
	var texts []string
	for i, q := range questions {
		n := strconv.Itoa(i)
		said := strings.Join(chosen(form["option"+n], q.Options), ", ")
		if own := strings.TrimSpace(form.Get("own" + n)); own != "" {
			said = own
		}
		if said == "" {
			return ""
		}
		texts = append(texts, q.Text+"\n→ "+said)
	}
	return strings.Join(texts, "\n")
}

// chosen returns the options whose numbers a form has. What is no number of an option is none.
func chosen(numbers, options []string) (out []string) {
	for _, n := range numbers {
		if i, err := strconv.Atoi(n); err == nil && i >= 0 && i < len(options) {
			out = append(out, options[i])
		}
	}
	return out
}
