package halyard

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

const (
	renewState = 5 * time.Minute // how often flags that stay as they are are written again
	saveAfter  = time.Second     // changes that come faster are written together
)

// state keeps the last flags in a file: the version of the text, when they
// were last known to be current, the checksum of the JSON, and the JSON, as the
// TypeScript client writes it. (C6.1, C6.3)
type state struct {
	client    *Client
	isPending bool // whether a change waits to be written
	wasReady  bool
	savedAt   time.Time
}

// saveSoon writes the flags a moment after a change.
func (f *follower) saveSoon() {
	if f.o.StatePath != "" && f.state.wasReady && !f.state.isPending {
		f.state.isPending = true
		f.save.set(f.o.scaled(saveAfter))
	}
}

// saveNow writes the flags that are current, or were until now. They are not
// written twice in a moment at the end, as by a short program.
func (f *follower) saveNow(isReady bool) {
	s := &f.state
	if f.o.StatePath == "" || !isReady && !s.wasReady {
		return
	}

	f.save.stop()
	if isReady {
		f.save.set(f.o.scaled(renewState))
	}

	if isReady || s.isPending || time.Since(s.savedAt) >= f.o.scaled(saveAfter) {
		if err := f.o.writeState(*f.flags.Load(), time.Now()); err != nil {
			f.report(f.o.safe(err, StateError))
		}
		s.savedAt = time.Now()
	}
	s.wasReady, s.isPending = isReady, false
}

// writeState replaces the file atomically; only its owner may read it.
func (o *Options) writeState(flags flagMap, now time.Time) error {
	states := make(map[string]map[string]any, len(flags))
	for key, state := range flags {
		members := map[string]any{"enabled": state.enabled}
		if state.hasValue {
			members["value"] = state.value
		}
		if state.hasPct {
			members["rolloutPct"] = state.pct
		}
		states[key] = members
	}

	var text bytes.Buffer
	encoder := json.NewEncoder(&text)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(map[string]any{"environment": o.Environment, "flags": states}); err != nil {
		return err
	}
	data := bytes.TrimSuffix(text.Bytes(), []byte("\n"))

	file, err := os.CreateTemp(filepath.Dir(o.StatePath), filepath.Base(o.StatePath)+".*") // mode 0600
	if err != nil {
		return err
	}
	defer os.Remove(file.Name()) // not there after the renaming
	_, err = fmt.Fprintf(file, "halyard/1 %d %d %s", now.UnixMilli(), murmur3(data), data)
	if closing := file.Close(); err == nil {
		err = closing
	}
	if err == nil {
		err = os.Rename(file.Name(), o.StatePath)
	}
	return err
}

// readState gives the flags of the file; nil when they cannot be used. (C6.4)
func (o *Options) readState(now time.Time) flagMap {
	info, err := os.Stat(o.StatePath)
	if err != nil || info.Size() > maxBytes {
		return nil
	}
	text, err := os.ReadFile(o.StatePath)
	if err != nil {
		return nil
	}

	parts := strings.SplitN(string(text), " ", 4)
	if len(parts) != 4 || parts[0] != "halyard/1" || parts[2] != strconv.FormatUint(uint64(murmur3([]byte(parts[3]))), 10) {
		return nil
	}
	keptAt, err := strconv.ParseInt(parts[1], 10, 64)
	if err != nil || o.StateMaxAge > 0 && now.Sub(time.UnixMilli(keptAt)) > o.StateMaxAge {
		return nil
	}

	flags, _, failure := parseAnswer([]byte(parts[3]), o.Environment)
	if failure != nil {
		return nil
	}
	return flags
}

// loadSeed gives the flags to answer with until the first load: the last ones,
// or else the bootstrap. (C6.2, C6.5)
func (c *Client) loadSeed() flagMap {
	var seed flagMap
	if c.o.StatePath != "" {
		seed = c.o.readState(time.Now())
	}
	if seed == nil && len(c.o.Bootstrap) > 0 {
		var failure *Error
		if seed, _, failure = parseAnswer(c.o.Bootstrap, c.o.Environment); failure != nil {
			seed, _, _ = parseMap(c.o.Bootstrap)
		}
	}
	c.usage.count(seed)
	return seed
}
