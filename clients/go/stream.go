package halyard

import (
	"bytes"
	"context"
	"io"
	"mime"
	"net/http"
	"strconv"
	"strings"
	"time"
)

const streamPath = "/v1/stream"

// parser reads server-sent events by the HTML standard from bytes that come in
// any pieces. It calls onData for each event without a name of its own. (C2.3)
type parser struct {
	onData    func(data []byte) error
	onComment func(text string)
	onRetry   func(time.Duration)

	line, data []byte // what has come of a line and of an event
	name       string
	hasData    bool
	isLater    bool // after the first line
	skipsLF    bool // after a CR
}

func (p *parser) feed(piece []byte) error {
	for len(piece) > 0 {
		if p.skipsLF && piece[0] == '\n' {
			piece = piece[1:]
		}
		end := bytes.IndexAny(piece, "\r\n")
		if p.skipsLF = end >= 0 && piece[end] == '\r'; end < 0 {
			p.line = append(p.line, piece...)
			break
		}
		p.line = append(p.line, piece[:end]...)
		piece = piece[end+1:]
		if err := p.take(); err != nil {
			return err
		}
	}
	if len(p.line)+len(p.data) > maxBytes {
		return &Error{Code: InvalidResponse, Message: "it has no end"}
	}
	return nil
}

// take takes in a line that is whole.
func (p *parser) take() error {
	line := p.line
	p.line = p.line[:0]
	if !p.isLater {
		p.isLater = true
		line = bytes.TrimPrefix(line, []byte("\uFEFF"))
	}
	if len(line) == 0 {
		return p.dispatch()
	}

	field, value, _ := bytes.Cut(line, []byte(":"))
	value = bytes.TrimPrefix(value, []byte(" "))
	switch string(field) {
	case "data":
		if p.hasData {
			p.data = append(p.data, '\n')
		}
		p.data, p.hasData = append(p.data, value...), true
	case "event":
		p.name = string(value)
	case "retry":
		if ms, err := strconv.ParseUint(string(value), 10, 31); err == nil {
			p.onRetry(time.Duration(ms) * time.Millisecond)
		}
	case "":
		p.onComment(string(value))
	}
	return nil
}

// dispatch ends an event.
func (p *parser) dispatch() error {
	const kept = 64 << 10 // a large frame does not keep its memory
	data, isFrame := p.data, p.hasData && (p.name == "" || p.name == "message")
	p.name, p.hasData = "", false
	if p.data = p.data[:0]; cap(data) > kept {
		p.data, p.line = nil, nil
	}
	if isFrame {
		return p.onData(data)
	}
	return nil
}

// runStream opens the stream and follows it to its end; it gives nil when the
// server closes it in good order. (C2.1, C2.2)
func (f *follower) runStream(ctx context.Context, opened *time.Time) error {
	err := f.get(ctx, streamPath, "", func(response *http.Response, open *body) error {
		kind, _, _ := mime.ParseMediaType(response.Header.Get("Content-Type"))
		if kind != "text/event-stream" {
			return &Error{Code: InvalidResponse, Message: "it is not an event stream"}
		}
		*opened = time.Now()
		first := revisionOf(response)
		f.post(func() { f.streamOpened(first) })

		revision, isFirst := first, true
		reader := parser{
			onRetry: func(delay time.Duration) {
				f.post(func() {
					f.backoff.first = min(max(delay, f.o.scaled(100*time.Millisecond)), f.o.scaled(30*time.Second))
				})
			},
			onComment: func(text string) {
				open.alive()
				if seconds, isUsage := strings.CutPrefix(text, "usage "); isUsage {
					f.usage.hear(seconds)
				}
			},
			onData: func(data []byte) error {
				open.alive()
				flags, rejected, failure := parseMap(data)
				if failure != nil {
					return failure
				}
				offered := offer{revision: revision, isSighting: isFirst}
				isFirst = false
				if revision != noRevision {
					revision++
				}
				f.post(func() { f.takeFrame(flags, rejected, offered) })
				return nil
			},
		}

		buffer := make([]byte, 32<<10)
		for {
			n, err := open.Read(buffer)
			if failure := reader.feed(buffer[:n]); failure != nil {
				return failure
			}
			if err == io.EOF {
				return nil
			} else if err != nil {
				return err
			}
		}
	})
	if failure, ok := err.(*Error); ok && failure.Code == NetworkError && !opened.IsZero() {
		broken := *failure
		broken.Code = StreamError
		return &broken
	}
	return err
}
