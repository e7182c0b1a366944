//go:build !eino

package main

import "footnote/agent"

// drivenByEino is nil in a build without Eino. Its templates look for methods by name, for which the linker keeps every
// method of every type (docs/decisions.md).
var drivenByEino agent.Framework
