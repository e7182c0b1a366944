package wire

import (
	"log/slog"
	"net"
	"net/http"
	"os"

	"footnote/chat"
	"footnote/cmd/footnote/access"
	"footnote/cmd/footnote/datadir"
	"footnote/cmd/footnote/settings"
	"footnote/places"
	"footnote/places/follow"
	"footnote/places/registry"
	"footnote/standing/webhook"
	"footnote/views"
	"footnote/web"
)

// followPlaces wires what follows places. The local user of a server that nobody else reaches may follow what is on
// their own network; others reach the public internet and the servers that the settings name. A kind that is public by
// its nature gets the public internet alone.
func (a *Parts) followPlaces(set *settings.Settings, dir *datadir.Dir, log *slog.Logger) {
	_, err := os.Stat(dir.Path(datadir.Database))
	public := web.Reach{}
	others := web.Reach{Hosts: set.PlacesAllow}
	own := web.Reach{Own: true, Hosts: set.PlacesAllow}
	publicNet, othersNet, ownNet := wayBy(public), wayBy(others), wayBy(own)
	alone := onlyThisMachine(set)
	a.Places = follow.New(follow.Config{
		Store: a.Stores.places, Library: a.Library, Kinds: registry.Kinds(), Secrets: dir.Path(datadir.Places),
		Alone: a.Stores.Exclusive, Gone: a.Keys.Revoked, Log: log,
		Others: set.DatabaseURL != "" && err == nil, // those of the database in the directory
		Net: func(user string, kind places.Kind, local bool) places.Net {
			switch {
			case kind.Public:
				return publicNet
			case local && alone && user == chat.LocalUser && !a.WithKeys():
				return ownNet
			}
			return othersNet
		},
	})
}

// tellWebhooks wires what sends changes of kept questions to addresses. They are reached like places. Only the local
// user of a server that is alone may have them sent to their own network.
func (a *Parts) tellWebhooks(set *settings.Settings, log *slog.Logger) {
	others := web.Reach{Hosts: set.PlacesAllow}.Client()
	own := web.Reach{Own: true, Hosts: set.PlacesAllow}.Client()
	alone := onlyThisMachine(set)
	a.Webhooks = webhook.New(webhook.Config{
		Store: a.Stores.Chats, Gone: a.Keys.Revoked, Sentence: views.ChangeSentence, Log: log,
		Client: func(user string) *http.Client {
			if alone && user == chat.LocalUser && !a.WithKeys() {
				return own
			}
			return others
		},
	})
}

// PagesNet is the way to pages that are added once: another page may have given the address, so they are on the public
// internet or on servers that the settings name, whoever adds them.
func PagesNet(set *settings.Settings) places.Net { return wayBy(web.Reach{Hosts: set.PlacesAllow}) }

// wayBy is the way to what may be reached.
// Each is made once and shared, so that connections are used again.
func wayBy(r web.Reach) places.Net { return places.Net{HTTP: r.Client(), Dial: r.Dial} }

// onlyThisMachine reports whether nobody on another machine can reach a server with the settings. A name is looked up;
// one that can't be is not this machine.
func onlyThisMachine(set *settings.Settings) bool {
	addr, err := net.ResolveTCPAddr("tcp", set.Addr)
	return err == nil && access.IsLoopback(addr) && len(set.AllowedHosts) == 0
}
