package api

import (
	"context"
	"fmt"
	"io/fs"
	"net/http"
	"path"

	"github.com/footnote/footnote/corpus"
	"github.com/footnote/footnote/server/httpio"
	"github.com/footnote/footnote/text/locale"
)

// AddSamples handles POST /documents/samples: it adds every file of Config.Samples, once. A directory named as a
// language has translations, which replace the files of the same name for its readers.
//
// The language is the reader's.
func (a *Documents) AddSamples(c httpio.Context) error {
	if a.Samples == nil {
		return httpio.NotFound("This server has no sample documents. Add your own.")
	}
	res := noUploads()
	code := locale.Of(c.Request().Context()).Code
	err := fs.WalkDir(a.Samples, ".", func(name string, entry fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case entry.IsDir() && locale.Find(name) != nil && name != code: // documents of another language
			return fs.SkipDir
		case entry.IsDir() || a.translated(code, name):
			return nil
		}
		d, duplicate, err := a.addSample(c.Request().Context(), httpio.Scope(c).User, name)
		if err != nil {
			return fmt.Errorf("add sample %s: %w", name, err)
		}
		res.Documents = append(res.Documents, uploaded(d, duplicate))
		return nil
	})
	if err != nil {
		return err
	}
	if httpio.ByForm(c) {
		return c.Redirect(http.StatusSeeOther, "/documents")
	}
	return c.JSON(http.StatusAccepted, res)
}

// translated reports whether a sample has a translation in the reader's language.
func (a *Documents) translated(code, name string) bool {
	_, err := fs.Stat(a.Samples, path.Join(code, name))
	return err == nil
}

// addSample adds one of the program's sample documents. Adding it again returns the same document.
func (a *Documents) addSample(ctx context.Context, user, name string) (corpus.Document, bool, error) {
	file, err := a.Samples.Open(name)
	if err != nil {
		return corpus.Document{}, false, err
	}
	defer file.Close()
	return a.Library.Add(ctx, corpus.Upload{User: user, Path: "samples/" + name, Filename: path.Base(name), Body: file})
}
