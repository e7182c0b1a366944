package server

import (
	"context"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/labstack/echo/v4"

	"footnote/chat"
	"footnote/views"
)

// Where a request's user is kept, and the page's key.
const (
	userField = "user"
	keyCookie = "footnote_key"
	keyKept   = 30 * 24 * time.Hour
)

// withoutKey are the routes that give nothing away: they answer anybody.
var withoutKey = []string{"/health", "/readyz", "/static/:version/*", "/favicon.ico", "/signin", "/signout"}

// checkUser finds out whose request it is: the local user's as long as no key was ever made, else the key's. When a key is revoked, what
// is open under it ends.
func (s *Server) checkUser(next echo.HandlerFunc) echo.HandlerFunc {
	return func(c echo.Context) error {
		if s.cfg.Keys == nil {
			c.Set(userField, chat.LocalUser)
			return next(c)
		}
		needed, err := s.cfg.Keys.Needed()
		if err == nil && !needed {
			c.Set(userField, chat.LocalUser)
			return next(c)
		}
		if slices.Contains(withoutKey, c.Path()) {
			return next(c)
		}
		if err != nil {
			return err
		}
		key, _ := sentKey(c.Request())
		user, valid, err := s.cfg.Keys.User(key)
		if err != nil {
			return err
		}
		c.Set(userField, user)
		whole := c.Request()
		ctx, end := context.WithCancel(whole.Context())
		defer end()
		defer context.AfterFunc(valid, end)()
		c.SetRequest(whole.WithContext(ctx))
		err = next(c)
		c.SetRequest(whole) // an error is still to be drawn, which the end of ctx would stop
		if err != nil && valid.Err() != nil {
			_, _, err = s.cfg.Keys.User(key)
		}
		return err
	}
}

// sentKey is the key that a request brings: in a header, as programs do, or else in the page's cookie.
func sentKey(r *http.Request) (key string, cookie bool) {
	if key := r.Header.Get("X-API-Key"); key != "" {
		return key, false
	}
	if kind, key, ok := strings.Cut(r.Header.Get(echo.HeaderAuthorization), " "); ok && strings.EqualFold(kind, "Bearer") {
		return strings.TrimSpace(key), false
	}
	if kept, err := r.Cookie(keyCookie); err == nil {
		return kept.Value, true
	}
	return "", false
}

// scope is on whose behalf a request reads and writes. Without a user it is nobody's, who has nothing.
func (s *Server) scope(c echo.Context) chat.Scope {
	user, _ := c.Get(userField).(string)
	return chat.Scope{User: user}
}

// signedOut reports whether a request is that of a browser that has yet to sign in.
func (s *Server) signedOut(c echo.Context) bool { return s.cfg.Keys != nil && s.scope(c).User == "" }

// signInRoutes add the page's way to bring a key.
func (s *Server) signInRoutes(e *echo.Echo) {
	e.GET("/signin", func(c echo.Context) error { return s.signInPage(c, http.StatusOK, c.QueryParam("to"), "") })
	e.POST("/signin", s.signIn)
	e.POST("/signout", s.signOut)
}

// signInPage asks for a key, on the way to an address or to a question that was sent without one.
func (s *Server) signInPage(c echo.Context, status int, to, detail string) error {
	return s.show(c, status, views.SignIn(s.pages.assets, localTarget(to), detail, keptFields(c)))
}

// signIn keeps a valid key in a cookie that no script can read.
func (s *Server) signIn(c echo.Context) error {
	if s.cfg.Keys == nil {
		return c.Redirect(http.StatusSeeOther, "/")
	}
	if err := s.readForm(c); err != nil {
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
		c.Set(userField, user)
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
		Name: keyCookie, Value: key, Path: "/", MaxAge: seconds, HttpOnly: true, SameSite: http.SameSiteLaxMode, Secure: c.Scheme() == "https",
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
func (s *Server) signInFirst(c echo.Context, p problem) error {
	if p.Status != http.StatusUnauthorized {
		return s.show(c, p.Status, views.SignIn(s.pages.assets, "/", p.Detail, nil))
	}
	to := "/"
	switch c.Request().Method {
	case http.MethodGet:
		to = c.Request().URL.RequestURI()
	case http.MethodPost:
		if err := s.readForm(c); err != nil { // what is no form of the page has no question
			c.Request().PostForm = nil
		}
		to = pageOf(c)
	}
	return s.signInPage(c, p.Status, to, "")
}
