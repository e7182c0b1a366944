package httpio

import (
	"strings"
	"testing"

	"github.com/labstack/echo/v4"

	"github.com/footnote/footnote/chat"
)

func TestTheRoutersOwnErrorsShowNothing(t *testing.T) {
	got := AsError(echo.NewHTTPError(422, "secret"))
	if got.Code != chat.CodeInvalid || strings.Contains(got.Message, "secret") {
		t.Errorf("%s: %s; want %s without the router's words", got.Code, got.Message, chat.CodeInvalid)
	}
}
