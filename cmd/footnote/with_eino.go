//go:build eino

package main

import (
	"footnote/agent"
	"footnote/agent/eino"
)

var drivenByEino agent.Framework = eino.Drive
