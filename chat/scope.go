package chat

import "slices"

// LocalUser owns all data while there are no keys. Work that started before the first key belongs to this user.
const LocalUser = "local"

// DefaultNamespace is the namespace of documents without another.
const DefaultNamespace = "default"

// Scope identifies the user and the namespaces of a store access. It is made from the request; tools and bodies only
// narrow it to the namespaces that the user asked for. Each method of a store takes one, so every statement is
// restricted to its user's rows. A namespace groups documents of one user; it is no access control.
type Scope struct {
	User       string
	Namespaces []string // empty: all of the user's
}

// Local is the scope of the one local user over all namespaces.
var Local = Scope{User: LocalUser}

// In returns the scope narrowed to one namespace; an empty name leaves it unchanged.
func (s Scope) In(namespace string) Scope {
	if namespace == "" {
		return s
	}
	return Scope{User: s.User, Namespaces: []string{namespace}}
}

// Holds reports whether a namespace is in the scope. The default scope includes internal namespaces, too; lists
// exclude those separately.
func (s Scope) Holds(namespace string) bool {
	return len(s.Namespaces) == 0 || slices.Contains(s.Namespaces, namespace)
}

// IsInternal reports whether a namespace is excluded from lists and searches unless a scope names it: its name
// starts with a point. Its documents can still be read by id.
func IsInternal(namespace string) bool { return len(namespace) > 0 && namespace[0] == '.' }

// WebNamespace returns the namespace of the web pages that a run has read.
func WebNamespace(runID string) string { return ".web." + runID }

// With returns the scope widened by one namespace. A scope over all namespaces is unchanged. The list is copied,
// since the original scope may be in use elsewhere.
func (s Scope) With(namespace string) Scope {
	if len(s.Namespaces) == 0 {
		return s
	}
	return Scope{User: s.User, Namespaces: append(append([]string{}, s.Namespaces...), namespace)}
}
