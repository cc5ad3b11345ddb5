// Package identities has the section identity: of mycelium.yaml, which says how agents get a role by their agent card.
package identities

import (
	"fmt"
	"net/url"
	"path/filepath"
	"strconv"
	"strings"

	"mycelium/internal/config/source"
	"mycelium/internal/policy/identity"
)

// Section is the identity: section. Where it stands, a role follows from a card or from the operator, and no agent switches its role.
type Section struct {
	RejectUnknown    *bool    `yaml:"rejectUnknown" json:"rejectUnknown,omitzero" about:"absent: true"`
	DefaultRole      string   `yaml:"defaultRole" json:"defaultRole,omitempty" about:"of an agent that no rule matches"`
	StrictValidation bool     `yaml:"strictValidation" json:"strictValidation,omitempty" about:"a card must have all that A2A demands"`
	TrustedPrefixes  []string `yaml:"trustedPrefixes" json:"trustedPrefixes,omitempty" about:"beginnings of agents' names"`
	Keys             []string `yaml:"keys" json:"keys,omitempty" about:"files and URLs of key sets (RFC 7517). If there are any, a card needs a signature by one of the keys"`

	// Bound are the only roles that rules of a project may give, from the user's session section; nil: any.
	Bound []string `yaml:"-" json:"-"`
}

// Check reports what is wrong with the section.
func (s *Section) Check(bad source.Report) {
	rejects := s.RejectUnknown == nil || *s.RejectUnknown
	switch {
	case rejects && s.DefaultRole != "":
		bad("identity.defaultRole", "identity.defaultRole is "+strconv.Quote(s.DefaultRole)+", and unknown agents are rejected",
			"write rejectUnknown: false beside it, or leave it out")
	case !rejects && s.DefaultRole == "":
		bad("identity.rejectUnknown", "identity.rejectUnknown is false, and no defaultRole says which role an unknown agent has",
			"write defaultRole: and a role, or leave rejectUnknown out")
	}
	if s.TrustedPrefixes != nil && len(s.TrustedPrefixes) == 0 {
		bad("identity.trustedPrefixes", "identity.trustedPrefixes is empty: no agent is trusted", "name a prefix, or leave the key out")
	}
	for i, p := range s.TrustedPrefixes {
		if strings.TrimSpace(p) == "" {
			bad("identity.trustedPrefixes", fmt.Sprintf("identity.trustedPrefixes[%d] is empty: every name begins with it", i),
				"write how the names of trusted agents begin")
		}
	}
	if s.Keys != nil && len(s.Keys) == 0 {
		bad("identity.keys", "identity.keys is empty: no card could be verified", "name a key set, or leave the key out")
	}
	for i, k := range s.Keys {
		if !place(k) {
			bad("identity.keys", fmt.Sprintf("identity.keys[%d] is %q", i, k),
				"write the https URL of a key set, or an absolute path outside of the project, such as ~/.config/mycelium/partner.jwks")
		}
	}
}

// place reports whether a text can say where a key set is. A path in a project is none: what works there could write it.
func place(s string) bool {
	if strings.HasPrefix(s, "https://") || strings.HasPrefix(s, "http://") {
		u, err := url.Parse(s)
		return err == nil && u.Host != "" && u.User == nil
	}
	return filepath.IsAbs(s) || strings.HasPrefix(s, "~/")
}

// Settings returns the section as a resolver takes it. A nil section is that of a project without one.
func (s *Section) Settings() identity.Settings {
	if s == nil {
		return identity.Settings{}
	}
	return identity.Settings{DefaultRole: s.DefaultRole, Strict: s.StrictValidation, TrustedPrefixes: s.TrustedPrefixes, Bound: s.Bound}
}
