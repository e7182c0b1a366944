package corpus

import (
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/footnote/footnote/chat"
)

func TestImagesForgetTheOneNotUsedLongest(t *testing.T) {
	c := newImages()
	image := func(page int) imageKey { return imageKey{pageKey{"sha", page, 0}, 100} }
	has := func(page int) bool {
		png, _ := c.getImage(image(page))
		return png != nil
	}
	big := make([]byte, imageBytes/4)
	for page := range 4 {
		c.putImage(image(page), big, nil)
	}
	if !has(0) {
		t.Fatal("four images of a quarter each do not fit")
	}
	c.putImage(image(4), big, nil)
	if has(1) {
		t.Error("the image not used longest is still there")
	}
	if !has(0) {
		t.Error("an image that was used lately is gone")
	}
	if c.bytes > imageBytes {
		t.Errorf("%d bytes are kept, want at most %d", c.bytes, imageBytes)
	}
}

func TestAPageThatWasNotDrawnIsTriedAgainAfterAWhile(t *testing.T) {
	for _, tt := range []struct {
		name string
		err  error
		rest time.Duration
	}{
		{"it is too complex", &chat.Error{Code: chat.CodeUndrawable, Message: "This page is too complex."},
			restUndrawable},
		{"what drew it was ended", &chat.Error{Code: chat.CodeUnavailable, Err: ErrReaderDied}, restOther},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				c, key := newImages(), imageKey{pageKey{"sha", 1, 0}, 1000}
				c.putImage(key, nil, tt.err)
				time.Sleep(tt.rest - 1)
				if _, err := c.getImage(key); !errors.Is(err, tt.err) {
					t.Errorf("just before %v: %v, want %v", tt.rest, err, tt.err)
				}
				time.Sleep(1)
				if _, err := c.getImage(key); err != nil {
					t.Errorf("after %v: %v, want no error: it is tried again", tt.rest, err)
				}
			})
		})
	}
}
