package milvus

import (
	"context"
	"regexp"
	"strconv"
	"strings"

	"github.com/milvus-io/milvus-sdk-go/v2/client"
)

// versionLike finds a release in what servers say of themselves: "v2.4.1", "2.6.4-gpu", "v2.3.5-lite".
var versionLike = regexp.MustCompile(`(\d+)\.(\d+)`)

// hasSparse tells by a server's version whether it has sparse vectors and hybrid search: Milvus from 2.4 on, and Milvus Lite, which counts its
// own releases ("milvus_lite-3.2.2"). Of a version that says nothing it is assumed: making the collection shows the truth.
func hasSparse(version string) bool {
	if strings.HasPrefix(version, "milvus_lite") {
		return true
	}
	found := versionLike.FindStringSubmatch(version)
	if found == nil {
		return true
	}
	major, _ := strconv.Atoi(found[1])
	minor, _ := strconv.Atoi(found[2])
	return major > 2 || major == 2 && minor >= 4
}

// sparse reports whether the server keeps sparse vectors. It connects if need be.
func (s *Store) sparse(ctx context.Context) (bool, error) {
	return call(ctx, s, "connect", func(context.Context, client.Client) (bool, error) {
		s.mu.Lock()
		defer s.mu.Unlock()
		return hasSparse(s.version) && !s.refused, nil
	})
}

// About says which server keeps the vectors and what it can do, for people; empty before it answered.
func (s *Store) About() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case s.version == "":
		return ""
	case hasSparse(s.version) && !s.refused:
		return "Milvus " + s.version + ": dense and sparse vectors"
	default:
		return "Milvus " + s.version + ": dense vectors only"
	}
}
