//go:build !eino

package settings

import agentrun "github.com/footnote/footnote/agent/run"

// drivenByEino is nil in a build without Eino. Eino's templates look up methods by name, so the linker keeps every
// method of every type (docs/decisions/build.md).
var drivenByEino agentrun.Framework
