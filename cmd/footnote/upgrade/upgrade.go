// Package upgrade says whether there is a newer version. It asks once, where the build says that versions are
// published, and only when a person runs it; nothing is sent but the request.
package upgrade

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"time"

	"golang.org/x/mod/semver"

	"github.com/footnote/footnote/cmd/footnote/command"
	"github.com/footnote/footnote/cmd/footnote/release"
)

// They bound what a server that somebody else runs can make this program do; all are choices.
const (
	newerTime  = 10 * time.Second // that the server of the releases has to answer
	maxRelease = 1 << 20          // bytes of its answer, which names all files of the release
	maxTag     = 64               // characters of a version
)

// Command says whether there is a newer version. It asks only when it is run; nothing else does.
type Command struct {
	Check bool   `help:"Ask once, at the address that versions are published at, whether there is a newer one. Nothing is sent but the request."`
	From  string `help:"For tests: where to ask." env:"FOOTNOTE_RELEASES_URL" hidden:""`
}

// Run asks and tells. Without --check it does nothing but say so.
func (c *Command) Run(p *command.Program) error {
	if !c.Check {
		return errors.New("footnote does not replace itself: upgrade --check says whether there is a newer version, " +
			"and where")
	}
	if c.From == "" {
		if p.Built.Repository == "" {
			return errors.New("this build does not know where versions are published: build it with make, or look " +
				"where you got it")
		}
		c.From = newestAddress(p.Built.Repository)
	}
	newest, err := newestRelease(p.Ctx, c.From)
	if err != nil {
		return fmt.Errorf("whether there is a newer version is not known: %w", err)
	}
	_, err = fmt.Fprintln(p.Stdout, newerWords(p.Built, newest))
	return err
}

// newestAddress is where the host of a repository tells its newest release: GitHub has a host of its own for that,
// Forgejo and Gitea a path, and all answer alike.
func newestAddress(repository string) string {
	host, path, _ := strings.Cut(repository, "/")
	if host == "github.com" {
		return "https://api.github.com/repos/" + path + "/releases/latest"
	}
	return "https://" + host + "/api/v1/repos/" + path + "/releases/latest"
}

// newestRelease asks for the version of the newest release; empty: nothing is published. It follows no redirect to
// another host and reads no more than maxRelease.
func newestRelease(ctx context.Context, from string) (string, error) {
	asked, err := url.Parse(from)
	if err != nil || asked.Scheme != "https" && !isLoopbackName(asked.Hostname()) {
		return "", fmt.Errorf("%q is not an https address", from)
	}
	ctx, cancel := context.WithTimeout(ctx, newerTime)
	defer cancel()
	// The body of the answer is all that is read of it.
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, from, http.NoBody)
	if err != nil {
		return "", err
	}
	request.Header.Set("Accept", "application/json")
	// without the version: the host need not learn who runs what
	request.Header.Set("User-Agent", "footnote")
	client := http.Client{CheckRedirect: func(next *http.Request, before []*http.Request) error {
		if next.URL.Host != asked.Host || next.URL.Scheme != asked.Scheme || len(before) > 3 {
			return fmt.Errorf("it sends to another address, %s", next.URL.Redacted())
		}
		return nil
	}}
	response, err := client.Do(request)
	if err != nil {
		return "", err
	}
	defer response.Body.Close()
	switch response.StatusCode {
	case http.StatusOK:
	// Whoever publishes nothing yet answers like that.
	case http.StatusNotFound:
		return "", nil
	default:
		return "", fmt.Errorf("%s answered %s", asked.Host, response.Status)
	}
	body, err := io.ReadAll(http.MaxBytesReader(nil, response.Body, maxRelease))
	if err != nil {
		return "", fmt.Errorf("read the answer of %s: %w", asked.Host, err)
	}
	var release struct {
		Tag string `json:"tag_name"`
	}
	if err := json.Unmarshal(body, &release); err != nil || len(release.Tag) > maxTag || !semver.IsValid(release.Tag) {
		return "", fmt.Errorf("%s did not answer with a version like v1.2.3", asked.Host)
	}
	return release.Tag, nil
}

// isLoopbackName reports whether a host is this machine by its name alone.
// Only there an address without TLS is taken, for tests.
func isLoopbackName(host string) bool {
	ip := net.ParseIP(host)
	return host == "localhost" || ip != nil && ip.IsLoopback()
}

// sinceTag is what git describe adds to a version that is built from later source.
var sinceTag = regexp.MustCompile(`(-\d+-g[0-9a-f]+)?(-dirty)?$`)

// newerWords compares the version that runs with the newest one, which is empty while none is published. A version
// with what git describe adds is later than its tag; one that is no version is only named beside the newest. The text
// has one to three lines, for the terminal.
func newerWords(built release.Info, newest string) string {
	own := built.Version
	if newest == "" {
		return "No version is published at " + built.Repository + " yet. This is " + own + "."
	}
	base := sinceTag.ReplaceAllString(own, "")
	tagged := base == own
	if semver.IsValid("v" + base) { // packages leave the v out
		base = "v" + base
	}
	switch {
	case !semver.IsValid(base):
		return fmt.Sprintf("This is %s, built from source. The newest version is %s: %s",
			own, newest, releasePage(built.Repository, newest))
	case semver.Compare(base, newest) < 0:
		return fmt.Sprintf("There is a newer version: %s. This is %s.\n"+
			"Get it the way this one was installed, or from %s\n"+
			"Make a backup first: footnote backup FILE", newest, own, releasePage(built.Repository, newest))
	case tagged && semver.Compare(base, newest) == 0:
		return own + " is the newest version."
	default:
		return fmt.Sprintf("This is %s, later than the newest version, %s.", own, newest)
	}
}

// releasePage is where people read of a version and download it. It is the same for GitHub, Forgejo and Gitea.
func releasePage(repository, tag string) string {
	return "https://" + repository + "/releases/tag/" + tag
}
