package defect

import (
	"fmt"
	"strings"

	"github.com/ratehammer/ratehammer/cmd/target/key"
	"github.com/ratehammer/ratehammer/cmd/target/mode"
)

func perAddress() kind {
	return kind{
		Doc: mode.Doc{
			Name:     "v6-per-address",
			Settings: "bits=BITS",
			Example:  "v6-per-address{bits=128}",
			Text:     "IPv6 clients are told apart by so many bits of their address (128, the default: all), of which a household can choose 64 as it likes.",
		},
		rows:    []string{"D53"},
		on:      On{Key: "xff{trusted=1}"},
		reports: []string{"sozu-proxy/sozu issue 1270", "mholt/caddy-ratelimit PR 97", "AaronErhardt/actix-governor PR 47"},
		stage:   outside,
		apply: func(p *Parts, r *mode.Reader) error {
			bits := r.IntOr("bits", 128)
			r.Require(bits > 64 && bits <= 128, "bits", "give 65 to 128")
			if err := r.Done(); err != nil {
				return err
			}
			wide, err := byBits(p.Key.String(), bits)
			p.Key = wide
			return err
		},
	}
}

// byBits is the key with its addresses taken to so many bits.
func byBits(text string, bits int64) (key.Key, error) {
	parts, found := strings.Split(text, "+"), false
	for i, part := range parts {
		m, err := mode.Parse(part)
		if err != nil || m.Name != "ip" && m.Name != "xff" && m.Name != "forwarded" {
			continue // header:NAME and the like are no modes
		}
		found = true
		settings := []mode.Setting{{Key: "ipv6", Value: fmt.Sprint(bits)}}
		for _, s := range m.Settings {
			if s.Key != "ipv6" {
				settings = append(settings, s)
			}
		}
		parts[i] = mode.Mode{Name: m.Name, Settings: settings}.String()
	}
	if !found {
		return key.Key{}, fmt.Errorf("v6-per-address: the key %s has no address; give one such as ip or xff", text)
	}
	return key.Parse(strings.Join(parts, "+"))
}
