package corpus

import (
	"sync"
	"time"
)

// paceMemory is how much of the time measured before a batch still counts after it. About ten batches are remembered,
// so that a pause or another model is soon forgotten.
const paceMemory = 0.9

// embedPace is how fast this process makes vectors of late. It is for telling people how long something will take.
type embedPace struct {
	mu       sync.Mutex
	passages float64
	spent    time.Duration
}

// addBatch notes how long a batch took.
func (p *embedPace) addBatch(passages int, spent time.Duration) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.passages = p.passages*paceMemory + float64(passages)
	p.spent = time.Duration(float64(p.spent)*paceMemory) + spent
}

// timeFor is how long so many passages will take; 0 if that is not known.
func (p *embedPace) timeFor(passages int) time.Duration {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.passages == 0 {
		return 0
	}
	return time.Duration(float64(p.spent) * float64(passages) / p.passages)
}

// EmbedTime is about how long the vectors of so many passages will take this process; 0 before any were made.
func (l *Library) EmbedTime(passages int) time.Duration { return l.pace.timeFor(passages) }
