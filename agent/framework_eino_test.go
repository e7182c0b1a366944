package agent_test

import (
	"footnote/agent"
	"footnote/agent/eino"
)

func init() { agent.AddFramework("eino", eino.Drive) }
