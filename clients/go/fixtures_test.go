package halyard

import (
	"bytes"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"os"
	"reflect"
	"strings"
	"testing"
	"time"
)

// fixture reads a file of facts that every client agrees on.
func fixture(t *testing.T, name string, into any) {
	t.Helper()
	data, err := os.ReadFile("../../conformance/fixtures/" + name)
	if err == nil {
		err = json.Unmarshal(data, into)
	}
	if err != nil {
		t.Fatal(err)
	}
}

func TestEvaluationFixture(t *testing.T) {
	var file struct {
		Cases []struct {
			Name, FlagKey string
			State         json.RawMessage
			TargetingKey  any
			Expected      map[string]any
		}
	}
	fixture(t, "evaluation.json", &file)
	for _, one := range file.Cases {
		t.Run(one.Name, func(t *testing.T) {
			var state *flag
			if one.State != nil {
				flags, _, err := parseMap([]byte(`{"it":` + string(one.State) + `}`))
				if err != nil {
					t.Fatal(err)
				}
				state = flags["it"]
			}
			var target Target
			if one.TargetingKey != nil {
				target = For(fmt.Sprint(one.TargetingKey))
			}
			isOn, reason := state.decide(one.FlagKey, target)
			found := map[string]any{"isOn": isOn, "reason": strings.Replace(string(reason), "not_found", "missing", 1), "ofrep": one.Expected["ofrep"]}
			if isOn && state.hasValue {
				found["value"] = state.value
			}
			if !reflect.DeepEqual(found, one.Expected) {
				t.Errorf("got %v, want %v", found, one.Expected)
			}
		})
	}
}

func TestRolloutFixture(t *testing.T) {
	var file struct {
		Hashes []struct {
			Text string
			Hash uint32
		}
		Buckets []struct {
			FlagKey, TargetingKey string
			Bucket                float64
		}
	}
	fixture(t, "rollout.json", &file)
	for _, one := range file.Hashes {
		if hash := murmur3([]byte(one.Text)); hash != one.Hash {
			t.Errorf("%q: %d, want %d", one.Text, hash, one.Hash)
		}
	}
	for _, one := range file.Buckets {
		in := isInRollout(one.FlagKey, one.TargetingKey, (one.Bucket+1)/1000)
		out := isInRollout(one.FlagKey, one.TargetingKey, one.Bucket/1000)
		if !in || out {
			t.Errorf("%v is not in its bucket", one)
		}
	}
	for buckets := range uint64(100_001) {
		if found := bucketsOf(float64(buckets) / 1_000); found != buckets {
			t.Fatalf("%d buckets are %d", buckets, found)
		}
	}
	if isInRollout("a", "\xed\xa0\x80", 50) != isInRollout("a", "\uFFFD", 50) {
		t.Error("half of a surrogate pair is not U+FFFD (C4.5)")
	}
}

func TestRevisionsFixture(t *testing.T) {
	var file struct {
		Cases []struct {
			Name  string
			Steps []struct {
				Ask     string
				WaitMs  int
				Verdict string
				Offer   *struct {
					Revision   *int64
					IsSighting bool
					AskedAs    string
				}
			}
		}
	}
	fixture(t, "revisions.json", &file)
	verdicts := map[string]verdict{"keep": keep, "take": take, "reset": reset}
	for _, one := range file.Cases {
		t.Run(one.Name, func(t *testing.T) {
			gate := gate{scaled: func(d time.Duration) time.Duration { return d }}
			now := time.Now()
			asked := map[string]int{}
			for i, step := range one.Steps {
				now = now.Add(time.Duration(step.WaitMs) * time.Millisecond)
				if step.Ask != "" {
					asked[step.Ask] = gate.tick()
				}
				if step.Offer == nil {
					continue
				}
				offered := offer{revision: noRevision, isSighting: step.Offer.IsSighting, askedAt: asked[step.Offer.AskedAs]}
				if step.Offer.Revision != nil {
					offered.revision = *step.Offer.Revision
				}
				if found := gate.judge(offered, now); found != verdicts[step.Verdict] {
					t.Fatalf("step %d: %v, want %s", i+1, found, step.Verdict)
				}
			}
		})
	}
}

func TestEventStreamFixture(t *testing.T) {
	var file struct {
		Cases []struct {
			Name, Text, Hex string
			Events          []map[string]string
			Comments        int
			Retries         []int
		}
	}
	fixture(t, "event-stream.json", &file)
	for _, one := range file.Cases {
		t.Run(one.Name, func(t *testing.T) {
			data := []byte(one.Text)
			if one.Hex != "" {
				data, _ = hex.DecodeString(one.Hex)
			}
			want := fmt.Sprint(one.Comments, one.Retries)
			for _, event := range one.Events {
				if event["type"] == "" {
					want += fmt.Sprintf(" %q", event["data"])
				}
			}
			check := func(pieces ...[]byte) {
				t.Helper()
				frames, comments, retries := "", 0, []int{}
				p := parser{
					// The reader of the JSON replaces bytes that are no UTF-8.
					onData: func(data []byte) error {
						frames += fmt.Sprintf(" %q", string(bytes.Runes(data)))
						return nil
					},
					onComment: func(string) { comments++ },
					onRetry:   func(d time.Duration) { retries = append(retries, int(d.Milliseconds())) },
				}
				for _, piece := range pieces {
					if err := p.feed(piece); err != nil {
						t.Fatal(err)
					}
				}
				if found := fmt.Sprint(comments, retries) + frames; found != want {
					t.Fatalf("got %s, want %s", found, want)
				}
			}
			var bytewise, withEmpty [][]byte
			for i := range data {
				check(data[:i], data[i:])
				bytewise = append(bytewise, data[i:i+1])
				withEmpty = append(withEmpty, data[i:i+1], nil)
			}
			check(data)
			check(bytewise...)
			check(withEmpty...)
		})
	}
}

func TestEndlessFrame(t *testing.T) {
	p := parser{}
	piece := bytes.Repeat([]byte("x"), 1<<20)
	for range 32 {
		if err := p.feed(piece); err != nil {
			t.Fatal("32 MiB are not too many", err)
		}
	}
	if err := p.feed(piece); err == nil {
		t.Fatal("a frame has no end, and is read on")
	}
}

func TestDamagedMembers(t *testing.T) {
	deep := strings.Repeat("[", 64) + "1" + strings.Repeat("]", 64)
	flags, rejected, err := parseMap([]byte(`{"good":{"enabled":true},"deep":{"enabled":true,"value":` + deep + `},
		"a":{"enabled":true,"value":[` + deep + `]},"b":{"enabled":1},"c":{"Enabled":true},"d":null,"e":[],
		"f":{"enabled":true,"rolloutPct":null},"g":{"enabled":true,"rolloutPct":100.1},"h":{"enabled":true,"value":1e999}}`))
	if err != nil || len(flags) != 2 || len(rejected) != 8 || flags["good"] == nil || flags["deep"] == nil {
		t.Errorf("flags %v, rejected %v, error %v", flags, rejected, err)
	}
	for _, data := range []string{`null`, `[]`, `1`, `{"error":"x"}`, `{"a":{"enabled":true}`, ``} {
		if _, _, err := parseMap([]byte(data)); err == nil {
			t.Errorf("%s is no map", data)
		}
	}
}

func TestBackoff(t *testing.T) {
	b := backoff{scaled: func(d time.Duration) time.Duration { return d }, first: time.Second}
	for i, limit := range []time.Duration{1, 2, 4, 8, 16, 30, 30} {
		if d := b.after(&Error{Code: NetworkError, RetryAfter: time.Minute}) - time.Minute; d < 0 || d > limit*time.Second {
			t.Errorf("failure %d: %v", i+1, d)
		}
	}
	b.failures = 0
	for i, limit := range []time.Duration{60, 120, 240, 300, 300} {
		if d := b.after(&Error{Status: 401}); d < limit*time.Second/2 || d > limit*time.Second {
			t.Errorf("refusal %d: %v", i+1, d)
		}
	}
	for text, want := range map[string]time.Duration{"7": 7 * time.Second, "99999": time.Hour, "soon": 0, "-1": 0, "": 0,
		time.Now().Add(90 * time.Minute).UTC().Format("Mon, 02 Jan 2006 15:04:05 GMT"): time.Hour} {
		if found := retryAfter(text, time.Now()); found != want {
			t.Errorf("Retry-After %q: %v, want %v", text, found, want)
		}
	}
}
