package follow

import (
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"maps"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/footnote/footnote/chat"
	"github.com/footnote/footnote/corpus"
	"github.com/footnote/footnote/corpus/sources"
	"github.com/footnote/footnote/corpus/sources/placestore"
	"github.com/footnote/footnote/text/locale"
)

// maxValue and maxLines limit the settings that an owner enters. They are far above the needs of any kind: a list of
// 1,000 addresses has about 60 KB.
const (
	maxValue = 2000     // bytes of a setting
	maxLines = 64 << 10 // bytes of a setting with several lines
)

// Draft is a request to create a place.
//
// Settings are values by the names of the kind's fields, including secrets, which Create stores separately.
type Draft struct {
	Kind      string
	Name      string // empty: a generated one
	Namespace string // empty: chat.DefaultNamespace
	Settings  map[string]string
	Schedule  placestore.Schedule // empty: every day
}

// Change is a partial update of a place. nil leaves a field unchanged.
type Change struct {
	Name     *string
	Schedule *placestore.Schedule
	Paused   *bool
	// Settings are the changed settings. An empty secret keeps the stored one, unless the settings now lead to
	// another server: then Change fails with a *FieldError. Any other empty setting is removed.
	Settings map[string]string
}

// FieldError is an error about one field. The page shows its message beside the field.
//
// Field is the name of a field of the kind, or of the place itself, such as “name”.
type FieldError struct {
	Field string
	Err   *chat.Error
}

// Error returns the text for the log; people read the message of Err beside its field.
func (e *FieldError) Error() string { return e.Field + ": " + e.Err.Error() }

// Unwrap returns the error with the user-facing message.
func (e *FieldError) Unwrap() error { return e.Err }

// badField returns an error about one field with chat.CodeInvalid.
func badField(field string, message locale.Message) error {
	return &FieldError{field, &chat.Error{Code: chat.CodeInvalid, Message: message}}
}

// open opens a place with its secrets. The place reaches the networks that its owner may reach.
func (f *Follower) open(p placestore.Place) (sources.Place, sources.Kind, error) {
	kind, ok := f.kind(p.Kind)
	if !ok {
		return nil, kind, &chat.Error{
			Code: chat.CodeInvalid, Message: "This version of Footnote doesn't support this type of source.",
		}
	}
	secrets, err := f.secrets(p)
	if err != nil {
		return nil, kind, err
	}
	all := maps.Clone(p.Settings)
	if all == nil {
		all = map[string]string{}
	}
	maps.Copy(all, secrets)
	place, err := kind.Open(all, f.Net(kind, p.Local))
	return place, kind, err
}

// Create validates a draft, connects to the place and stores it. local is set if the local user made the request,
// and is stored with the place. An error about one field is a *FieldError.
//
// The connection is tested first, so a wrong password fails at once. Names and limits are validated here for a fast
// response, and again by the store, which is authoritative. Secrets are on the disk before the place refers to them,
// and are deleted if the store rejects the place.
func (f *Follower) Create(ctx context.Context, user string, local bool, d Draft) (p placestore.Place, err error) {
	kind, ok := f.kind(d.Kind)
	if !ok {
		return p, badField("kind", "There is no such kind of place.")
	}
	d.Schedule = cmp.Or(d.Schedule, placestore.EveryDay)
	d.Namespace = cmp.Or(d.Namespace, chat.DefaultNamespace)
	if err := chat.CheckNamespace(d.Namespace); err != nil {
		return p, err
	}
	settings, secrets, err := readSettings(kind, d.Settings)
	if err != nil {
		return p, err
	}
	setup := placestore.Setup{
		Kind: kind.Name, Name: d.Name, Namespace: d.Namespace, Settings: settings, Schedule: d.Schedule,
		Secrets: slices.Sorted(maps.Keys(secrets)), Local: local,
	}
	all, err := f.Store.Places(ctx, user)
	if err != nil {
		return p, err
	}
	if len(all) >= placestore.MaxPlaces {
		return p, placestore.TooMany()
	}
	if setup.Name == "" {
		setup.Name = freeName(kind, settings, all)
	}
	if err := checkSetup(setup); err != nil {
		return p, err
	}
	if slices.ContainsFunc(all, func(other placestore.Place) bool { return other.Name == setup.Name }) {
		return p, placestore.NameTaken()
	}
	if err := f.check(ctx, user, local, kind, settings, secrets); err != nil {
		return p, err
	}
	id := chat.NewID()
	if len(secrets) > 0 {
		setup.SecretsAt = rand.Text()
		if err := f.storeSecrets(id, setup.SecretsAt, secrets); err != nil {
			return p, err
		}
	}
	if p, err = f.Store.CreatePlace(ctx, id, user, setup); err != nil {
		f.forgetSecrets(id, "")
		return p, err
	}
	f.wakeWorkers()
	return p, nil
}

// check tests the connection to a place before it is stored. It maps error codes to ones about the input, since 401
// and 403 would mean that the user lacks a permission on this server.
func (f *Follower) check(
	ctx context.Context, user string, local bool, kind sources.Kind, settings, secrets map[string]string,
) error {
	if _, ok := f.checks.TryAcquire([]string{user}); !ok {
		return &chat.Error{
			Code: chat.CodeTooMany, Message: "You are already testing four connections. Try again when one is done.",
		}
	}
	defer f.checks.Release(user)
	all := maps.Clone(settings)
	maps.Copy(all, secrets)
	place, err := kind.Open(all, f.Net(kind, local))
	if err != nil {
		return err
	}
	// Check uses the place's credentials, folder and filters.
	limited, cancel := context.WithTimeout(ctx, checkTime)
	defer cancel()
	err = place.Check(limited)
	if err == nil || ctx.Err() != nil {
		return err
	}
	e, ok := errors.AsType[*chat.Error](err)
	if !ok || e.Code == chat.CodeInternal {
		e = &chat.Error{
			Code:    chat.CodeUnavailable,
			Message: "The connection to the source failed. Check the address and try again.",
			Err:     err,
		}
	}
	code := e.Code // the place rejects the request or is too slow, not this server
	if code == chat.CodeUnauthorized || code == chat.CodeForbidden || code == chat.CodeNotFound {
		code = chat.CodeInvalid
	} else if code == chat.CodeTimeout {
		code = chat.CodeUnavailable
	}
	return &chat.Error{Code: code, Message: sources.NotRetried(e.Message), Hint: e.Hint, Err: err}
}

// readSettings validates a kind's settings and separates secrets from the others. Empty ones are omitted. Unknown
// names are rejected, so that API clients detect typing errors.
func readSettings(kind sources.Kind, given map[string]string) (settings, secrets map[string]string, err error) {
	settings, secrets = map[string]string{}, map[string]string{}
	for name := range given {
		if !slices.ContainsFunc(kind.Fields, func(field sources.Field) bool { return field.Name == name }) {
			return nil, nil, badField(sources.Cut(name, 100), "This kind of place has no such setting.")
		}
	}
	for _, field := range kind.Fields {
		value, most := strings.TrimSpace(given[field.Name]), maxValue
		if field.Lines {
			most = maxLines
		}
		switch {
		case value == "" && field.Required:
			return nil, nil, badField(field.Name, locale.Say(
				"“{1}” is required.", locale.Message(field.Title.English()),
			))
		case value == "":
			continue
		case len(value) > most || !utf8.ValidString(value) || strings.ContainsFunc(value, func(r rune) bool {
			return r < ' ' && !(field.Lines && (r == '\n' || r == '\r' || r == '\t')) || r == 0x7f
		}):
			return nil, nil, badField(
				field.Name,
				locale.Say(
					"“{1}” is too long or contains invalid characters.", locale.Message(field.Title.English()),
				),
			)
		case field.Secret:
			secrets[field.Name] = value
		default:
			settings[field.Name] = value
		}
	}
	return settings, secrets, nil
}

// checkSetup validates a place's name and schedule.
func checkSetup(s placestore.Setup) error {
	if s.Name == "" || utf8.RuneCountInString(s.Name) > placestore.MaxNameLen || corpus.CleanPath(s.Name) != s.Name ||
		strings.Contains(s.Name, "/") {
		return badField("name", locale.Say(
			"The name must be that of a folder: up to {1} characters, without slashes.",
			strconv.Itoa(placestore.MaxNameLen),
		))
	}
	switch s.Schedule {
	case placestore.OnRequest, placestore.EveryHour, placestore.EveryDay, placestore.EveryWeek:
		return nil
	}
	return badField("schedule", "The schedule is one of request, hour, day and week.")
}

// freeName generates a name that no other place of the user has: the host of an address, else the kind's title. It
// leaves five characters for a number.
func freeName(kind sources.Kind, settings map[string]string, all []placestore.Place) string {
	name := corpus.CleanPath(strings.ReplaceAll(kind.Title.English(), "/", " "))
	for _, field := range kind.Fields {
		if u, err := url.Parse(strings.SplitN(settings[field.Name], "\n", 2)[0]); err == nil && u.Hostname() != "" {
			name = cmp.Or(corpus.CleanPath(u.Hostname()), name)
			break
		}
	}
	name = sources.Cut(name, placestore.MaxNameLen-5)
	taken := func(name string) bool {
		return slices.ContainsFunc(all, func(p placestore.Place) bool { return p.Name == name })
	}
	free := name
	for n := 2; taken(free); n++ {
		free = name + " " + strconv.Itoa(n)
	}
	return free
}

// Change updates a place. New settings are tested with a connection first, together with local, as in Create. New
// secrets are written to a new file, named by SecretsAt. The store's update decides which file is current, and the
// other one is deleted.
func (f *Follower) Change(ctx context.Context, user, id string, local bool, c Change) (placestore.Place, error) {
	p, err := f.Store.Place(ctx, user, id)
	if err != nil {
		return p, err
	}
	setup, due := p.Setup, placestore.Never-1 // unchanged
	if p.PausedByDeaths() {
		due = 0
	}
	if c.Name != nil {
		setup.Name = *c.Name
	}
	// A new schedule starts now, except for a sync that has begun or is due.
	if c.Schedule != nil && *c.Schedule != setup.Schedule {
		if setup.Schedule, due = *c.Schedule, c.Schedule.Every(); due == 0 {
			due = placestore.Never
		}
		if p.LookedAt.IsZero() || p.Looking || p.Going { // do not postpone a sync that has begun or is due
			due = 0
		}
	}
	if err := checkSetup(setup); err != nil {
		return p, err
	}
	if c.Paused != nil && *c.Paused != setup.Paused {
		setup.Paused, due = *c.Paused, 0
	}
	if c.Settings != nil {
		if err := f.changeSettings(ctx, p, local, &setup, c.Settings); err != nil {
			return p, err
		}
		due = 0
	}
	if setup.Paused {
		due = placestore.Never
	}
	// If the store rejects the update, the new secrets file is deleted, else the old one.
	before := p.SecretsAt
	if p, err = f.Store.UpdatePlace(ctx, user, id, p.Revision, setup, due); err != nil {
		if setup.SecretsAt != before {
			f.forgetSecrets(id, before)
		}
		return p, err
	}
	if setup.SecretsAt != before {
		f.forgetSecrets(id, setup.SecretsAt)
	}
	f.wakeWorkers()
	return p, nil
}

// changeSettings validates changed settings of a place and writes changed secrets to a new file. Secrets are never
// shown, so an empty one keeps the stored one.
func (f *Follower) changeSettings(
	ctx context.Context, p placestore.Place, local bool, setup *placestore.Setup, given map[string]string,
) error {
	kind, ok := f.kind(p.Kind)
	if !ok {
		return badField("kind", "There is no such kind of place.")
	}
	all := maps.Clone(p.Settings)
	if all == nil {
		all = map[string]string{}
	}
	// A missing secrets file is no error here: the owner is entering the secrets again.
	old, err := f.secrets(p)
	if err != nil && chat.CodeOf(err) != chat.CodeUnauthorized {
		return err
	}
	maps.Copy(all, old)
	before, kept := maps.Clone(all), maps.Clone(old)
	for name, value := range given {
		secret := slices.ContainsFunc(kind.Fields, func(field sources.Field) bool {
			return field.Name == name && field.Secret
		})
		if !secret || strings.TrimSpace(value) != "" {
			all[name] = value
			delete(kept, name)
		}
	}
	settings, secrets, err := readSettings(kind, all)
	if err != nil {
		return err
	}
	changed := maps.Clone(settings)
	maps.Copy(changed, secrets)
	if err := checkMoved(ctx, kind, before, changed, slices.Collect(maps.Keys(kept))); err != nil {
		return err
	}
	if err := f.check(ctx, p.User, local, kind, settings, secrets); err != nil {
		return err
	}
	setup.Settings, setup.Secrets, setup.Local = settings, slices.Sorted(maps.Keys(secrets)), local
	if maps.Equal(secrets, old) {
		return nil
	}
	if setup.SecretsAt = ""; len(secrets) > 0 {
		setup.SecretsAt = rand.Text()
		return f.storeSecrets(p.ID, setup.SecretsAt, secrets)
	}
	return nil
}

// SyncNow schedules a sync of a place now. A place that is being synced is returned unchanged. It fails with
// CodeConflict for a paused place.
func (f *Follower) SyncNow(ctx context.Context, user, id string) (placestore.Place, error) {
	p, err := f.Store.Place(ctx, user, id)
	if err != nil || p.Looking {
		return p, err
	}
	if p.Paused {
		return p, &chat.Error{
			Code: chat.CodeConflict, Message: "The source is paused. Resume it to sync.",
		}
	}
	if p, err = f.Store.UpdatePlace(ctx, user, id, p.Revision, p.Setup, 0); err == nil {
		f.wakeWorkers()
	}
	return p, err
}

// Remove deletes a place in the background, with or without its documents. A removal can't be cancelled; a worker
// processes it like a sync.
//
// Uploaded documents and documents that another item shares are kept in any case.
func (f *Follower) Remove(ctx context.Context, user, id string, documents placestore.Removal) error {
	p, err := f.Store.Place(ctx, user, id)
	if err != nil {
		return err
	}
	p.Removing = documents
	if _, err := f.Store.UpdatePlace(ctx, user, id, p.Revision, p.Setup, 0); err != nil {
		return err
	}
	f.wakeWorkers()
	return nil
}
