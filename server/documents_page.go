package server

import "github.com/labstack/echo/v4"

// documentsPage answers GET /documents for a browser.
func (s *Server) documentsPage(c echo.Context) error { return s.listDocuments(c) }
