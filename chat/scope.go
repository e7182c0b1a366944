package chat

import "slices"

// LocalUser owns everything while there is no login. Work that began before the first key was made is this user's.
const LocalUser = "local"

// DefaultNamespace is where documents go when no other is named.
const DefaultNamespace = "default"

// Scope says on whose behalf a store is read. It is made from the request, never from a tool's or a body's arguments
// beyond the namespaces the user asked for. Each method of a store takes one, so no statement can forget whose rows it
// reads. A namespace groups documents of one user and protects nothing from that user.
type Scope struct {
	User       string
	Namespaces []string // empty: all of the user's
}

// Local is the scope of the one local user over all namespaces.
var Local = Scope{User: LocalUser}

// In returns the scope narrowed to one namespace; an empty name leaves it as it is.
func (s Scope) In(namespace string) Scope {
	if namespace == "" {
		return s
	}
	return Scope{User: s.User, Namespaces: []string{namespace}}
}

// Holds reports whether a namespace is in the scope. For the default scope it is true of internal namespaces, too;
// lists leave those out by themselves.
func (s Scope) Holds(namespace string) bool {
	return len(s.Namespaces) == 0 || slices.Contains(s.Namespaces, namespace)
}

// IsInternal reports whether a namespace is left out of lists and searches unless a scope names it: those that begin
// with a point. What is in it is still found by its id.
func IsInternal(namespace string) bool { return len(namespace) > 0 && namespace[0] == '.' }

// WebNamespace is where the web pages are kept that a run has read.
func WebNamespace(runID string) string { return ".web." + runID }

// With returns the scope widened by one namespace. A scope over all namespaces stays as it is. The list is copied, as
// the scope it was made from may be in use elsewhere.
func (s Scope) With(namespace string) Scope {
	if len(s.Namespaces) == 0 {
		return s
	}
	return Scope{User: s.User, Namespaces: append(append([]string{}, s.Namespaces...), namespace)}
}
