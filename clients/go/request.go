package halyard

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"regexp"
	"strconv"
	"strings"
	"time"
)

const (
	// maxBytes is the greatest size of a frame or an answer: a guard against
	// what has no end.
	maxBytes = 32 << 20
	// silence is how long an open body may show no sign of life.
	silence = 45 * time.Second
	// maxRetryAfter is the longest wait that a server can ask for: none may
	// switch a client off.
	maxRetryAfter = time.Hour
)

var errNoAnswer = &Error{Code: Timeout, Message: "no answer in time"}
var errSilent = &Error{Code: Timeout, Message: "it fell silent"}

// body is the body of an answer, which is given up when it falls silent. So
// many bytes are a sign of life; single bytes are not. (C2.18)
type body struct {
	io.Reader
	bytes int
	alive func()
}

func (b *body) Read(buffer []byte) (int, error) {
	n, err := b.Reader.Read(buffer)
	if b.bytes += n; b.bytes >= 1_024 {
		b.bytes = 0
		b.alive()
	}
	return n, err
}

// all reads a body to its end.
func (b *body) all() ([]byte, error) {
	data, err := io.ReadAll(io.LimitReader(b, maxBytes+1))
	if err == nil && len(data) > maxBytes {
		return nil, &Error{Code: InvalidResponse, Message: "it has no end"}
	}
	return data, err
}

// get sends a request and lets read have the answer if its status is 200, or
// 304 for an etag. It gives the failure, and errLeft if the context ended for it.
func (c *Client) get(parent context.Context, path, etag string, read func(*http.Response, *body) error) error {
	ctx, cancel := context.WithCancelCause(parent)
	defer cancel(nil)
	giveUp := time.AfterFunc(c.o.RequestTimeout, func() { cancel(errNoAnswer) })
	defer func() { giveUp.Stop() }()

	request, err := http.NewRequestWithContext(ctx, http.MethodGet, c.address(path), nil)
	if err != nil {
		return c.o.safe(err, NetworkError)
	}

	c.setHeaders(request)
	request.Header.Set("Accept", "application/json")
	request.Header.Set("Cache-Control", "no-cache")
	if etag != "" {
		request.Header.Set("If-None-Match", etag)
	}
	if path == streamPath {
		request.Header.Set("Accept", "text/event-stream")
		request.Header.Set("Accept-Encoding", "identity") // what compresses may hold frames back
	}

	response, err := c.o.HTTPClient.Do(request)
	if err == nil {
		defer response.Body.Close()
		giveUp.Stop()
		giveUp = time.AfterFunc(c.o.scaled(silence), func() { cancel(errSilent) })
		open := &body{Reader: response.Body, alive: func() { giveUp.Reset(c.o.scaled(silence)) }}
		if response.StatusCode == http.StatusOK || etag != "" && response.StatusCode == http.StatusNotModified {
			c.usage.hear(response.Header.Get("X-Flags-Usage"))
			err = read(response, open)
		} else {
			err = c.refusal(response, open)
		}
	}

	if err == nil {
		return nil
	}
	if _, isKnown := err.(*Error); !isKnown && ctx.Err() != nil {
		err = context.Cause(ctx)
	}
	failure := c.o.safe(err, NetworkError)
	if failure.Code == Timeout {
		// A connection that has died may be in the pool, where the next request would find it.
		c.o.HTTPClient.CloseIdleConnections()
	}
	return failure
}

func (c *Client) address(path string) string {
	return c.o.BaseURL + path + "?env=" + url.QueryEscape(c.o.Environment)
}

// setHeaders sets the application's headers and the key. (C5.1)
func (c *Client) setHeaders(request *http.Request) {
	if c.o.Header != nil {
		request.Header = c.o.Header.Clone()
	}
	request.Header.Set("X-Service-Key", c.o.APIKey)
}

// serverCode is what a code of a server looks like.
var serverCode = regexp.MustCompile(`^[a-z_]{1,64}$`)

// refusal is the failure that an answer stands for which is not the one asked for.
func (c *Client) refusal(response *http.Response, open *body) error {
	var said map[string]any
	// The body only explains; an unreadable one leaves the status to speak.
	if data, err := open.all(); err == nil {
		_ = json.Unmarshal(data, &said)
	}
	short := func(member string) string {
		text, _ := said[member].(string)
		text = c.o.redact(text)
		return strings.ToValidUTF8(text[:min(len(text), 500)], "")
	}

	result := &Error{Code: Code(short("error")), Message: short("message"), Docs: short("docs"),
		Status: response.StatusCode, RetryAfter: retryAfter(response.Header.Get("Retry-After"), time.Now())}
	if !serverCode.MatchString(string(result.Code)) {
		switch {
		case result.Status == http.StatusBadRequest:
			result.Code = InvalidArgument
		case result.Status == http.StatusUnauthorized:
			result.Code = InvalidAPIKey
		case result.Status == http.StatusTooManyRequests:
			result.Code = RateLimited
		case result.Status >= 500:
			result.Code = InternalError
		default:
			result.Code = InvalidResponse
		}
	}
	if result.Message == "" {
		result.Message = fmt.Sprintf("the server answered %d", result.Status)
	}
	return result
}

// retryAfter reads the header of this name, in seconds or as a date.
func retryAfter(text string, now time.Time) time.Duration {
	if seconds, err := strconv.ParseUint(text, 10, 31); err == nil {
		return min(time.Duration(seconds)*time.Second, maxRetryAfter)
	}
	if date, err := http.ParseTime(text); err == nil {
		return max(0, min(date.Sub(now), maxRetryAfter))
	}
	return 0
}

// revisionOf gives the revision that an answer says it was made from. (C2.5)
func revisionOf(response *http.Response) int64 {
	text := response.Header.Get("X-Flags-Revision")
	revision, err := strconv.ParseUint(text, 10, 63)
	if err != nil || len(text) > 15 {
		return noRevision
	}
	return int64(revision)
}
