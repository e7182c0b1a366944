package corpus

import (
	"maps"
	"sync"
)

// unembedded is the set of ready documents that wait for vectors, as known to this process: a search must not treat
// a document without vectors as dissimilar. Queueing and the sweep fill it; it may lag behind other processes.
type unembedded struct {
	mu          sync.Mutex
	owners      map[string]string // user by document
	prioritised map[string]bool   // those that a search has found
}

// addDocument adds a document that waits for vectors.
func (u *unembedded) addDocument(document, user string) {
	u.mu.Lock()
	defer u.mu.Unlock()
	if u.owners == nil {
		u.owners = make(map[string]string)
	}
	u.owners[document] = user
}

// removeDocument removes a document that has vectors, or is gone.
func (u *unembedded) removeDocument(document string) {
	u.mu.Lock()
	defer u.mu.Unlock()
	delete(u.owners, document)
	delete(u.prioritised, document)
}

// prioritise marks a document as found by a search. It reports whether the document waits and was not marked before.
func (u *unembedded) prioritise(document string) bool {
	u.mu.Lock()
	defer u.mu.Unlock()
	if _, has := u.owners[document]; !has || u.prioritised[document] {
		return false
	}
	if u.prioritised == nil {
		u.prioritised = make(map[string]bool)
	}
	u.prioritised[document] = true
	return true
}

// hasDocument reports whether a document waits for vectors.
func (u *unembedded) hasDocument(document string) bool {
	u.mu.Lock()
	defer u.mu.Unlock()
	_, has := u.owners[document]
	return has
}

// hasWaiting reports whether a document of the user waits for vectors.
func (u *unembedded) hasWaiting(user string) bool {
	u.mu.Lock()
	defer u.mu.Unlock()
	for _, owner := range u.owners {
		if owner == user {
			return true
		}
	}
	return false
}

// hasPrioritised reports whether a search has found a waiting document of the user.
func (u *unembedded) hasPrioritised(user string) bool {
	u.mu.Lock()
	defer u.mu.Unlock()
	for document := range u.prioritised {
		if u.owners[document] == user {
			return true
		}
	}
	return false
}

// unprioritise removes the mark of a document.
func (u *unembedded) unprioritise(document string) {
	u.mu.Lock()
	defer u.mu.Unlock()
	delete(u.prioritised, document)
}

// otherPrioritised returns the marked documents other than the given one, with their users.
func (u *unembedded) otherPrioritised(document string) map[string]string {
	u.mu.Lock()
	defer u.mu.Unlock()
	found := make(map[string]string)
	for sought := range u.prioritised {
		if sought != document {
			found[sought] = u.owners[sought]
		}
	}
	return found
}

// presentOwners returns a copy of all waiting documents with their users.
func (u *unembedded) presentOwners() map[string]string {
	u.mu.Lock()
	defer u.mu.Unlock()
	return maps.Clone(u.owners)
}
