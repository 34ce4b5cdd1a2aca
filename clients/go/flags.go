package halyard

import (
	"encoding/json"
	"maps"
	"math"
	"reflect"
	"strings"
	"sync/atomic"
	"unicode/utf8"
)

// flag is the state of one flag. It never changes, but for its counts.
type flag struct {
	enabled  bool
	hasValue bool
	hasPct   bool
	value    any
	pct      float64
	reads    *reads
}

// reads counts how often a flag was on for its reader, and how often off.
type reads struct{ on, off atomic.Int64 }

// flagMap is one map of flags. It never changes.
type flagMap map[string]*flag

// maxDepth is how deep values may be nested: servers take no deeper ones.
const maxDepth = 64

// parseMap reads a flag map. Members that are no flag states are left out and
// listed in rejected; data of another shape is an error. (C2.7, C2.8)
func parseMap(data []byte) (flags flagMap, rejected []string, failure *Error) {
	var states map[string]map[string]any
	if json.Unmarshal(data, &states) != nil {
		states = parseDamaged(data)
	}
	if states == nil {
		return nil, nil, &Error{Code: InvalidResponse, Message: "it is not a flag map"}
	}

	flags = make(flagMap, len(states))
	for key, members := range states {
		if state := flagOf(members); state != nil {
			flags[key] = state
		} else {
			rejected = append(rejected, key)
		}
	}

	// Members, but no flag among them: an error body or a wrapper.
	if len(states) > 0 && len(flags) == 0 {
		return nil, nil, &Error{Code: InvalidResponse, Message: "it is not a flag map"}
	}
	return flags, rejected, nil
}

// parseDamaged reads the members of a map one by one, so that one that cannot
// be read holds back no other. It takes twice as long.
func parseDamaged(data []byte) map[string]map[string]any {
	var members map[string]json.RawMessage
	if json.Unmarshal(data, &members) != nil || members == nil {
		return nil
	}
	states := make(map[string]map[string]any, len(members))
	for key, member := range members {
		var state map[string]any
		if json.Unmarshal(member, &state) != nil {
			state = nil
		}
		states[key] = state
	}
	return states
}

// flagOf makes a flag of the members of a state; nil if it is none. They are a
// map, since the names of a struct's fields would match in any case.
func flagOf(members map[string]any) *flag {
	value, hasValue := members["value"]
	given, hasPct := members["rolloutPct"]
	enabled, isBool := members["enabled"].(bool)
	pct, isNumber := given.(float64)
	// A percentage that cannot be read is not 100: the flag would be on for everyone.
	if !isBool || !isShallow(value, maxDepth) || hasPct && !(isNumber && pct >= 0 && pct <= 100) {
		return nil
	}
	return &flag{enabled: enabled, hasValue: hasValue, hasPct: hasPct, value: value, pct: pct}
}

func isShallow(value any, depth int) bool {
	switch value := value.(type) {
	case map[string]any:
		for _, member := range value {
			if !isShallow(member, depth-1) {
				return false
			}
		}
		return depth > 0
	case []any:
		for _, member := range value {
			if !isShallow(member, depth-1) {
				return false
			}
		}
		return depth > 0
	}
	return true
}

// reconcile puts the states of before into next where they are equal, and
// lists the keys that were added, changed or removed.
func reconcile(before, next flagMap) (changed []string) {
	for key, state := range next {
		old := before[key]
		if old != nil && old.equals(state) {
			next[key] = old
		} else {
			changed = append(changed, key)
		}
	}
	for key := range before {
		if next[key] == nil {
			changed = append(changed, key)
		}
	}
	return changed
}

func (f *flag) equals(other *flag) bool {
	return f.enabled == other.enabled && f.hasValue == other.hasValue && f.hasPct == other.hasPct &&
		f.pct == other.pct && reflect.DeepEqual(f.value, other.value)
}

// decide evaluates a flag for a target; f may be nil. It is the one place that
// says whether a flag is on: conformance/fixtures/evaluation.json. (C4.1, C4.3)
func (f *flag) decide(key string, target Target) (isOn bool, reason Reason) {
	switch {
	case f == nil:
		return false, ReasonNotFound
	case !f.enabled:
		return false, ReasonDisabled
	case !f.hasPct || f.pct == 100:
		return true, ReasonStatic
	case target.kind == unnamed && f.pct > 0:
		return true, ReasonUntargeted
	}
	return target.kind == named && isInRollout(key, target.key, f.pct), ReasonSplit
}

// isInRollout compares the bucket of a target, one of 100,000, with a percentage.
func isInRollout(flagKey, targetingKey string, pct float64) bool {
	var buffer [128]byte // longer keys take an allocation
	text := append(buffer[:0], flagKey...)
	text = append(append(text, ':'), targetingKey...)
	if !utf8.Valid(text) {
		text = []byte(strings.ToValidUTF8(string(text), "\uFFFD"))
	}
	return uint64(murmur3(text))*100_000>>32 < bucketsOf(pct)
}

// bucketsOf is how many buckets a percentage includes. Three digits behind the
// point are often a little less as a float.
func bucketsOf(pct float64) uint64 { return uint64(math.Floor(pct*1_000 + 0.5)) }

// murmur3 is MurmurHash3 x86 with 32 bits and seed 0.
func murmur3(data []byte) uint32 {
	const c1, c2 = 0xcc9e2d51, 0x1b873593
	var hash, block uint32
	whole := len(data) / 4 * 4
	for i := 0; i < whole; i += 4 {
		block = uint32(data[i]) | uint32(data[i+1])<<8 | uint32(data[i+2])<<16 | uint32(data[i+3])<<24
		block *= c1
		hash ^= (block<<15 | block>>17) * c2
		hash = (hash<<13|hash>>19)*5 + 0xe6546b64
	}

	block = 0
	for i := len(data) - 1; i >= whole; i-- {
		block = block<<8 | uint32(data[i])
	}
	block *= c1
	hash ^= (block<<15 | block>>17) * c2

	hash ^= uint32(len(data))
	hash = (hash ^ hash>>16) * 0x85ebca6b
	hash = (hash ^ hash>>13) * 0xc2b2ae35
	return hash ^ hash>>16
}

// copied gives a value that the application may change. Only objects and lists
// can be changed, so only they are copied.
func copied(value any) any {
	switch value := value.(type) {
	case map[string]any:
		object := maps.Clone(value)
		for name, member := range object {
			object[name] = copied(member)
		}
		return object
	case []any:
		list := make([]any, len(value))
		for i, member := range value {
			list[i] = copied(member)
		}
		return list
	}
	return value
}
