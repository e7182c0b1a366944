package watch

import (
	"context"
	"encoding/json"
	"net/http"
	"net/url"
	"time"

	"github.com/footnote/footnote/corpus"
	"github.com/footnote/footnote/corpus/sources/folder"
)

// origin is the metadata of a document from a folder, under corpus.MetaWatched. Other commands and servers parse
// it, so its field names must not change.
type origin struct {
	Folder   string    `json:"folder"` // absolute path
	Path     string    `json:"path"`   // relative to the folder
	Modified time.Time `json:"modified"`
}

// origin returns the upload's form fields with the document's origin. The time is in UTC.
func (f *Folder) origin(name string, stamp folder.Stamp) ([][2]string, error) {
	meta, err := json.Marshal(map[string]origin{corpus.MetaWatched: {f.folder.Dir, name, stamp.Modified.UTC()}})
	return [][2]string{{"namespace", f.namespace}, {"meta", string(meta)}}, err
}

// documents lists the namespace's documents, and maps their library paths to this folder's files; the file is empty
// for other documents. It also caches the hashes of unchanged files. It reads batches of a thousand, oldest first.
func (f *Folder) documents(ctx context.Context) (all []folder.Document, paths map[string]string, err error) {
	paths = map[string]string{}
	query := url.Values{"namespace": {f.namespace}, "limit": {"1000"}, "sort": {"oldest"}}
	for {
		var page struct {
			Documents []struct {
				ID     string `json:"id"`
				Path   string `json:"path"`
				SHA256 string `json:"sha256"`
				Bytes  int64  `json:"bytes"`
				Meta   struct {
					Watched origin `json:"watched"`
				} `json:"meta"`
			} `json:"documents"`
			Next string `json:"next"`
		}
		if err := f.server.JSON(ctx, http.MethodGet, "/documents?"+query.Encode(), nil, &page); err != nil {
			return nil, nil, err
		}
		for _, d := range page.Documents {
			from := d.Meta.Watched
			ours := from.Folder == f.folder.Dir
			if !ours {
				from.Path = ""
			}
			all = append(all, folder.Document{ID: d.ID, SHA256: d.SHA256, Path: from.Path, Ours: ours})
			paths[d.Path] = from.Path
			if ours {
				f.folder.Know(from.Path, folder.Stamp{Size: d.Bytes, Modified: from.Modified}, d.SHA256)
			}
		}
		if page.Next == "" {
			return all, paths, nil
		}
		query.Set("cursor", page.Next)
	}
}
