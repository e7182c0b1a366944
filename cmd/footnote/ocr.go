package main

import (
	"footnote/corpus"
	"footnote/corpus/extract/ocr"
	"footnote/corpus/extract/worker"
)

// ocrSettings say how pictures of text are read.
type ocrSettings struct {
	OCRLanguages []string `name:"ocr-languages" help:"Languages that tesseract reads pictures of text in, by its names, like eng,deu; without them those that are installed and fit the text." env:"FOOTNOTE_OCR_LANGUAGES" placeholder:"NAME"`
}

// pictureReader returns what reads files: the workers, and what reads the pictures of text that they find.
func (s *ocrSettings) pictureReader(files *worker.Pool) corpus.Extractor {
	return ocr.New(files, &ocr.Tesseract{Languages: s.OCRLanguages})
}
