package mcpclient

import "testing"

func TestUpdatesDoNotShowOurStream(t *testing.T) {
	labelled := []byte(`{"_meta":{"io.modelcontextprotocol/subscriptionId":7,"x":1},"uri":"u"}`)
	if got := string(unlabelled(labelled)); got != `{"_meta":{"x":1},"uri":"u"}` {
		t.Error(got)
	}
}
