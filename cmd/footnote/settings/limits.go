package settings

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/alecthomas/kong"

	"github.com/footnote/footnote/chat"
)

// limitSettings are what each user with a key may do. chat.AllLimits has their defaults and says what they mean.
type limitSettings struct {
	RunsAtOnce         int64 `name:"limits-runs-at-once" help:"${limit_runs_at_once}" default:"${default_runs_at_once}" env:"FOOTNOTE_LIMITS_RUNS_AT_ONCE"`
	QuestionsPerMinute int64 `name:"limits-questions-per-minute" help:"${limit_questions_per_minute}" default:"${default_questions_per_minute}" env:"FOOTNOTE_LIMITS_QUESTIONS_PER_MINUTE"`
	QuestionsPerDay    int64 `name:"limits-questions-per-day" help:"${limit_questions_per_day}" default:"${default_questions_per_day}" env:"FOOTNOTE_LIMITS_QUESTIONS_PER_DAY,FOOTNOTE_QUESTIONS_PER_DAY"`
	TokensPerDay       int64 `name:"limits-tokens-per-day" help:"${limit_tokens_per_day}" default:"${default_tokens_per_day}" env:"FOOTNOTE_LIMITS_TOKENS_PER_DAY"`
	SearchesPerMinute  int64 `name:"limits-searches-per-minute" help:"${limit_searches_per_minute}" default:"${default_searches_per_minute}" env:"FOOTNOTE_LIMITS_SEARCHES_PER_MINUTE"`
	FilesPerDay        int64 `name:"limits-files-per-day" help:"${limit_files_per_day}" default:"${default_files_per_day}" env:"FOOTNOTE_LIMITS_FILES_PER_DAY"`
	UploadMiBPerDay    int64 `name:"limits-upload-mib-per-day" help:"${limit_upload_mib_per_day}" default:"${default_upload_mib_per_day}" env:"FOOTNOTE_LIMITS_UPLOAD_MIB_PER_DAY"`
	DiskMiB            int64 `name:"limits-disk-mib" help:"${limit_disk_mib}" default:"${default_disk_mib}" env:"FOOTNOTE_LIMITS_DISK_MIB"`
	StreamsAtOnce      int64 `name:"limits-streams-at-once" help:"${limit_streams_at_once}" default:"${default_streams_at_once}" env:"FOOTNOTE_LIMITS_STREAMS_AT_ONCE"`
	KeptQuestions      int64 `name:"limits-kept-questions" help:"${limit_kept_questions}" default:"${default_kept_questions}" env:"FOOTNOTE_LIMITS_KEPT_QUESTIONS"`
	DiskReserveMiB     int64 `name:"limits-disk-reserve-mib" help:"${limit_disk_reserve_mib}" default:"${default_disk_reserve_mib}" env:"FOOTNOTE_LIMITS_DISK_RESERVE_MIB"`
}

// UserLimits returns the settings by the names of the table. 0 stands for no limit. The result is a copy.
func (s *limitSettings) UserLimits() chat.Limits {
	return chat.Limits{
		chat.RunsAtOnce: s.RunsAtOnce, chat.QuestionsPerMinute: s.QuestionsPerMinute,
		chat.QuestionsPerDay: s.QuestionsPerDay, chat.TokensPerDay: s.TokensPerDay,
		chat.SearchesPerMinute: s.SearchesPerMinute, chat.FilesPerDay: s.FilesPerDay,
		chat.UploadMiBPerDay: s.UploadMiBPerDay, chat.DiskMiB: s.DiskMiB,
		chat.StreamsAtOnce: s.StreamsAtOnce, chat.DiskReserveMiB: s.DiskReserveMiB,
		chat.KeptQuestions: s.KeptQuestions,
	}
}

// maxLimit is far beyond every use, and small enough to be counted in bytes.
const maxLimit = 1 << 40

// limitEnv is the environment's name of a limit. It is what the tags of limitSettings say.
func limitEnv(name chat.LimitName) string { return "FOOTNOTE_LIMITS_" + strings.ToUpper(string(name)) }

// checkLimits reports every limit that is out of range, by the name of its variable.
func (s *limitSettings) checkLimits() error {
	var errs []error
	limits := s.UserLimits()
	for _, l := range chat.AllLimits() {
		if n := limits[l.Name]; n < 0 || n > maxLimit {
			errs = append(
				errs, fmt.Errorf("%s goes from 1 to %d, or is 0 for no limit", limitEnv(l.Name), int64(maxLimit)),
			)
		}
	}
	return errors.Join(errs...)
}

// settingVars are what the settings' tags take from elsewhere. So the defaults and the texts of limits stand in one
// place, chat.AllLimits.
func settingVars(version string) kong.Vars {
	vars := kong.Vars{"version": version}
	for _, l := range chat.AllLimits() {
		vars["limit_"+string(l.Name)] = strings.ToUpper(l.About[:1]) + l.About[1:] + "; 0: no limit."
		vars["default_"+string(l.Name)] = fmt.Sprint(l.Default)
	}
	return vars
}

// DiskReserve makes the function that fails while less of the disks than the reserve is free. Originals in a bucket
// and a database elsewhere are on disks that are not known here: then it watches the data directory alone. free is how
// many bytes are free at a path. It is called before each upload.
func (s *Settings) DiskReserve(dir string, free func(path string) (int64, error)) func() error {
	limits := s.UserLimits()
	least, holds := limits.Of(chat.DiskReserveMiB)
	if !holds {
		return nil
	}
	// both may be on one disk, which is measured twice then
	places := []string{dir}
	if path, ok := strings.CutPrefix(s.Blobs, FileScheme); ok {
		places = append(places, path)
	}
	return func() error {
		for _, place := range places {
			// what can't be measured does not stop uploads
			if left, err := free(place); err == nil && left < least {
				return limits.Over(chat.DiskReserveMiB, time.Now(), time.Time{})
			}
		}
		return nil
	}
}
