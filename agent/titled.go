package agent

import (
	"context"
	"fmt"
	"path"
	"regexp"
	"strings"

	"footnote/corpus"
	"footnote/corpus/text"
)

// opening is a question whose words after the first may be a document's title.
var opening = regexp.MustCompile(`(?i)^(?:please |can you |could you )*(?:open|read|view|show(?: me| us)?|display|summari[sz]e|look (?:at|into)|go through|what(?:'s| is| stands)? (?:written )?in|what does|according to)(?: (?:the|my|our))?(?: (?:document|file|paper|report|book))? (.{3,200}?)(?:,.*| (?:say|says|state|states|mention|mentions|contain|contains)\b.*| (?:for me|please))?[\s?.!]*$`)

// titlesTried is how many documents whose titles hold the words are compared with them.
const titlesTried = 20

// byTitle notes the document that a question names by its whole title: what it asks for stands in that one.
func (w *work) byTitle(ctx context.Context) error {
	question := strings.TrimSpace(w.run.Request.Message)
	if w.givenText() || len(question) > maxAnalysed {
		return nil
	}
	switch w.asked.Type {
	case typeFactual, typeExploratory, typeMetadata:
	default:
		return nil
	}
	for _, name := range titlesIn(question) {
		doc, ok, err := w.desk.entitled(ctx, name)
		if err != nil {
			return err
		}
		if ok {
			w.titled, w.asked = doc, w.asked.as(typeSpecific, question)
			return nil
		}
	}
	return nil
}

// titlesIn returns what may be a title: what is quoted, and what follows a word like open.
func titlesIn(question string) []string {
	var out []string
	for _, m := range quoted.FindAllStringSubmatch(question, 2) {
		out = append(out, m[1])
	}
	if m := opening.FindStringSubmatch(question); m != nil {
		out = append(out, strings.Trim(m[1], `"“”„«» `))
	}
	return out
}

// entitled returns the newest document in reach whose title, or file name with or without its ending, is name.
func (d *desk) entitled(ctx context.Context, name string) (corpus.Document, bool, error) {
	docs, _, err := d.library.List(ctx, d.scope, corpus.Filter{Text: name, IDs: d.only, Limit: titlesTried})
	if err != nil {
		return corpus.Document{}, false, fmt.Errorf("look for a title: %w", err)
	}
	name = text.Fold(name)
	for _, doc := range docs {
		for _, known := range []string{doc.Title, doc.Filename, strings.TrimSuffix(doc.Filename, path.Ext(doc.Filename))} {
			if text.Fold(known) == name {
				return doc, true, nil
			}
		}
	}
	return corpus.Document{}, false, nil
}
