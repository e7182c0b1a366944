package chat

import (
	"errors"
	"testing"
	"time"
)

func TestEachLimitSaysInASentenceWhatIsReachedAndWhenItGoesOn(t *testing.T) {
	now := time.Date(2026, 3, 1, 22, 0, 0, 0, time.UTC)
	for _, tt := range []struct {
		limit LimitName
		most  int64
		until time.Time
		want  string
		code  Code
		wait  time.Duration
	}{
		{RunsAtOnce, 4, time.Time{},
			"You have 4 questions being answered, which is the limit here. Ask again when one is done.", CodeTooMany,
			5 * time.Second},
		{RunsAtOnce, 1, time.Time{},
			"You have 1 question being answered, which is the limit here. Ask again when one is done.", CodeTooMany,
			5 * time.Second},
		{QuestionsPerDay, 1, now.Add(time.Hour),
			"You asked 1 question in 24 hours, which is the limit here. You can ask again at 2026-03-01T23:00:00Z.",
			CodeTooMany, time.Hour},
		{SearchesPerMinute, 1, now.Add(500 * time.Millisecond),
			"You searched 1 time in a minute, which is the limit here. You can search again in a second.", CodeTooMany,
			time.Second},
		{QuestionsPerMinute, 20, now.Add(12500 * time.Millisecond),
			"You asked 20 questions in a minute, which is the limit here. You can ask again in 13 seconds.",
			CodeTooMany, 12500 * time.Millisecond},
		{QuestionsPerDay, 100, now.Add(time.Hour),
			"You asked 100 questions in 24 hours, which is the limit here. You can ask again at 2026-03-01T23:00:00Z.",
			CodeTooMany, time.Hour},
		{QuestionsPerDay, 100, now.Add(3 * time.Hour),
			"You asked 100 questions in 24 hours, which is the limit here. You can ask again at 2026-03-02T01:00:00Z.",
			CodeTooMany, 3 * time.Hour},
		{TokensPerDay, 1_000_000, now.Add(3 * time.Hour),
			"Your answers took 1,000,000 tokens in 24 hours, which is the limit here. You can ask again at " +
				"2026-03-02T01:00:00Z.", CodeTooMany, 3 * time.Hour},
		{SearchesPerMinute, 120, now.Add(500 * time.Millisecond),
			"You searched 120 times in a minute, which is the limit here. You can search again in a second.",
			CodeTooMany, time.Second},
		{FilesPerDay, 500, now.Add(3 * time.Hour),
			"You added 500 files in 24 hours, which is the limit here. You can add more at 2026-03-02T01:00:00Z.",
			CodeTooMany, 3 * time.Hour},
		{UploadMiBPerDay, 1024, now.Add(3 * time.Hour),
			"With this file you would add more than 1,024 MiB in 24 hours, which is the limit here. You can add it " +
				"at 2026-03-02T01:00:00Z.", CodeTooMany, 3 * time.Hour},
		{UploadMiBPerDay, 1, time.Time{},
			"With this file you would add more than 1 MiB in 24 hours, which is the limit here. It is more than the " +
				"limit allows at all.", CodeTooMany, 5 * time.Second},
		{DiskMiB, 10_240, time.Time{},
			"With this file your documents would take more than 10,240 MiB, which is the limit here. Delete " +
				"some first.", CodeDiskFull, time.Minute},
		{StreamsAtOnce, 100, time.Time{},
			"You have 100 live views open, which is the limit here. Close some and try again.", CodeTooMany,
			5 * time.Second},
		{DiskReserveMiB, 256, time.Time{},
			"The server's disk is nearly full: the last 256 MiB are kept for questions and answers. Delete " +
				"documents, or ask whoever runs the server for more space.", CodeDiskFull, time.Minute},
	} {
		err := Limits{tt.limit: tt.most}.Over(tt.limit, now, tt.until)
		over, ok := errors.AsType[*OverLimit](err)
		if !ok || err.Message != tt.want || err.Code != tt.code || over.Wait != tt.wait || !over.Until.Equal(tt.until) {
			t.Errorf("%s until %v:\n got %q, %s, %+v\nwant %q, %s, wait %v", tt.limit, tt.until, err.Message, err.Code,
				over, tt.want, tt.code, tt.wait)
		}
	}
}

func TestTheTableOfLimitsIsWhole(t *testing.T) {
	seen := map[LimitName]bool{}
	for _, l := range AllLimits() {
		if seen[l.Name] || l.About == "" || l.Default < 0 || l.code == "" || l.over == "" || l.again == "" ||
			(l.Spends == "") != (l.Span == 0) {
			t.Errorf("limit %q: %+v; want something, Default at least 0, something, something, something", l.Name, l)
		}
		seen[l.Name] = true
		if most, holds := (Limits{l.Name: 3}).Of(l.Name); !holds || most < 3 || most%3 != 0 {
			t.Errorf("3 of the limit %s: %d, %v; want at least 3", l.Name, most, holds)
		}
		if _, holds := (Limits{}).Of(l.Name); holds {
			t.Errorf("the limit %s holds without a number", l.Name)
		}
	}
	if (Limits{RunsAtOnce: 1}).For(LocalUser) != nil {
		t.Error("the local user has limits")
	}
}
