package chat

import (
	"reflect"
	"testing"
	"time"

	"mycelium/internal/approval"
	"mycelium/internal/config"
)

// TestEveryKeyOfAChannelIsTakenUp: whichever key of a chat or a notice changes, and whether agents may be started at all, the channels
// are opened anew. The time of this test is that of a change that is lost.
func TestEveryKeyOfAChannelIsTakenUp(t *testing.T) {
	full := func() *config.Project {
		p := &config.Project{}
		p.File.Approval.Telegram = &approval.TelegramConfig{}
		p.File.Approval.Notify = approval.NotifyConfig{Ntfy: &approval.WebhookConfig{}, Slack: &approval.WebhookConfig{}}
		return p
	}
	fields := func(p *config.Project) (all []reflect.Value, names []string) {
		for _, part := range []any{p.File.Approval.Telegram, &p.File.Approval.Notify, p.File.Approval.Notify.Ntfy,
			p.File.Approval.Notify.Slack} {
			v := reflect.ValueOf(part).Elem()
			for i := range v.NumField() {
				all, names = append(all, v.Field(i)), append(names, v.Type().String()+"."+v.Type().Field(i).Name)
			}
		}
		return append(all, reflect.ValueOf(&p.File.Spawn.SearchPaths).Elem()), append(names, "spawn.searchPaths")
	}
	_, names := fields(full())
	for i, name := range names {
		p := full()
		c := &Chats{Options: Options{Project: func() *config.Project { return p }, Expand: func(s string) (string, error) { return s, nil }},
			renewed: make(chan struct{}, 1)}
		have, err := c.channels()
		if err != nil {
			t.Fatal(err)
		}
		done := make(chan struct{})
		go func() {
			defer close(done)
			c.waitForChange(t.Context(), have)
		}()
		next := full()
		all, _ := fields(next)
		change(all[i])
		p = next
		c.Renew()
		select {
		case <-done:
		case <-time.After(time.Minute):
			t.Errorf("%s changed, and the channels stay as they were", name)
		}
	}
}

// change gives a field another value than zero, or none to one that has one.
func change(v reflect.Value) {
	switch v.Kind() {
	case reflect.String:
		v.SetString("x")
	case reflect.Int64:
		v.SetInt(1)
	case reflect.Slice:
		v.Set(reflect.MakeSlice(v.Type(), 1, 1))
	case reflect.Pointer:
		if v.IsNil() {
			v.Set(reflect.New(v.Type().Elem()))
		} else {
			v.SetZero()
		}
	default:
		panic(v.Kind())
	}
}
