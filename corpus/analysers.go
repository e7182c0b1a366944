package corpus

import (
	"sync"

	"footnote/corpus/text"
)

// idleAnalysers is how many analysers of a language wait to be used again.
const idleAnalysers = 2

// maxLanguages bounds how many languages they wait for.
const maxLanguages = 16

// analysers lends analysers out, so that the same words are not stemmed again. The zero value is ready, and it is safe for concurrent use.
type analysers struct {
	mu   sync.Mutex
	idle map[string][]*text.Analyser
}

func (p *analysers) get(lang string) *text.Analyser {
	p.mu.Lock()
	defer p.mu.Unlock()
	if list := p.idle[lang]; len(list) > 0 {
		a := list[len(list)-1]
		p.idle[lang] = list[:len(list)-1]
		return a
	}
	return text.NewAnalyser(lang)
}

func (p *analysers) put(lang string, a *text.Analyser) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.idle == nil {
		p.idle = make(map[string][]*text.Analyser)
	}
	if n := len(p.idle[lang]); n < idleAnalysers && (n > 0 || len(p.idle) < maxLanguages) {
		p.idle[lang] = append(p.idle[lang], a)
	}
}
