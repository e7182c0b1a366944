package settings

import (
	"os"
	"path/filepath"
)

// shippedModel is the folder of the embedding model in releases, in an archive or a separate package. make
// embedding downloads the same one.
const shippedModel = "all-MiniLM-L6-v2"

// EmbeddingFolder returns the folder of the embedding model of this process: the one in the settings, or else the
// one unpacked beside the program or installed in share/footnote. It is empty if there is none. An empty setting
// disables it.
func (s *Settings) EmbeddingFolder() string {
	if s.EmbeddingDir != nil {
		return *s.EmbeddingDir
	}
	program, err := os.Executable()
	if err != nil {
		return ""
	}
	return findShippedModel(program)
}

// findShippedModel looks for the shipped model beside the program, or beside the target if the program is a link. Its
// directory is trusted as much as the program. It is detected by its weights, a regular file. Their content is
// validated when it is opened.
func findShippedModel(program string) string {
	places := []string{filepath.Dir(program)}
	if target, err := filepath.EvalSymlinks(program); err == nil && filepath.Dir(target) != places[0] {
		places = append(places, filepath.Dir(target))
	}
	for _, place := range places {
		for _, dir := range []string{
			filepath.Join(place, shippedModel),
			filepath.Join(place, "..", "share", "footnote", shippedModel),
		} {
			if info, err := os.Stat(filepath.Join(dir, "model.safetensors")); err == nil && info.Mode().IsRegular() {
				return dir
			}
		}
	}
	return ""
}
