package backend

import (
	"reflect"
	"testing"

	"mycelium/internal/backend/oauth"
)

// TestReconfigureTakesEveryKey: whichever key of a server's entry changes, also below oauth, the pool uses the new entry: the running
// server is asked by it, or is started again by it.
func TestReconfigureTakesEveryKey(t *testing.T) {
	entry := func() Server { return Server{Name: "a", URL: "http://127.0.0.1:1", OAuth: &oauth.Config{}} }
	p := newPool(t, Options{}, entry())
	for _, part := range []func(*Server) reflect.Value{
		func(s *Server) reflect.Value { return reflect.ValueOf(s).Elem() },
		func(s *Server) reflect.Value { return reflect.ValueOf(s.OAuth).Elem() },
	} {
		was := entry()
		for i := range part(&was).NumField() {
			next := entry()
			field := part(&next).Field(i)
			name := part(&next).Type().Field(i).Name
			switch {
			case name == "Name":
				continue // it is another server then
			case field.Kind() == reflect.String:
				field.SetString("x")
			case field.Kind() == reflect.Bool:
				field.SetBool(true)
			case field.CanInt():
				field.SetInt(5)
			case field.Kind() == reflect.Slice:
				field.Set(reflect.MakeSlice(field.Type(), 1, 1))
			case field.Kind() == reflect.Map:
				field.Set(reflect.ValueOf(map[string]string{"x": "x"}))
			case field.Kind() == reflect.Pointer:
				field.SetZero()
			}
			if reflect.DeepEqual(next, entry()) {
				t.Fatalf("%s was not changed", name)
			}
			for _, s := range []Server{next, entry()} {
				if err := p.Reconfigure([]Server{s}); err != nil {
					t.Fatal(err)
				}
				p.mu.Lock()
				got := p.entries["a"].cfg
				p.mu.Unlock()
				if !reflect.DeepEqual(got, s) {
					t.Errorf("%s: the pool has %+v, want %+v", name, got, s)
				}
			}
		}
	}
}
