//go:build !eino

package settings

import agentrun "footnote/agent/run"

// drivenByEino is nil in a build without Eino. Its templates look for methods by name, for which the linker keeps every
// method of every type (docs/decisions.md).
var drivenByEino agentrun.Framework
