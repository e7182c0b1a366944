package settings

import (
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/alecthomas/kong"

	"github.com/footnote/footnote/chat"
)

// Parser parses the arguments of the program, or settings alone. It is for one command line: it fills the struct
// that it was created with.
type Parser struct {
	*kong.Kong
	version string // printed by --version
}

// NewParser returns a parser that fills cli, a struct with kong's tags. version is the output of --version. Help is
// written to stdout. It fails only if kong can't parse the struct, which is a bug of this program.
func NewParser(cli any, version string, stdout, stderr io.Writer) (*Parser, error) {
	parser, err := kong.New(cli,
		kong.Name("footnote"),
		kong.Description("Ask your documents. Every step is shown, every claim can be checked."),
		settingVars(version),
		kong.Writers(stdout, stderr),
		kong.ConfigureHelp(kong.HelpOptions{Compact: true, WrapUpperBound: 100}),
	)
	return &Parser{Kong: parser, version: version}, err
}

// Bare is a command that only prints text, such as help and the version. It needs no settings and works even if
// they are invalid.
type Bare interface{ Bare() }

// read parses the arguments. It returns nil if --help or --version was printed instead.
//
// It runs the steps of kong.Kong.Parse and kong.Context.Run, without hooks: kong looks up hooks and commands by
// method name, which makes the linker keep every method of every type (docs/decisions/build.md).
func (p *Parser) read(args []string) (*kong.Context, error) {
	ctx, err := kong.Trace(p.Kong, args)
	if err != nil {
		return nil, err
	}
	if ctx.Error != nil {
		return nil, ctx.Error
	}
	for _, path := range ctx.Path {
		switch {
		case path.Flag == nil:
		case path.Flag == p.Model.HelpFlag:
			return nil, ctx.PrintUsage(false)
		case path.Flag.Name == "version":
			_, err := fmt.Fprintln(p.Stdout, p.version)
			return nil, err
		}
	}
	_, bare := selectedCommand(ctx).(Bare) // works with invalid settings
	apply := func() error { _, err := ctx.Apply(); return err }
	for _, step := range []func() error{ctx.Reset, ctx.Resolve, apply, func() error { return validateFlags(ctx) }} {
		if err := step(); err != nil && !bare {
			return nil, err
		}
	}
	return ctx, nil
}

// Command parses the arguments and returns the selected command, a pointer to its field in the filled struct. It is
// nil if --help or --version was printed instead. The settings are filled before it returns.
func (p *Parser) Command(args []string) (any, error) {
	ctx, err := p.read(args)
	if ctx == nil {
		return nil, err
	}
	return selectedCommand(ctx), nil
}

// selectedCommand returns the command that the arguments select, or nil. It is a pointer, so that the command's
// state is in the parsed struct.
func selectedCommand(ctx *kong.Context) any {
	if node := ctx.Selected(); node != nil {
		return node.Target.Addr().Interface()
	}
	return nil
}

// validateFlags implements the part of kong.Context.Validate that our commands need. It does not handle required
// flags, groups of flags and validators.
func validateFlags(ctx *kong.Context) error {
	given := 0 // positional arguments
	for _, path := range ctx.Path {
		if path.Positional != nil {
			given = path.Positional.Position + 1
		}
		node := path.Node()
		if node == nil {
			continue
		}
		for _, value := range node.Values() {
			if err := checkEnum(value); err != nil {
				return err
			}
		}
	}
	command := ctx.Selected()
	if command == nil {
		command = ctx.Model.Node
	}
	var missing []string
	for _, argument := range command.Positional[min(given, len(command.Positional)):] {
		if argument.Required {
			missing = append(missing, argument.Summary())
		}
	}
	if len(missing) > 0 {
		missing = []string{strings.Join(missing, " ")}
	}
	for _, child := range command.Children {
		if !child.Hidden {
			missing = append(missing, child.Name)
		}
	}
	for i, name := range missing {
		missing[i] = strconv.Quote(name)
	}
	switch len(missing) {
	case 0:
		return nil
	case 1:
		return errors.New("expected " + missing[0])
	default:
		return errors.New("expected one of " + strings.Join(missing, ", "))
	}
}

// checkEnum validates a value, or each value of a list, against the setting's enum. Values are strings or lists of
// strings.
func checkEnum(value *kong.Value) error {
	if value.Enum == "" {
		return nil
	}
	chosen := []any{value.Target.Interface()}
	if list, ok := chosen[0].([]string); ok {
		chosen = nil
		for _, one := range list {
			chosen = append(chosen, one)
		}
	}
	for _, one := range chosen {
		allowed := value.EnumSlice()
		if slices.Contains(allowed, fmt.Sprint(one)) {
			continue
		}
		for i, name := range allowed {
			allowed[i] = strconv.Quote(name)
		}
		return fmt.Errorf(
			"%s must be one of %s but got %q", value.ShortSummary(), strings.Join(allowed, ","), fmt.Sprint(one),
		)
	}
	return nil
}

// Suggest adds the nearest command name to the error of an unknown command. With a default command, kong parses
// such a word as its argument, without a suggestion. err is returned unchanged if there is no better message.
func (p *Parser) Suggest(args []string, err error) error {
	if err == nil {
		return nil
	}
	usual := p.Model.DefaultCmd
	p.Model.DefaultCmd = nil
	defer func() { p.Model.DefaultCmd = usual }()
	ctx, failed := kong.Trace(p.Kong, args)
	if failed == nil && ctx.Error != nil && strings.HasPrefix(ctx.Error.Error(), err.Error()) {
		return ctx.Error
	}
	return err
}

// limitSettings are the limits of each user with a key. chat.AllLimits has their defaults and descriptions.
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

// UserLimits returns the limits by name. 0 means no limit. The result is a copy.
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

// maxLimit is far above every use, and small enough for a conversion to bytes.
const maxLimit = 1 << 40

// limitEnv returns the environment variable of a limit, as in the tags of limitSettings.
func limitEnv(name chat.LimitName) string { return "FOOTNOTE_LIMITS_" + strings.ToUpper(string(name)) }

// checkLimits reports every limit that is out of range, by environment variable.
func (s *limitSettings) checkLimits() error {
	var errs []error
	limits := s.UserLimits()
	for _, l := range chat.AllLimits() {
		if n := limits[l.Name]; n < 0 || n > maxLimit {
			errs = append(
				errs, fmt.Errorf("%s must be between 1 and %d, or 0 for no limit", limitEnv(l.Name), int64(maxLimit)),
			)
		}
	}
	return errors.Join(errs...)
}

// settingVars returns the variables in the settings' tags, so that the defaults and descriptions of limits are
// defined only in chat.AllLimits.
func settingVars(version string) kong.Vars {
	vars := kong.Vars{"version": version}
	for _, l := range chat.AllLimits() {
		vars["limit_"+string(l.Name)] = strings.ToUpper(l.About[:1]) + l.About[1:] + "; 0: no limit."
		vars["default_"+string(l.Name)] = fmt.Sprint(l.Default)
	}
	return vars
}

// DiskReserve returns a function that fails while the free space is below the reserve. Originals in a bucket and a
// remote database are on unknown disks: then it checks only the data directory. free returns the free bytes at a
// path. The function is called before each upload.
func (s *Settings) DiskReserve(dir string, free func(path string) (int64, error)) func() error {
	limits := s.UserLimits()
	least, holds := limits.Of(chat.DiskReserveMiB)
	if !holds {
		return nil
	}
	// Both may be on one disk, which is then checked twice.
	places := []string{dir}
	if path, ok := strings.CutPrefix(s.Blobs, FileScheme); ok {
		places = append(places, path)
	}
	return func() error {
		for _, place := range places {
			// A failed measurement does not block uploads.
			if left, err := free(place); err == nil && left < least {
				return limits.Over(chat.DiskReserveMiB, time.Now(), time.Time{})
			}
		}
		return nil
	}
}
