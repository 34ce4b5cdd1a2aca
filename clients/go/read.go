package halyard

import "math"

// Target says whom a read is for. The zero Target names no one: then that of
// the [Options] counts.
type Target struct {
	kind targetKind
	key  string
}

type targetKind uint8

const (
	unnamed targetKind = iota
	named
	anonymous
)

// For names a target by its targeting key, which decides partial rollouts.
// The empty text is a key like any other.
func For(targetingKey string) Target { return Target{kind: named, key: targetingKey} }

// Anonymous is a target without a key, as a visitor who has not signed in: it
// is outside of every partial rollout.
func Anonymous() Target { return Target{kind: anonymous} }

// Reason says what decided a read.
type Reason string

// Reasons of reads.
const (
	ReasonStatic     Reason = "static"     // the flag is on for everyone
	ReasonSplit      Reason = "split"      // a partial rollout decided
	ReasonDisabled   Reason = "disabled"   // the flag is off
	ReasonUntargeted Reason = "untargeted" // a partial rollout, and no target to decide by: on, as its switch says
	ReasonNotFound   Reason = "not_found"  // the flag does not exist
	ReasonNotReady   Reason = "not_ready"  // no flags have been loaded yet
)

// Evaluation is the result of a read, with the reason for it.
type Evaluation struct {
	Key string
	// On tells whether the flag is on for the target.
	On bool
	// Value is the flag's value if it is on: nil, bool, float64, string,
	// []any or map[string]any. HasValue tells nil from no value.
	Value    any
	HasValue bool
	Reason   Reason
	// Stale tells whether the flags may be out of date, and Cached whether the
	// server has sent none yet: they are from an earlier run or a bootstrap.
	Stale, Cached bool
	flag          *flag
}

// State is what the server says of a flag, before any rollout is decided.
type State struct {
	Enabled    bool    // its switch
	HasRollout bool    // whether it has a rollout
	RolloutPct float64 // the percentage of that
}

// State gives the flag's state; it is not ok for a flag that does not exist.
func (e Evaluation) State() (state State, ok bool) {
	if e.flag == nil {
		return State{}, false
	}
	return State{Enabled: e.flag.enabled, HasRollout: e.flag.hasPct, RolloutPct: e.flag.pct}, true
}

// Enabled tells whether a flag is on for a target; false if that is unknown.
func (c *Client) Enabled(key string, target ...Target) bool {
	return c.read(key, target, true).On
}

// Evaluate reads a flag and gives the reason as well. A read that a partial
// rollout cannot decide for want of a target is not counted.
func (c *Client) Evaluate(key string, target ...Target) Evaluation {
	result := c.read(key, target, false)
	result.Value = copied(result.Value)
	return result
}

// Value gives a flag's value if the flag is on for the target and its value
// has the default's type, and the default otherwise. A whole number can be
// read as an integer; every number can be read as a float64.
func Value[T bool | string | int | int64 | float64 | []any | map[string]any](
	c *Client, key string, standard T, target ...Target,
) T {
	result := c.read(key, target, true)
	if !result.HasValue {
		return standard
	}

	value := result.Value
	switch any(standard).(type) {
	case int:
		if number, ok := Int(value); ok {
			value = int(number)
		}
	case int64:
		if number, ok := Int(value); ok {
			value = number
		}
	case []any, map[string]any:
		value = copied(value)
	}

	if value, ok := value.(T); ok {
		return value
	}
	c.reportOnce(&Error{Code: TypeMismatch, Message: "the value is of another type than the default", FlagKey: key})
	return standard
}

// Int gives the integer that a value of a flag holds, if it is a whole number
// that a float64 holds exactly.
func Int(value any) (int64, bool) {
	number, ok := value.(float64)
	if !ok || number != math.Trunc(number) || math.Abs(number) > 1<<53 {
		return 0, false
	}
	return int64(number), true
}

// read answers every read, from memory. (C1.1)
func (c *Client) read(key string, targets []Target, countsUntargeted bool) Evaluation {
	target := c.o.Target
	if len(targets) > 0 && targets[0].kind != unnamed {
		target = targets[0]
	}

	flags := c.flags.Load()
	result := Evaluation{Key: key, Reason: ReasonNotReady, Stale: c.Status() != Ready, Cached: !c.isLoaded.Load()}
	if flags != nil {
		result.flag = (*flags)[key]
		result.On, result.Reason = result.flag.decide(key, target)
	}
	if result.On && result.flag.hasValue {
		result.Value, result.HasValue = result.flag.value, true
	}

	isCounted := result.Reason != ReasonUntargeted || countsUntargeted
	if isCounted && result.flag != nil && c.usage.isAsked.Load() {
		result.flag.count(result.On)
	}
	if isCounted && result.Reason == ReasonUntargeted {
		c.warnUntargeted(key)
	}
	if c.o.OnRead != nil {
		c.tell(result)
	}
	return result
}
