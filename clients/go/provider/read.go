package provider

import (
	"context"
	"fmt"
	"strconv"

	"github.com/open-feature/go-sdk/openfeature"

	halyard "github.com/halyard-flags/halyard/clients/go"
)

// BooleanEvaluation reads a flag as a boolean; a flag that is off is false.
func (p *Provider) BooleanEvaluation(
	_ context.Context, key string, standard bool, to openfeature.FlattenedContext,
) openfeature.BoolResolutionDetail {
	return read(p, key, standard, to, as[bool])
}

// StringEvaluation reads a flag as a text.
func (p *Provider) StringEvaluation(
	_ context.Context, key string, standard string, to openfeature.FlattenedContext,
) openfeature.StringResolutionDetail {
	return read(p, key, standard, to, as[string])
}

// FloatEvaluation reads a flag as a number.
func (p *Provider) FloatEvaluation(
	_ context.Context, key string, standard float64, to openfeature.FlattenedContext,
) openfeature.FloatResolutionDetail {
	return read(p, key, standard, to, as[float64])
}

// IntEvaluation reads a flag as a whole number.
func (p *Provider) IntEvaluation(
	_ context.Context, key string, standard int64, to openfeature.FlattenedContext,
) openfeature.IntResolutionDetail {
	return read(p, key, standard, to, halyard.Int)
}

// ObjectEvaluation reads a flag as an object, a list or null.
func (p *Provider) ObjectEvaluation(
	_ context.Context, key string, standard any, to openfeature.FlattenedContext,
) openfeature.InterfaceResolutionDetail {
	return read(p, key, standard, to, func(value any) (any, bool) {
		switch value.(type) {
		case nil, map[string]any, []any:
			return value, true
		}
		return nil, false
	})
}

// as gives a value that is of exactly this type.
func as[T any](value any) (T, bool) {
	found, ok := value.(T)
	return found, ok
}

// read answers a read: convert gives the value of the type that was asked for.
// (C1.2 to C1.8, C4.3)
func read[T any](
	p *Provider, key string, standard T, to openfeature.FlattenedContext, convert func(any) (T, bool),
) openfeature.GenericResolutionDetail[T] {
	result := openfeature.GenericResolutionDetail[T]{Value: standard}
	fail := func(err openfeature.ResolutionError) openfeature.GenericResolutionDetail[T] {
		result.ResolutionError, result.Reason = err, openfeature.ErrorReason
		return result
	}

	client := p.Client()
	if client == nil {
		return fail(openfeature.NewProviderNotReadyResolutionError("the provider is not set"))
	}

	target, isKey := targetOf(to)
	found := client.Evaluate(key, target)
	state, _ := found.State()
	switch found.Reason {
	case halyard.ReasonNotReady:
		return fail(openfeature.NewProviderNotReadyResolutionError("no flags have been loaded"))
	case halyard.ReasonNotFound:
		return fail(openfeature.NewFlagNotFoundResolutionError(
			fmt.Sprintf("the flag %s does not exist in %s", key, client.Environment())))
	}

	result.FlagMetadata = openfeature.FlagMetadata{"environment": client.Environment(), "enabled": state.Enabled}
	if state.HasRollout {
		result.FlagMetadata["rolloutPct"] = state.RolloutPct
	}
	// OpenFeature knows only "missing" for what is no key.
	isUntargeted := !isKey && found.Reason == halyard.ReasonSplit && state.RolloutPct > 0
	if found.Reason == halyard.ReasonUntargeted || isUntargeted {
		return fail(openfeature.NewTargetingKeyMissingResolutionError(
			fmt.Sprintf("the flag %s has a partial rollout: it needs a targeting key", key)))
	}

	result.Reason = reasonOf(found)
	if !found.On {
		result.Variant = "off"
		if value, ok := any(&result.Value).(*bool); ok {
			*value = false
		}
		return result
	}

	if !found.HasValue {
		found.Value = true
	}
	value, ok := convert(found.Value)
	if !ok {
		return fail(openfeature.NewTypeMismatchResolutionError(fmt.Sprintf("the flag %s is of another type", key)))
	}
	result.Value, result.Variant = value, "on"
	return result
}

// targetOf gives whom a read is for. A number counts as its text; anything
// else that is not text is no key.
func targetOf(to openfeature.FlattenedContext) (target halyard.Target, isKey bool) {
	switch key := to[openfeature.TargetingKey].(type) {
	case nil:
		return halyard.Target{}, true
	case string:
		return halyard.For(key), true
	case int:
		return halyard.For(strconv.Itoa(key)), true
	case int64:
		return halyard.For(strconv.FormatInt(key, 10)), true
	case float64:
		return halyard.For(strconv.FormatFloat(key, 'f', -1, 64)), true
	}
	return halyard.Anonymous(), false
}

func reasonOf(found halyard.Evaluation) openfeature.Reason {
	switch {
	case found.On && found.Cached:
		return openfeature.CachedReason
	case found.On && found.Stale:
		return "STALE"
	case found.Reason == halyard.ReasonDisabled:
		return openfeature.DisabledReason
	case found.Reason == halyard.ReasonSplit:
		return openfeature.SplitReason
	}
	return openfeature.StaticReason
}
