package httpllm

import (
	"math"
	"net/http"
	"strconv"
	"strings"
	"time"
)

// longest is the most that a server is believed.
const longest = 24 * time.Hour

// RetryAfter reads how long to wait from the headers; 0 means that they do not say, or nothing sensible. It takes
// seconds, milliseconds in Retry-After-Ms, durations such as "1m30s", and dates, and believes a day at most. Seconds
// and dates are those of RFC 9110, section 10.2.3; the others are what providers send instead. A date is compared with
// the server's own Date header, so that a wrong clock here does not matter. Where a header makes no sense the next is
// read.
func RetryAfter(h http.Header, now time.Time) time.Duration {
	for _, unit := range []struct {
		header string
		unit   time.Duration
	}{{"Retry-After-Ms", time.Millisecond}, {"Retry-After", time.Second}} {
		value := strings.TrimSpace(h.Get(unit.header))
		if value == "" {
			continue
		}
		if n, err := strconv.ParseFloat(value, 64); err == nil {
			if math.IsNaN(n) || n < 0 {
				continue
			}
			return time.Duration(min(n*float64(unit.unit), float64(longest)))
		}
		if d, err := time.ParseDuration(value); err == nil && d >= 0 {
			return min(d, longest)
		}
		if at, err := parseTime(value); err == nil {
			if sent, err := http.ParseTime(h.Get("Date")); err == nil {
				now = sent // both by the server's clock
			}
			return min(max(at.Sub(now), 0), longest)
		}
	}
	return 0
}

// parseTime reads the forms of HTTP, and the one of RFC 3339.
func parseTime(value string) (time.Time, error) {
	if at, err := http.ParseTime(value); err == nil {
		return at, nil
	}
	return time.Parse(time.RFC3339, value)
}
