package follow

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/footnote/footnote/chat"
	"github.com/footnote/footnote/corpus/sources/placestore"
)

// Secrets of a place are in one file, which only this process' user can read. Its name has what the store calls it,
// so that the store changes which file counts: a file never changes.

// secretsFile is where the secrets of a place are. Both parts of the name are made by this program (an id and random
// letters), so it can't lead anywhere else.
func (f *Follower) secretsFile(id, at string) string {
	return filepath.Join(f.Secrets, id+"."+at+".json")
}

// keepSecrets writes the secrets of a place, and returns once they are on the disk. Write, sync, rename: a crash leaves
// either the whole file or none under its name. CreateTemp makes it readable by its owner alone.
func (f *Follower) keepSecrets(id, at string, secrets map[string]string) (err error) {
	defer func() {
		if err != nil {
			err = &chat.Error{
				Code: chat.CodeUnavailable, Message: "The password can't be kept. Nothing has changed.",
				Hint: "The data directory can't be written.", Err: err,
			}
		}
	}()
	raw, err := json.Marshal(secrets)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(f.Secrets, 0o700); err != nil {
		return err
	}
	part, err := os.CreateTemp(f.Secrets, "new-*") // readable by its owner only
	if err != nil {
		return err
	}
	_, err = part.Write(raw)
	err = errors.Join(err, part.Sync(), part.Close())
	if err == nil {
		err = os.Rename(part.Name(), f.secretsFile(id, at))
	}
	if err != nil {
		return errors.Join(err, os.Remove(part.Name()))
	}
	return nil
}

// hasSecrets reports whether this server can open a place. It looks for the file and does not read it.
func (f *Follower) hasSecrets(p placestore.Place) bool {
	if len(p.Secrets) == 0 {
		return true
	}
	_, err := os.Stat(f.secretsFile(p.ID, p.SecretsAt))
	return err == nil
}

// secrets reads the secrets of a place; none for one that has none. A file that is missing is told as credentials to be
// entered again.
func (f *Follower) secrets(p placestore.Place) (values map[string]string, err error) {
	if len(p.Setup.Secrets) == 0 {
		return nil, nil
	}
	raw, err := os.ReadFile(f.secretsFile(p.ID, p.SecretsAt))
	if err == nil {
		err = json.Unmarshal(raw, &values)
	}
	if errors.Is(err, fs.ErrNotExist) {
		return nil, &chat.Error{
			Code:    chat.CodeUnauthorized,
			Message: "This server does not have the password of the place. Enter it again.",
		}
	}
	if err != nil {
		return nil, fmt.Errorf("read the secrets of a place: %w", err)
	}
	return values, nil
}

// forgetSecrets removes the files of a place but for one. What can't be removed now is when the server starts again.
func (f *Follower) forgetSecrets(id, keep string) {
	files, err := filepath.Glob(filepath.Join(f.Secrets, id+".*.json"))
	for _, file := range files {
		if keep == "" || file != f.secretsFile(id, keep) {
			err = errors.Join(err, os.Remove(file))
		}
	}
	if err != nil {
		f.Log.Warn("secrets of a place that are not used any more stay until the next start", "place", id, "error", err)
	}
}

// sweepAge is how old secrets are before sweepSecrets may remove them. A place that is being created has its secrets
// before the store knows it; that takes seconds.
const sweepAge = time.Hour

// sweepSecrets removes the secrets of places that are gone, and what an earlier process left half written. With Others
// nothing of unknown places is removed, as it may be another store's.
func (f *Follower) sweepSecrets(ctx context.Context) {
	files, err := os.ReadDir(f.Secrets)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		f.Log.WarnContext(ctx, "the secrets of places can't be listed", "error", err)
	}
	for _, file := range files {
		if info, err := file.Info(); err != nil || time.Since(info.ModTime()) < sweepAge {
			continue
		}
		id, _, _ := strings.Cut(file.Name(), ".")
		there := f.Others
		if !there && !strings.HasPrefix(id, "new-") {
			if there, err = f.Store.PlaceExists(ctx, id); err != nil {
				return // the store can't say: the next start asks again
			}
		}
		if !there {
			if err := os.Remove(filepath.Join(f.Secrets, file.Name())); err != nil {
				f.Log.WarnContext(ctx, "secrets of a place that is gone can't be removed", "error", err)
			}
		}
	}
}
