package tools

import (
	"fmt"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"mycelium/internal/node/api"
	"mycelium/internal/op/failure"
	"mycelium/internal/rawjson"
	"mycelium/internal/text"
)

// callError returns the failure for a JSON-RPC error.
func (a *app) callError(r api.CallReply, near string) error {
	message := rawjson.TextAt(r.Error, "message")
	if a.JSON {
		if err := a.printRaw(r.Error); err != nil {
			return err
		}
	}
	err := fmt.Errorf("call: %s", text.Flatten(message))
	if r.Denied {
		if rawjson.Path(r.Error, "data", "retryAfterMs") != nil {
			return failure.New(failure.Denied, err,
				"limits: in mycelium.yaml says how many calls there may be; myc session show ID what is used of them")
		}
		hint := "myc policy explain says why; myc tools shows what this role sees"
		if near != "" {
			hint = "did you mean " + near + "? " + hint
		}
		return failure.New(failure.Denied, err, hint)
	}
	return err
}

// callOutput shows a tool's result: its text for people, all of it with --json. A result that says isError fails the command;
// refused says that the session may not do what the tool was asked for.
func (a *app) callOutput(result []byte, refused bool) error {
	failed := string(rawjson.Member(result, "isError")) == "true"
	if a.JSON {
		if err := a.printRaw(result); err != nil {
			return err
		}
	} else if _, err := fmt.Fprintln(a.Out, resultText(result)); err != nil {
		return err
	}
	if refused {
		return failure.New(failure.Denied, fmt.Errorf("call: this session may not do that"), "myc session list shows what each may")
	}
	if failed {
		return &failure.Error{Err: fmt.Errorf("call: the tool reported an error")}
	}
	return nil
}

// resultText returns the text blocks of a tool's result. A block that only wraps another result is unwrapped (A18).
func resultText(result []byte) string {
	var r struct {
		Content []struct {
			Type     string `json:"type"`
			Text     string `json:"text"`
			MIMEType string `json:"mimeType"`
			Name     string `json:"name"`
		} `json:"content"`
	}
	if json.Unmarshal(result, &r) != nil || len(r.Content) == 0 {
		return string(result)
	}
	if len(r.Content) == 1 && r.Content[0].Type == "text" {
		if inner := []byte(r.Content[0].Text); rawjson.Valid(inner) && rawjson.Member(inner, "content") != nil {
			if text := resultText(inner); text != string(inner) {
				return text
			}
		}
	}
	var out []string
	for _, c := range r.Content {
		if c.Type == "text" {
			out = append(out, c.Text)
		} else {
			out = append(out, fmt.Sprintf("[%s %s%s]", c.Type, c.MIMEType, c.Name))
		}
	}
	return strings.Join(out, "\n")
}

// printRaw prints a JSON value as it came, indented.
func (a *app) printRaw(raw []byte) error {
	v := jsontext.Value(append([]byte(nil), raw...))
	if err := v.Indent(); err != nil {
		v = raw
	}
	_, err := fmt.Fprintf(a.Out, "%s\n", v)
	return err
}
