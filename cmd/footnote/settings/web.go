package settings

import (
	"fmt"
	"net/netip"

	"github.com/footnote/footnote/agent/web"
)

// WebSearch returns the configured web search, or nil. Its errors name the invalid provider or URL. No request is
// sent yet.
func (s *Settings) WebSearch() (*web.Web, error) {
	if s.WebProvider == "" {
		return nil, nil
	}
	cfg := web.Config{Provider: s.WebProvider, URL: s.WebURL, APIKey: web.Secret(s.WebAPIKey)}
	for _, text := range s.WebAllow {
		address, err := netip.ParseAddrPort(text)
		if err != nil {
			return nil, fmt.Errorf("FOOTNOTE_WEB_ALLOW %q must be IP:PORT, like 192.168.1.10:80", text)
		}
		cfg.Allow = append(cfg.Allow, address)
	}
	return web.New(cfg)
}
