package follow

import (
	"context"
	"errors"
	"maps"
	"net"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"

	"github.com/footnote/footnote/chat"
	"github.com/footnote/footnote/corpus/sources"
	"github.com/footnote/footnote/corpus/sources/placestore"
	"github.com/footnote/footnote/corpus/sources/registry"
	"github.com/footnote/footnote/sql/librarytest"
)

// dials is a way to the network that notes where it was asked to go and goes nowhere.
type dials struct{ to []string }

// RoundTrip implements http.RoundTripper.
func (d *dials) RoundTrip(r *http.Request) (*http.Response, error) {
	d.to = append(d.to, r.URL.String())
	return nil, &chat.Error{Code: chat.CodeForbidden, Message: "Nothing is sent."}
}

func (d *dials) dial(_ context.Context, _, address string) (net.Conn, error) {
	d.to = append(d.to, address)
	return nil, &chat.Error{Code: chat.CodeForbidden, Message: "Nothing is sent."}
}

// elsewhere returns other addresses than one of a kind's examples: another scheme, host and port.
func elsewhere(t *testing.T, example string) []string {
	t.Helper()
	if host, port, err := net.SplitHostPort(example); err == nil && !strings.Contains(example, "/") {
		return []string{"evil.example:" + port, "evil.example", host + ":1993", host + ".:" + port}
	}
	u, err := url.Parse(example)
	if err != nil {
		t.Fatal(err)
	}
	with := func(scheme, host string) string {
		moved := *u
		moved.Scheme, moved.Host = scheme, host
		return moved.String()
	}
	other := map[string]string{"https": "http", "http": "https"}[u.Scheme]
	return []string{
		with(other, u.Host), with(u.Scheme, "evil.example"), with(u.Scheme, u.Hostname()+":8444"),
		with(u.Scheme, u.Hostname()+".evil.example"), with(u.Scheme, u.Hostname()+"."),
	}
}

// TestChangeNeedsSecretsForAnotherServer covers each kind of the registry that has a secret: what is stored for one
// server is never sent to another.
func TestChangeNeedsSecretsForAnotherServer(t *testing.T) {
	t.Parallel()
	lib := librarytest.Open(t, t.TempDir(), nil)
	sent := &dials{}
	f := New(Config{
		Store: lib.DB.Places(), Library: lib.Library, Kinds: registry.Kinds(), Secrets: t.TempDir(), Alone: true,
		Net: func(sources.Kind, bool) sources.Net {
			return sources.Net{HTTP: &http.Client{Transport: sent}, Dial: sent.dial}
		},
	})
	for _, kind := range f.Kinds {
		settings, secrets := map[string]string{}, map[string]string{}
		var addresses []string
		for _, field := range kind.Fields {
			switch {
			case field.Secret:
				secrets[field.Name] = "a-secret"
			case strings.Contains(field.Example, "://") || strings.Contains(field.Example, ".org:"):
				addresses = append(addresses, field.Name)
				fallthrough
			case field.Example != "":
				settings[field.Name] = field.Example
			default:
				settings[field.Name] = "ada"
			}
		}
		if len(secrets) == 0 {
			continue
		}
		t.Run(kind.Name, func(t *testing.T) {
			if len(addresses) == 0 {
				t.Fatal("no field has an address as its example, want one that the test can change")
			}
			id := chat.NewID()
			setup := placestore.Setup{
				Kind: kind.Name, Name: kind.Name, Namespace: chat.DefaultNamespace, Settings: settings,
				Schedule: placestore.OnRequest, Secrets: slices.Sorted(maps.Keys(secrets)), SecretsAt: "at",
			}
			if err := f.keepSecrets(id, setup.SecretsAt, secrets); err != nil {
				t.Fatal(err)
			}
			if _, err := f.Store.CreatePlace(t.Context(), id, user, setup); err != nil {
				t.Fatal(err)
			}
			// change returns where a change led, and the field that it is refused for.
			change := func(given map[string]string) (to []string, field string) {
				t.Helper()
				sent.to = nil
				_, err := f.Change(t.Context(), user, id, true, Change{Settings: given})
				if err == nil || chat.CodeOf(err) != chat.CodeInvalid {
					t.Errorf("%v: %v, want %s", given, err, chat.CodeInvalid)
				}
				if wrong, ok := errors.AsType[*FieldError](err); ok {
					field = wrong.Field
				}
				return sent.to, field
			}
			for _, name := range addresses {
				for n, at := range elsewhere(t, settings[name]) {
					if to, field := change(map[string]string{name: at}); len(to) > 0 || secrets[field] == "" {
						t.Errorf("%s = %s: requests to %q, an error of %q; want none, and one of the secret",
							name, at, to, field)
					}
					if n > 0 {
						continue // each try of some kinds takes seconds
					}
					with := maps.Clone(secrets)
					with[name] = at
					if to, field := change(with); len(to) == 0 || field != "" {
						t.Errorf("%s = %s with the secret: requests to %q, an error of %q; want it to be tried",
							name, at, to, field)
					}
				}
				if to, field := change(map[string]string{name: settings[name]}); len(to) == 0 || field != "" {
					t.Errorf("the same address: requests to %q, an error of %q; want it to be tried", to, field)
				}
			}
			// A field that leads nowhere else keeps the secret.
			if to, field := change(map[string]string{}); len(to) == 0 || field != "" {
				t.Errorf("no change: requests to %q, an error of %q; want it to be tried", to, field)
			}
		})
	}
}
