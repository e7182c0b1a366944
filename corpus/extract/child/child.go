// Package child bounds the programs of others that read files.
package child
