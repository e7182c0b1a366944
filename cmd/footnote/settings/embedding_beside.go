package settings

import (
	"os"
	"path/filepath"
)

// shippedModel is the folder of the sentence model that releases come with, in an archive or a package of its own.
// make embedding fetches the same one.
const shippedModel = "all-MiniLM-L6-v2"

// EmbeddingFolder is the folder of the model that embeds in this process: the one that the settings name, or else the
// one that was unpacked beside the program or installed in share/footnote. Empty: there is none, or none is wanted.
// Who sets it to an empty text wants none.
func (s *Settings) EmbeddingFolder() string {
	if s.EmbeddingDir != nil {
		return *s.EmbeddingDir
	}
	program, err := os.Executable()
	if err != nil {
		return ""
	}
	return modelBeside(program)
}

// modelBeside finds the shipped model by the place of the program, also where only a link to it is in the path. What
// lies there is trusted as much as the program. It is found by its weights, a regular file. What is in them is checked
// when it is opened.
func modelBeside(program string) string {
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
