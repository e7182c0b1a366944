//go:build eino

package main

import (
	agentrun "footnote/agent/run"
	"footnote/agent/run/eino"
)

var drivenByEino agentrun.Framework = eino.Drive
