package mcpclient

import "testing"

func TestUpdatesDoNotShowOurStream(t *testing.T) {
	if got := string(unlabelled([]byte(`{"_meta":{"io.modelcontextprotocol/subscriptionId":7,"x":1},"uri":"u"}`))); got != `{"_meta":{"x":1},"uri":"u"}` {
		t.Error(got)
	}
}
