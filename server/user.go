package server

import (
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/labstack/echo/v4"

	"footnote/chat"
	"footnote/server/httpio"
	"footnote/views"
)

// keyKept is how long a browser keeps a key.
const keyKept = 30 * 24 * time.Hour

// signInRoutes add the page's way to bring a key.
func (s *Server) signInRoutes(e *echo.Echo) {
	e.GET("/signin", func(c echo.Context) error { return s.signInPage(c, http.StatusOK, c.QueryParam("to"), "") })
	e.POST("/signin", s.signIn)
	e.POST("/signout", s.signOut)
}

// signInPage asks for a key, on the way to an address or to a question that was sent without one.
func (s *Server) signInPage(c echo.Context, status int, to, detail string) error {
	return httpio.Show(c, status, views.SignIn(s.pages.assets, localTarget(to), detail, keptFields(c)))
}

// signIn keeps a valid key in a cookie that no script can read.
func (s *Server) signIn(c echo.Context) error {
	if s.cfg.Keys == nil {
		return c.Redirect(http.StatusSeeOther, "/")
	}
	if err := s.bodies.ReadForm(c); err != nil {
		return err
	}
	key := strings.TrimSpace(c.Request().PostForm.Get("key"))
	user, _, err := s.cfg.Keys.User(key)
	if err != nil {
		if chat.CodeOf(err) != chat.CodeUnauthorized {
			return err
		}
		return s.signInPage(c, http.StatusUnauthorized, c.Request().PostForm.Get("to"), "This key is not valid. Copy it again, or ask whoever runs the server for a new one.")
	}
	cookie := keptKey(c, key, int(keyKept.Seconds()))
	c.SetCookie(cookie)
	if len(keptFields(c)) > 0 {
		c.Request().AddCookie(cookie)
		c.Set(httpio.UserField, user)
		if s.showKept(c) {
			return nil
		}
	}
	return c.Redirect(http.StatusSeeOther, localTarget(c.Request().PostForm.Get("to")))
}

func (s *Server) signOut(c echo.Context) error {
	c.SetCookie(keptKey(c, "", -1))
	return c.Redirect(http.StatusSeeOther, "/signin")
}

func keptKey(c echo.Context, key string, seconds int) *http.Cookie {
	return &http.Cookie{
		Name: httpio.KeyCookie, Value: key, Path: "/", MaxAge: seconds, HttpOnly: true, SameSite: http.SameSiteLaxMode, Secure: c.Scheme() == "https",
	}
}

// localTarget keeps a way back that stays on this server.
func localTarget(to string) string {
	u, err := url.Parse(to)
	if err != nil || u.Scheme != "" || u.Host != "" || !strings.HasPrefix(to, "/") || strings.HasPrefix(to, "//") || strings.Contains(to, `\`) || u.Path == "/signin" {
		return "/"
	}
	return to
}

// signInFirst answers a browser without a valid key: it may sign in and then comes back to where it was, or to its question.
func (s *Server) signInFirst(c echo.Context, p httpio.Problem) error {
	if p.Status != http.StatusUnauthorized {
		return httpio.Show(c, p.Status, views.SignIn(s.pages.assets, "/", p.Detail, nil))
	}
	to := "/"
	switch c.Request().Method {
	case http.MethodGet:
		to = c.Request().URL.RequestURI()
	case http.MethodPost:
		if err := s.bodies.ReadForm(c); err != nil { // what is no form of the page has no question
			c.Request().PostForm = nil
		}
		to = pageOf(c)
	}
	return s.signInPage(c, p.Status, to, "")
}
