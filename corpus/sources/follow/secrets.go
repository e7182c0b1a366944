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

// The secrets of a place are in one file, readable only by this process' user. Its name contains a random value that
// is in the store. A file is never modified: a change creates a new file, and the store's update makes it current.

// secretsFile returns the path of the file with a place's secrets. The program generates both parts of the name (an
// ID and random letters), so path traversal is impossible.
func (f *Follower) secretsFile(id, at string) string {
	return filepath.Join(f.Secrets, id+"."+at+".json")
}

// storeSecrets writes the secrets of a place and returns once they are on the disk. It writes, syncs and renames, so
// a crash leaves a complete file or no file of that name. CreateTemp makes it readable by its owner only.
func (f *Follower) storeSecrets(id, at string, secrets map[string]string) (err error) {
	defer func() {
		if err != nil {
			err = &chat.Error{
				Code: chat.CodeUnavailable, Message: "The password could not be saved. Nothing was changed.",
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

// hasSecrets reports whether this server has the place's secrets. It checks that the file exists and does not read
// it.
func (f *Follower) hasSecrets(p placestore.Place) bool {
	if len(p.Secrets) == 0 {
		return true
	}
	_, err := os.Stat(f.secretsFile(p.ID, p.SecretsAt))
	return err == nil
}

// secrets reads the secrets of a place; nil for a place without secrets. A missing file returns
// chat.CodeUnauthorized, so the owner is asked to enter them again.
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
			Message: "The source's password is missing on this server. Enter it again.",
		}
	}
	if err != nil {
		return nil, fmt.Errorf("read the secrets of a source: %w", err)
	}
	return values, nil
}

// forgetSecrets deletes the secrets files of a place except keep. Files that can't be deleted are deleted by
// sweepSecrets at the next start.
func (f *Follower) forgetSecrets(id, keep string) {
	files, err := filepath.Glob(filepath.Join(f.Secrets, id+".*.json"))
	for _, file := range files {
		if keep == "" || file != f.secretsFile(id, keep) {
			err = errors.Join(err, os.Remove(file))
		}
	}
	if err != nil {
		f.Log.Warn("could not delete unused secrets of a source before the next start", "place", id, "error", err)
	}
}

// sweepAge is the minimum age of files that sweepSecrets deletes. A place that is being created has its secrets some
// seconds before the store has the place.
const sweepAge = time.Hour

// sweepSecrets deletes the secrets of deleted places and incomplete files of an earlier process. With Others it
// keeps the secrets of unknown places, which may belong to another store.
func (f *Follower) sweepSecrets(ctx context.Context) {
	files, err := os.ReadDir(f.Secrets)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		f.Log.WarnContext(ctx, "could not list the secrets of sources", "error", err)
	}
	for _, file := range files {
		if info, err := file.Info(); err != nil || time.Since(info.ModTime()) < sweepAge {
			continue
		}
		id, _, _ := strings.Cut(file.Name(), ".")
		there := f.Others
		if !there && !strings.HasPrefix(id, "new-") {
			if there, err = f.Store.PlaceExists(ctx, id); err != nil {
				return // retry at the next start
			}
		}
		if !there {
			if err := os.Remove(filepath.Join(f.Secrets, file.Name())); err != nil {
				f.Log.WarnContext(ctx, "could not delete the secrets of a deleted source", "error", err)
			}
		}
	}
}
