package oauth

import (
	"net/netip"
	"sync"
	"time"

	"github.com/footnote/footnote/chat"
)

// Limits of registrations at one server.
const (
	perHour      = 60     // per address
	maxAddresses = 50_000 // counted at a time
)

// registrations counts registrations per address and hour, so that no address can fill the store. IPv6 addresses of
// one /64 network count as one. It is safe for concurrent use.
type registrations struct {
	mu    sync.Mutex
	since time.Time // start of the hour
	of    map[netip.Prefix]int
}

// count counts a registration. It fails with chat.CodeTooMany over perHour.
func (r *registrations) count(address string, now time.Time) error {
	ip, _ := netip.ParseAddr(address) // in tests, peers of a socket have no address
	bits := 32
	if ip = ip.Unmap(); ip.Is6() {
		bits = 64
	}
	from, _ := ip.WithZone("").Prefix(bits)
	r.mu.Lock()
	defer r.mu.Unlock()
	if now.Sub(r.since) >= time.Hour || len(r.of) >= maxAddresses {
		r.since, r.of = now, map[netip.Prefix]int{}
	}
	if r.of[from] >= perHour {
		return &chat.Error{
			Code: chat.CodeTooMany, Message: "Too many apps were registered from this IP address. Try again later.",
			Err: &chat.OverLimit{Limit: "registrations", Wait: r.since.Add(time.Hour).Sub(now)},
		}
	}
	r.of[from]++
	return nil
}
