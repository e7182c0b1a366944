package migrate

import (
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/footnote/footnote/cmd/footnote/datadir"
	"github.com/footnote/footnote/text/english"
)

// tellLeft lists the files in the data directory that servers need besides the database. Secrets of places are not
// copied into a database, where its backups would contain them. It prints nothing if there are no such files. It
// only checks whether they exist.
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
