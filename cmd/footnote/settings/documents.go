package settings

import (
	"net/url"
	"path/filepath"
	"strings"

	"github.com/footnote/footnote/corpus/blobs/s3"
)

// ocrSettings say how pictures of text are read.
type ocrSettings struct {
	OCR          string   `name:"ocr" help:"What reads pictures of text: tesseract, the program, if it is on the PATH; or model, the model of the OpenAI-compatible server, which must see and gets each page as a picture." enum:"tesseract,model" env:"FOOTNOTE_OCR" default:"tesseract"`
	OCRLanguages []string `name:"ocr-languages" help:"Languages that tesseract reads pictures of text in, by its names, like eng,deu; without them those that are installed and fit the text." env:"FOOTNOTE_OCR_LANGUAGES" placeholder:"NAME"`
}

// officeSettings say how Office files are shown.
type officeSettings struct {
	OfficePages bool `name:"office-pages" help:"Show Office files as they are printed, beside their text: LibreOffice (soffice) draws them, if it is on the PATH. It runs confined, in namespaces of users, mounts and networks, which takes Linux 5.12 and a system that lets the server make them; elsewhere the setting has no effect, and the log and footnote doctor say so." env:"FOOTNOTE_OFFICE_PAGES"`
}

// watchSettings are the folders that 'footnote serve' follows.
type watchSettings struct {
	Watch          []string `help:"Folders that 'footnote serve' follows, as 'footnote watch' does; several are separated by commas. Of replicas, one at a time does, and each needs the folder under the same path. A server with keys needs FOOTNOTE_API_KEY: the documents are that user's." env:"FOOTNOTE_WATCH" placeholder:"DIR"`
	WatchNamespace string   `help:"Namespace of the documents of those folders." env:"FOOTNOTE_WATCH_NAMESPACE" default:"default" placeholder:"NAME"`
}

// validBlobs reports whether a FOOTNOTE_BLOBS can be the address of a directory or of a bucket. Whether it can be
// reached is found out when it is opened. A name and password in the address are refused: keys of a bucket have
// variables of their own. Paths have to be absolute: replicas start in folders of their own.
func validBlobs(address string) bool {
	if path, ok := strings.CutPrefix(address, FileScheme); ok {
		return filepath.IsAbs(path)
	}
	u, err := url.Parse(address)
	return err == nil && strings.HasPrefix(address, s3.Scheme) && u.Host != "" && u.User == nil
}

// OwnPaths are the files and folders of this program: no document, whatever folder they are in. The settings can hold
// keys.
func (s *Settings) OwnPaths() []string {
	paths := []string{s.Data}
	if s.Config != "" {
		paths = append(paths, s.Config)
	}
	return paths
}

// FileScheme begins the URL of a directory. What follows is an absolute path.
const FileScheme = "file://"
