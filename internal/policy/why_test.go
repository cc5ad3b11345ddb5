package policy

import (
	"strings"
	"testing"
)

// TestWhyIsForPeople: where no rule decides, the reason says what the call would do, why that matters, and what would make it run. It has no
// name of an effect and no word of ours.
func TestWhyIsForPeople(t *testing.T) {
	for _, c := range []struct {
		part     Part
		fallback Effect
		want     string
	}{
		{Part{Program: "docker", Effects: []string{EffectExecute, EffectContainer}}, Ask, "It would change or enter a container or a cluster. " +
			"A container can reach files and services of this machine, and a cluster may serve others. No rule allows it, so it runs if a person " +
			"says yes"},
		{Part{Program: "git", Effects: []string{EffectNetwork}, Unclear: []string{FilesNotKnown}}, Ask, "It would reach another machine and do " +
			"something that was not understood (git does not know yet which files it changes). A request can carry data out, and an answer can " +
			"carry instructions for the agent in. No rule allows it, so it runs if a person says yes"},
		{Part{Program: "git", Effects: []string{EffectExecute, EffectNetwork, EffectPush}}, Deny, "It would reach another machine and send commits " +
			"to another repository. Others see them, and builds start with them. No rule allows it, and policy.fallback.agent is deny: it runs " +
			"once a rule allows it"},
		{Part{Effects: []string{EffectWrite}, Paths: []Path{{Raw: "x", Clean: "/etc/x", Access: Write}}}, Ask, "It would write /etc/x. What was " +
			"there before is gone unless git or a backup has it. No rule allows it, so it runs if a person says yes"},
		{Part{Program: "ls", Effects: []string{EffectExecute}}, Ask, "It would run ls. A program outside of the sandbox can do whatever you can " +
			"do. No rule allows it, so it runs if a person says yes"},
		{Part{}, Ask, "It would use this tool. No rule allows it, so it runs if a person says yes"},
		{Part{Effects: []string{"teleport"}}, Ask, "It would do what is called teleport. Nobody has said what that means. No rule allows it, so " +
			"it runs if a person says yes"},
	} {
		if got := c.part.why(c.fallback); got != c.want {
			t.Errorf("%+v:\n%s, want\n%s", c.part, got, c.want)
		}
	}
	for _, e := range Effects() {
		got := (&Part{Effects: []string{e.Name}, Paths: []Path{{Clean: "/p/x", Access: Read}}}).why(Ask)
		if strings.Contains(got, "fallback") || strings.Contains(got, "_") || !strings.HasPrefix(got, "It would ") || strings.Contains(got, "..") {
			t.Errorf("%s: %s", e.Name, got)
		}
	}
}
