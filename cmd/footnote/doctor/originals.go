package doctor

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"

	"github.com/footnote/footnote/cmd/footnote/datadir"
	"github.com/footnote/footnote/cmd/footnote/originals"
	"github.com/footnote/footnote/cmd/footnote/settings"
	"github.com/footnote/footnote/corpus/blobs"
	"github.com/footnote/footnote/sql/sqlite"
	"github.com/footnote/footnote/text/english"
)

// tryOriginals is what the doctor finds out about the originals: it stores some bytes, reads them back and removes
// them.
// The bytes are random, so that nobody else has an original of that hash, which would be removed.
func tryOriginals(ctx context.Context, set *settings.Settings, kept originals.Store) Finding {
	found := Finding{What: "originals", Fine: "can be written and read: " + originals.Place(set)}
	found.Err = func() error {
		hash, _, err := kept.Put(ctx, strings.NewReader(rand.Text()), 1<<10)
		if err != nil {
			return err
		}
		there, err := originals.Intact(ctx, kept, hash)
		if err == nil && !there {
			err = errors.New("bytes that were stored come back as others")
		}
		return errors.Join(err, kept.Delete(ctx, hash))
	}()
	return found
}

// compareOriginals is what the doctor finds out about the originals in a data directory: whether the database beside
// them is the one that they belong to. One that was emptied, or put back from an old copy, opens like any other.
// Their bytes are not read: a library of some gigabytes would take minutes.
func compareOriginals(ctx context.Context, dir *datadir.Dir) Finding {
	f := Finding{What: "originals"}
	f.Err = func() error {
		known, err := sqlite.Originals(ctx, dir.Path(datadir.Database))
		if err != nil {
			return err
		}
		files, err := fs.Glob(os.DirFS(dir.Path("blobs")), "??/*")
		if err != nil {
			return err
		}
		unknown := make(map[string]bool, len(files))
		for _, name := range files {
			unknown[name] = true
		}
		missing := 0
		for _, hash := range known {
			name, _ := blobs.Name(hash)
			if !unknown[name] {
				missing++
			}
			delete(unknown, name)
		}
		switch {
		case missing > 0:
			return fmt.Errorf("%d of %s are missing in %s; 'footnote restore' brings a backup back",
				missing, english.Count(len(known), "original"), dir.Path("blobs"))
		// a kill leaves files that no document needs, but never nothing else
		case len(known) == 0 && len(unknown) > 0:
			return fmt.Errorf("the database knows no document, though %s holds %s; if documents are missing, "+
				"'footnote restore' brings a backup back", dir.Path("blobs"),
				english.Count(len(unknown), "original"))
		}
		f.Fine = english.Count(len(known), "original") + ", none is missing"
		if len(unknown) > 0 {
			f.Fine += "; " + english.Count(len(unknown), "file") + " that no document needs"
		}
		return nil
	}()
	return f
}
