package migrate

import (
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	// The user can then copy them to the new place.
	"github.com/footnote/footnote/cmd/footnote/datadir"
	"github.com/footnote/footnote/text/english"
)

// tellLeft says what servers need of the data directory beside the database: it is in files there, so that it is in no
// database. Secrets of places are not copied into a database, where backups of it would hold them. It prints nothing
// when there is nothing such. Whether a file is there is all that it looks at.
func tellLeft(out io.Writer, dir *datadir.Dir) error {
	var left []string
	secrets, err := fs.Glob(os.DirFS(dir.Path(datadir.Places)), "*.json")
	if err != nil {
		return err
	}
	if len(secrets) > 0 {
		left = append(left, fmt.Sprintf(
			"the passwords of %s (%s)", english.Count(len(secrets), "place"), datadir.Places,
		))
	}
	if _, err := os.Stat(dir.Path(datadir.ChosenFolders)); err == nil {
		left = append(left, "which folders were chosen on the page ("+datadir.ChosenFolders+")")
	}
	if len(left) == 0 {
		return nil
	}
	path, err := filepath.Abs(dir.Path())
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(out, "What is in no database stays in %s: %s. A server that is started with this data "+
		"directory uses it; into another one, copy it first (cp -rp)\n", path, strings.Join(left, ", "))
	return err
}
