package wire

import (
	"log/slog"
	"net/http"
	"os"

	"github.com/footnote/footnote/agent/standing/webhook"
	"github.com/footnote/footnote/agent/web"
	"github.com/footnote/footnote/cmd/footnote/datadir"
	"github.com/footnote/footnote/cmd/footnote/settings"
	"github.com/footnote/footnote/corpus/sources"
	"github.com/footnote/footnote/corpus/sources/follow"
	"github.com/footnote/footnote/corpus/sources/registry"
	"github.com/footnote/footnote/views"
)

// followPlaces wires what follows places. A place that the local user set up reaches the machine's own networks; others
// reach the public internet and the servers that the settings name. A kind that is public by its nature reaches the
// public internet alone.
func (a *Parts) followPlaces(set *settings.Settings, dir *datadir.Dir, log *slog.Logger) {
	_, err := os.Stat(dir.Path(datadir.Database))
	public := web.Reach{}
	others := web.Reach{Hosts: set.PlacesAllow}
	own := web.Reach{Own: true, Hosts: set.PlacesAllow}
	publicNet, othersNet, ownNet := wayBy(public), wayBy(others), wayBy(own)
	a.Places = follow.New(follow.Config{
		Store: a.Stores.places, Library: a.Library, Kinds: registry.Kinds(), Secrets: dir.Path(datadir.Places),
		Alone: a.Stores.Exclusive, Gone: a.Keys.Revoked, Log: log,
		Others: set.DatabaseURL != "" && err == nil, // those of the database in the directory
		Net: func(kind sources.Kind, local bool) sources.Net {
			switch {
			case kind.Public:
				return publicNet
			case local && a.localUserAlone():
				return ownNet
			}
			return othersNet
		},
	})
}

// tellWebhooks wires what sends changes of kept questions to addresses. They are reached like places.
func (a *Parts) tellWebhooks(set *settings.Settings, log *slog.Logger) {
	others := web.Reach{Hosts: set.PlacesAllow}.Client()
	own := web.Reach{Own: true, Hosts: set.PlacesAllow}.Client()
	a.Webhooks = webhook.New(webhook.Config{
		Store: a.Stores.Chats, Gone: a.Keys.Revoked, Sentence: views.ChangeSentence, Log: log,
		Client: func(local bool) *http.Client {
			if local && a.localUserAlone() {
				return own
			}
			return others
		},
	})
}

// PagesNet is the way to pages that are added once: another page may have given the address, so they are on the public
// internet or on servers that the settings name, whoever adds them.
func PagesNet(set *settings.Settings) sources.Net { return wayBy(web.Reach{Hosts: set.PlacesAllow}) }

// wayBy is the way to what may be reached.
// Each is made once and shared, so that connections are used again.
func wayBy(r web.Reach) sources.Net { return sources.Net{HTTP: r.Client(), Dial: r.Dial} }

// localUserAlone reports whether only the user of this machine uses the server now. A setup of the local user loses
// its reach when others come to use the server, by a key or by another address.
func (a *Parts) localUserAlone() bool { return a.LocalUserAlone != nil && a.LocalUserAlone() }
