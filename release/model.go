package main

import (
	"errors"
	"os"
	"path/filepath"
)

// makeModel packs the sentence model: unpacked beside the program, it is found there. Its files are those of the
// package that make embedding fetches, by hash. Their licence, Apache 2.0, goes with them.
func makeModel(model, out string, about product) error {
	files, err := os.ReadDir(model)
	if err != nil {
		return err
	}
	folder := filepath.Base(model)
	var entries []entry
	for _, file := range files {
		if !file.Type().IsRegular() {
			continue
		}
		content, err := os.ReadFile(filepath.Join(model, file.Name()))
		if err != nil {
			return err
		}
		entries = append(entries, entry{folder + "/" + file.Name(), content, false})
	}
	if len(entries) == 0 {
		return errors.New(model + " is empty")
	}
	entries = append(entries, entry{folder + "/LICENSE.txt", []byte(apache), false})
	return writeTarball(out, entries, about.made)
}
