package corpus

import (
	"maps"
	"sync"
)

// unembedded are the ready documents whose vectors are on their way, as far as this process knows: a search must not
// take a document without vectors for one that is far from the query. It is filled from the queue's side and by the
// sweep, and may lag behind other processes.
type unembedded struct {
	mu     sync.Mutex
	owners map[string]string // users, by document
	sought map[string]bool   // documents of them that somebody looked for
}

// addDocument notes a document whose vectors are still to be made.
func (u *unembedded) addDocument(document, user string) {
	u.mu.Lock()
	defer u.mu.Unlock()
	if u.owners == nil {
		u.owners = make(map[string]string)
	}
	u.owners[document] = user
}

// removeDocument notes that a document has its vectors, or is gone.
func (u *unembedded) removeDocument(document string) {
	u.mu.Lock()
	defer u.mu.Unlock()
	delete(u.owners, document)
	delete(u.sought, document)
}

// seek notes that somebody looks for a document. It reports whether that is news of one which waits.
func (u *unembedded) seek(document string) bool {
	u.mu.Lock()
	defer u.mu.Unlock()
	if _, has := u.owners[document]; !has || u.sought[document] {
		return false
	}
	if u.sought == nil {
		u.sought = make(map[string]bool)
	}
	u.sought[document] = true
	return true
}

// hasDocument reports whether a document waits for its vectors.
func (u *unembedded) hasDocument(document string) bool {
	u.mu.Lock()
	defer u.mu.Unlock()
	_, has := u.owners[document]
	return has
}

// anyOf reports whether some document of a user is among them.
func (u *unembedded) anyOf(user string) bool {
	u.mu.Lock()
	defer u.mu.Unlock()
	for _, owner := range u.owners {
		if owner == user {
			return true
		}
	}
	return false
}

// soughtOf reports whether somebody looks for a document of a user that waits.
func (u *unembedded) soughtOf(user string) bool {
	u.mu.Lock()
	defer u.mu.Unlock()
	for document := range u.sought {
		if u.owners[document] == user {
			return true
		}
	}
	return false
}

// unseek forgets that somebody looks for a document.
func (u *unembedded) unseek(document string) {
	u.mu.Lock()
	defer u.mu.Unlock()
	delete(u.sought, document)
}

// soughtBeside returns the documents that somebody looks for, but for one, with their users.
func (u *unembedded) soughtBeside(document string) map[string]string {
	u.mu.Lock()
	defer u.mu.Unlock()
	found := make(map[string]string)
	for sought := range u.sought {
		if sought != document {
			found[sought] = u.owners[sought]
		}
	}
	return found
}

// presentOwners returns all of them as they are now.
func (u *unembedded) presentOwners() map[string]string {
	u.mu.Lock()
	defer u.mu.Unlock()
	return maps.Clone(u.owners)
}
