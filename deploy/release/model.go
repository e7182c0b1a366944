package main

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
)

// makeModel packs the embedding model: unpacked beside the program, it is found there. Its files are those of the
// package that make embedding downloads, verified by hash. Their licence, Apache 2.0, is included.
//
// .gitattributes is skipped, since it belongs to the model's repository. An empty folder is an error.
func makeModel(model, out string, about product) error {
	folder := filepath.Base(model)
	var entries []entry
	err := fs.WalkDir(os.DirFS(model), ".", func(name string, file fs.DirEntry, err error) error {
		if err != nil || !file.Type().IsRegular() || file.Name() == ".gitattributes" {
			return err
		}
		content, err := os.ReadFile(filepath.Join(model, filepath.FromSlash(name)))
		entries = append(entries, entry{folder + "/" + name, content, false})
		return err
	})
	if err != nil {
		return err
	}
	if len(entries) == 0 {
		return errors.New(model + " is empty")
	}
	entries = append(entries, entry{folder + "/LICENSE.txt", []byte(apache), false})
	return writeTarball(out, entries, about.made)
}
