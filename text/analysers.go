package text

import "sync"

// idleAnalysers is how many analysers of a language wait to be used again.
const idleAnalysers = 2

// maxLanguages bounds how many languages they wait for.
const maxLanguages = 16

// Analysers lends analysers out, so that the same words are not stemmed again. The zero value is ready, and it is safe
// for concurrent use. A server has one for all its requests. Nobody has to put an analyser back.
type Analysers struct {
	mu   sync.Mutex
	idle map[string][]*Analyser
}

// Get returns an analyser of a language that nobody else uses until it is put back.
func (p *Analysers) Get(lang string) *Analyser {
	p.mu.Lock()
	defer p.mu.Unlock()
	if list := p.idle[lang]; len(list) > 0 {
		a := list[len(list)-1]
		p.idle[lang] = list[:len(list)-1]
		return a
	}
	return NewAnalyser(lang)
}

// Put gives an analyser back to be lent again, or leaves it to the collector when enough of them wait.
func (p *Analysers) Put(lang string, a *Analyser) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.idle == nil {
		p.idle = make(map[string][]*Analyser)
	}
	if n := len(p.idle[lang]); n < idleAnalysers && (n > 0 || len(p.idle) < maxLanguages) {
		p.idle[lang] = append(p.idle[lang], a)
	}
}
