package api

import (
	"context"
	"errors"
	"log/slog"
	"net/http"
	"slices"
	"sync"
	"time"

	"github.com/footnote/footnote/chat"
	"github.com/footnote/footnote/corpus"
	"github.com/footnote/footnote/server/httpio"
)

// probeTime is the timeout of a probe; monitors usually wait a few seconds.
const probeTime = 2 * time.Second

// Check is one dependency that GET /health probes.
//
// Its functions must be safe for concurrent use.
type Check struct {
	Name     string
	Critical bool                             // its failure makes the server "down" (503), not "degraded" (200)
	Probe    func(ctx context.Context) error  // timeout 2 s; only a chat.Error's message is shown
	Says     func(ctx context.Context) string // a detail while it is healthy; nil: none
	Applies  func() bool                      // whether the dependency exists now; nil: it does
}

// CheckResult is the result of one probe.
type CheckResult struct {
	Status string `json:"status" api:"values=ok|failed"`
	Detail string `json:"detail,omitempty"`
}

// HealthReport is the response of GET /health.
type HealthReport struct {
	Status  string `json:"status" api:"values=ok|degraded|down"`
	Version string `json:"version,omitempty"` // The server's version.
	// The commit of the build; left out if not known.
	Commit string `json:"commit,omitempty"`
	// The commit's date.
	Date   string                 `json:"date,omitempty"`
	Checks map[string]CheckResult `json:"checks"` // Each dependency by its name.
}

// Readiness is the response of GET /readyz.
type Readiness struct {
	Status string `json:"status" api:"values=ready|draining"`
}

// Service reports the server's state.
type Service struct {
	Store   chat.Store
	Library *corpus.Library
	Checks  []Check
	Version string
	Commit  string // of the build
	Date    string // of the commit
	Streams *httpio.Streams
	Guard   *httpio.Guard
	Log     *slog.Logger
}

// Health handles GET /health: it probes all dependencies concurrently. A failed critical one is 503, any other 200
// and "degraded".
//
// It needs no key, so it reveals nothing about users or settings. 200 means that questions can be answered, perhaps
// in lower quality; 503 that they can't. It takes at most probeTime if every probe observes its context.
func (a *Service) Health(c httpio.Context) error {
	checks := append([]Check{
		{Name: "database", Critical: true, Probe: func(ctx context.Context) error {
			if _, _, err := a.Store.Sessions(ctx, chat.Local, chat.SessionQuery{Limit: 1}); err != nil {
				return err
			}
			return a.Store.CheckWrites(ctx)
		}},
		{Name: "index", Critical: true, Probe: func(ctx context.Context) error {
			_, err := a.Library.Version(ctx, chat.Local)
			return err
		}},
	}, a.Checks...)
	checks = slices.DeleteFunc(checks, func(c Check) bool { return c.Applies != nil && !c.Applies() })
	errs, says := make([]error, len(checks)), make([]string, len(checks))
	ctx, cancel := context.WithTimeout(c.Request().Context(), probeTime)
	defer cancel()
	var wg sync.WaitGroup
	for i, check := range checks {
		wg.Go(func() {
			if errs[i] = check.Probe(ctx); errs[i] == nil && check.Says != nil {
				says[i] = check.Says(ctx)
			}
		})
	}
	wg.Wait()

	body := HealthReport{
		Status: "ok", Version: a.Version, Commit: a.Commit, Date: a.Date, Checks: map[string]CheckResult{},
	}
	status := http.StatusOK
	for i, check := range checks {
		if errs[i] == nil {
			body.Checks[check.Name] = CheckResult{Status: "ok", Detail: says[i]}
			continue
		}
		a.Log.WarnContext(ctx, "health check failed", "check", check.Name, "err", errs[i])
		body.Checks[check.Name] = CheckResult{Status: "failed", Detail: a.probeDetail(errs[i])}
		if check.Critical {
			body.Status, status = "down", http.StatusServiceUnavailable
		} else if body.Status == "ok" {
			body.Status = "degraded"
		}
	}
	c.Response().Header().Set("Cache-Control", "no-store")
	return c.JSON(status, body)
}

// probeDetail returns the public message for a failed probe, which names no settings. Without keys the caller is the
// operator and also gets a reference to the hint.
func (a *Service) probeDetail(err error) string {
	if errors.Is(err, context.DeadlineExceeded) {
		return "Timed out after 2 seconds."
	}
	if e, ok := errors.AsType[*chat.Error](err); ok {
		if a.Guard.KeyNeeded() {
			return e.Message.String()
		}
		return chat.MessageFor(chat.LocalUser, e).String()
	}
	return "Unavailable. See the log for details."
}

// Ready handles GET /readyz: whether the server accepts new work.
//
// It needs no key. 503 starts with Drain, so that a load balancer sends no new requests while streams end.
func (a *Service) Ready(c httpio.Context) error {
	c.Response().Header().Set("Cache-Control", "no-store")
	if a.Streams.IsDraining() {
		return c.JSON(http.StatusServiceUnavailable, Readiness{"draining"})
	}
	return c.JSON(http.StatusOK, Readiness{"ready"})
}
