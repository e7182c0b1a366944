package chat

import (
	"context"
	"fmt"
	"time"

	"github.com/footnote/footnote/text/english"
	"github.com/footnote/footnote/text/locale"
)

// LimitName names a limit. Names are stable: they are in the API, and in the settings with the prefix "limits.".
type LimitName string

// The limits of each user. They do not apply to the local user, the only one while there are no keys.
const (
	RunsAtOnce         LimitName = "runs_at_once"
	QuestionsPerMinute LimitName = "questions_per_minute"
	QuestionsPerDay    LimitName = "questions_per_day"
	TokensPerDay       LimitName = "tokens_per_day"
	SearchesPerMinute  LimitName = "searches_per_minute"
	FilesPerDay        LimitName = "files_per_day"
	UploadMiBPerDay    LimitName = "upload_mib_per_day"
	DiskMiB            LimitName = "disk_mib"
	StreamsAtOnce      LimitName = "streams_at_once"
	KeptQuestions      LimitName = "kept_questions"

	// DiskReserveMiB is a limit of the server: all uploads are refused while less of the disk is free.
	DiskReserveMiB LimitName = "disk_reserve_mib"
)

// Resource is spent by a user and becomes available again after a limit's Span. Its names are in databases.
type Resource string

// The resources that users spend.
const (
	ResourceQuestions   Resource = "question"
	ResourceTokens      Resource = "token"
	ResourceSearches    Resource = "search"
	ResourceUploadFiles Resource = "file"
	ResourceUploadBytes Resource = "byte"
)

const (
	day    = 24 * time.Hour
	miB    = 1 << 20
	minute = time.Minute
)

// Limit is a row of the table of limits.
//
// Spending counts in a sliding window: each spending expires Span later, not at midnight. Limits without Spends
// count current usage, so nothing is recorded for them.
type Limit struct {
	Name    LimitName
	About   string        // description of the count: in --help, the API and the handbook
	Default int64         // 0: off
	Spends  Resource      // the resource spent; empty for a limit on current usage
	Span    time.Duration // the sliding window; 0 for current usage
	unit    int64         // store units per unit of the setting; 0: 1
	code    Code          // of the error
	noun    string        // the counted noun, for over
	over    string        // the user's message over the limit; %s is the limit with its noun
	again   string        // the sentence after it about a retry; %s, if any, is a time
}

// The order is that of `--help`, of the API and of the handbook. SpendLimits requires that shorter spans precede
// longer ones of the same resource. The defaults are the settings' defaults; docs/settings.md lists them.
var limitTable = []Limit{
	{
		Name: RunsAtOnce, About: "concurrent questions per user", Default: 4,
		code: CodeTooMany, noun: "active question", over: "You have reached the limit of %s.",
		again: "Try again when one is done.",
	},
	{
		Name: QuestionsPerMinute, About: "questions per user and minute", Default: 20, Spends: ResourceQuestions,
		Span: minute,
		code: CodeTooMany, noun: "question", over: "You have reached the limit of %s per minute.",
		again: "Try again %s.",
	},
	{
		Name: QuestionsPerDay, About: "questions per user in 24 hours", Default: 100, Spends: ResourceQuestions,
		Span: day,
		code: CodeTooMany, noun: "question", over: "You have reached the limit of %s in 24 hours.",
		again: "Try again %s.",
	},
	{
		Name:   TokensPerDay,
		About:  "model tokens per user in 24 hours; active runs continue",
		Spends: ResourceTokens, Span: day,
		code: CodeTooMany, noun: "token", over: "You have reached the limit of %s in 24 hours.",
		again: "Try again %s.",
	},
	{
		Name: SearchesPerMinute, About: "searches per user and minute, except those of runs", Default: 120,
		Spends: ResourceSearches, Span: minute,
		code: CodeTooMany, noun: "search", over: "You have reached the limit of %s per minute.",
		again: "Try again %s.",
	},
	{
		Name: FilesPerDay, About: "files added or reimported per user in 24 hours", Default: 500,
		Spends: ResourceUploadFiles, Span: day,
		code: CodeTooMany, noun: "file", over: "You have reached the limit of %s in 24 hours.",
		again: "Try again %s.",
	},
	{
		Name: UploadMiBPerDay, About: "MiB of files added per user in 24 hours", Default: 1024,
		Spends: ResourceUploadBytes, Span: day, unit: miB,
		code: CodeTooMany, over: "This file exceeds the upload limit of %s in 24 hours.",
		again: "Try again %s.",
	},
	{
		Name: DiskMiB, About: "storage quota per user, in MiB of files", Default: 10_240, unit: miB,
		code: CodeDiskFull, over: "This file exceeds your storage quota of %s.",
		again: "Delete documents first.",
	},
	{
		Name: StreamsAtOnce, About: "concurrent live streams per user and server", Default: 100,
		code: CodeTooMany, noun: "live stream", over: "You have reached the limit of %s.",
		again: "Close some and try again.",
	},
	{
		Name: KeptQuestions, About: "monitored questions per user", Default: 50,
		code: CodeTooMany, noun: "monitored question", over: "You have reached the limit of %s.",
		again: "Delete one first.",
	},
	{
		Name:    DiskReserveMiB,
		About:   "MiB of free disk space reserved for questions and answers; uploads are rejected below it",
		Default: 256, unit: miB,
		code: CodeDiskFull, over: "The server's disk is nearly full. The last %s are reserved for questions.",
		again: "Delete documents, or contact your administrator.",
	},
}

// AllLimits returns the table in display order. Callers must not modify it.
func AllLimits() []Limit { return limitTable }

// LimitOf returns the row of a limit, which must be in the table. It panics for an unknown name: names are
// constants.
func LimitOf(name LimitName) Limit {
	for _, l := range limitTable {
		if l.Name == name {
			return l
		}
	}
	panic("chat: unknown limit " + string(name))
}

// Limits are the limits of an installation. A missing or zero limit is off; nil has no limits.
type Limits map[LimitName]int64

// For returns the limits of a user. The local user has none: without keys only one person uses the program.
func (l Limits) For(user string) Limits {
	if user == LocalUser {
		return nil
	}
	return l
}

// Of returns a limit in the store's units, such as bytes, and whether it is on.
func (l Limits) Of(name LimitName) (most int64, holds bool) {
	most = l[name]
	return most * max(1, LimitOf(name).unit), most > 0
}

// SpendLimit is one spending limit as a store checks it.
type SpendLimit struct {
	Name LimitName
	What Resource
	Span time.Duration
	Most int64
}

// SpendLimits returns the limits on a resource, shortest span first, so that an error names the limit that ends
// soonest. Empty means unlimited: a store need not count the resource.
func (l Limits) SpendLimits(what Resource) []SpendLimit {
	var list []SpendLimit
	for _, limit := range limitTable {
		if most, holds := l.Of(limit.Name); holds && limit.Spends == what {
			list = append(list, SpendLimit{limit.Name, limit.Spends, limit.Span, most})
		}
	}
	return list
}

// FullSince returns the latest time t, after since, such that more than room was spent at t or later; zero if there
// is no such time. It describes a sliding window: if room is 3 and the last 4 spendings were at 1, 2, 3 and 4
// o'clock, the result is 1 o'clock. When that hour leaves the window, there is room.
type FullSince func(what Resource, since time.Time, room int64) (time.Time, error)

// Check fails with an *OverLimit if one of limits has no room for n more. For each limit it finds the blocking
// spending: Span later it leaves the window and n fits. A request larger than the whole limit never fits; its error
// has a zero Until. The caller must prevent concurrent spending by a lock on the user's row or a single writer.
func (l Limits) Check(limits []SpendLimit, n int64, now time.Time, full FullSince) error {
	for _, w := range limits {
		if n > w.Most {
			return l.Over(w.Name, now, time.Time{})
		}
		at, err := full(w.What, now.Add(-w.Span), w.Most-n)
		if err != nil {
			return fmt.Errorf("read spending: %w", err)
		}
		if !at.IsZero() {
			return l.Over(w.Name, now, at.Add(w.Span))
		}
	}
	return nil
}

// OverLimit is the cause of a limit's Error. The server sends Wait as Retry-After, so it is never below a second.
type OverLimit struct {
	Limit LimitName
	Until time.Time     // when a retry can succeed; zero: not known
	Wait  time.Duration // from now until then, or until a retry is worthwhile
}

// Error returns the limit's name, for logs.
func (e *OverLimit) Error() string { return "over the limit " + string(e.Limit) }

// Over returns the error for a user over a limit, who can retry at until; zero: not known. A limit on current usage
// can't predict when there will be room; Retry-After is then five seconds, an estimate.
func (l Limits) Over(name LimitName, now, until time.Time) *Error {
	limit := LimitOf(name)
	cause := &OverLimit{Limit: name, Until: until, Wait: 5 * time.Second}
	again := limit.again
	switch {
	case limit.Span > 0 && until.IsZero():
		again = "This request alone exceeds the limit."
	case limit.Span > 0:
		cause.Wait = max(until.Sub(now), time.Second)
		again = fmt.Sprintf(again, timeInWords(now, until))
	case limit.code == CodeDiskFull:
		cause.Wait = time.Minute // deletions free disk space later
	}
	return &Error{
		Code: limit.code, Err: cause, Message: locale.Message(
			fmt.Sprintf(limit.over, limit.countInWords(l[name])) + " " + again,
		),
	}
}

// countInWords formats a number of the limited resource with its unit.
func (l Limit) countInWords(n int64) string {
	if l.unit == miB {
		return english.Digits(n) + " MiB"
	}
	return english.Count(n, l.noun)
}

// timeInWords formats a future time to follow a verb: "in 5 seconds", or "at" with the time in RFC 3339. The page
// parses that and shows it in the reader's time zone. A second is added, since a rounded-down time would be too
// early.
func timeInWords(now, until time.Time) string {
	switch seconds := int64(until.Sub(now)/time.Second) + 1; {
	case seconds <= 1:
		return "in a second"
	case seconds <= 60:
		return "in " + english.Count(seconds, "second")
	default:
		return "at " + until.UTC().Format(time.RFC3339)
	}
}

// LimitStore counts spending per user, over all servers that share it and across restarts. Spending is summed over
// time spans. A power loss may drop recent counts and so widen a limit slightly; a sync to disk at each search would
// cost more than that is worth.
type LimitStore interface {
	// SetLimits sets the limits per user for StartRun, Spend and the documents of the same store. Until then there
	// are no limits. Call it before any other method.
	SetLimits(l Limits)

	// Spend counts n against a user's limits on a resource. If there is no room for n, it counts nothing and fails
	// with an *OverLimit. Concurrent calls never exceed the limit. Recent counts may be lost at a power loss.
	Spend(ctx context.Context, user string, what Resource, n int64) error

	// Charge counts n, which was already spent, regardless of the limit.
	Charge(ctx context.Context, user string, what Resource, n int64) error

	// CheckQuota checks as Spend does whether 1 more fits, and counts nothing.
	CheckQuota(ctx context.Context, user string, what Resource) error
}
