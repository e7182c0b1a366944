//go:build !eino

package main

import "footnote/agent"

// drivenByEino is nil in a build without Eino. Eino takes more of a program than everything else in it: its templates look for methods by name, so
// the linker keeps every method of every type (docs/performance.md).
var drivenByEino agent.Framework
