import { describe, expect, spyOn, test } from 'bun:test';
import { type FlagRead, type FlagsClient, observeReads } from '../src/index.ts';
import { isInRollout } from '../src/rollout.ts';
import { createTestClient } from '../src/testing.ts';
import { settle } from './support/fake-platform.ts';

const FLAGS = {
  plain: { enabled: true },
  off: { enabled: false, value: 'secret' },
  text: { enabled: true, value: 'hello' },
  'new-checkout': { enabled: true, value: 'new', rolloutPct: 51.93 }, // user-1 is inside, user-3 is not
  rolled: { enabled: true, rolloutPct: 50 },
  none: { enabled: true, rolloutPct: 0 },
};

const ROLLED = isInRollout('rolled', 'user-1', 50);

function observed(
  listener?: (read: FlagRead, client: FlagsClient) => unknown,
  onError?: (thrown: unknown) => void,
) {
  const reads: FlagRead[] = [];
  const client = createTestClient({ environment: 'production', flags: FLAGS, targetingKey: 'user-3' });
  const flags = observeReads(client, listener ?? ((read) => reads.push(read)), onError);
  return { client, flags, reads };
}

describe('observeReads', () => {
  test('tells what each read gave, to whom and why', () => {
    const { flags, reads } = observed();
    expect(flags.isEnabled('new-checkout')).toBe(false);
    expect(flags.isEnabled('new-checkout', { targetingKey: 'user-1' })).toBe(true);
    expect(flags.getValue('text', 'default')).toBe('hello');
    expect(flags.evaluate('text', 1).value).toBe(1);
    const common = { environment: 'production', stale: false };
    expect(reads).toEqual([
      {
        ...common,
        key: 'new-checkout',
        value: false,
        enabled: false,
        reason: 'split',
        targetingKey: 'user-3',
        state: FLAGS['new-checkout'],
      },
      {
        ...common,
        key: 'new-checkout',
        value: true,
        enabled: true,
        reason: 'split',
        targetingKey: 'user-1',
        state: FLAGS['new-checkout'],
      },
      {
        ...common,
        key: 'text',
        value: 'hello',
        enabled: true,
        reason: 'static',
        targetingKey: 'user-3',
        state: FLAGS.text,
      },
      {
        ...common,
        key: 'text',
        value: 1,
        enabled: true,
        reason: 'error',
        errorCode: 'type_mismatch',
        targetingKey: 'user-3',
        state: FLAGS.text,
      },
    ]);
  });

  test.each([
    ['plain', true, 'static'],
    ['off', false, 'disabled'],
    ['text', true, 'static'],
    ['rolled', ROLLED, 'split'],
    ['none', false, 'split'],
    ['absent', false, 'error'],
  ] as const)('the value of a boolean read of %s is what it gave', (key, value, reason) => {
    const { flags, reads } = observed();
    expect(flags.isEnabled(key, { targetingKey: 'user-1' })).toBe(value);
    expect(reads).toEqual([expect.objectContaining({ key, value, reason })]);
  });

  test('tells of a fallback', () => {
    const { flags, reads } = observed();
    expect(flags.isEnabled('absent', { fallback: true })).toBe(true);
    expect(reads).toEqual([
      expect.objectContaining({ value: true, enabled: false, errorCode: 'flag_not_found' }),
    ]);
  });

  test('everything else is the client’s own, as it is now', async () => {
    const { client, flags, reads } = observed();
    const { getState, all, onChange } = flags;
    const changed: string[] = [];
    onChange((change) => changed.push(...change.changed));
    client.set('plain', false);
    client.goStale();
    expect([flags.status, flags.revision, flags.environment]).toEqual(['stale', 2, 'production']);
    expect(getState('plain')).toEqual({ enabled: false });
    expect(all()).toBe(client.all());
    expect(changed).toEqual(['plain']);
    client.isEnabled('plain'); // the client itself is not observed
    expect(reads).toEqual([]);
    await flags.close();
    expect(client.status).toBe('closed');
  });

  test('a listener that fails disturbs no read, and is reported', async () => {
    const thrown: unknown[] = [];
    const failures = [
      () => {
        throw 'at once';
      },
      () => Promise.reject('later'),
    ];
    for (const listener of failures)
      expect(observed(listener, (each) => thrown.push(each)).flags.isEnabled('plain')).toBe(true);
    await settle();
    expect(thrown).toEqual(['at once', 'later']);
    const throwing = () => {
      throw 'again';
    };
    expect(observed(throwing, throwing).flags.isEnabled('plain')).toBe(true);
  });

  test('a failing listener is warned about once when no onError is given', () => {
    const warn = spyOn(console, 'warn').mockImplementation(() => {});
    try {
      const { flags } = observed(() => {
        throw new Error('no');
      });
      for (let i = 0; i < 3; i++) expect(flags.getValue('text', '')).toBe('hello');
      expect(warn).toHaveBeenCalledTimes(1);
    } finally {
      warn.mockRestore();
    }
  });

  test('tells a read once for each flag, user and result, if asked to', () => {
    const client = createTestClient({ flags: FLAGS, targetingKey: 'user-3' });
    const heard: string[] = [];
    const flags = observeReads(
      client,
      ({ key, targetingKey, value }) => heard.push(`${key} ${targetingKey} ${value}`),
      {
        once: true,
      },
    );
    for (let i = 0; i < 3; i++) {
      flags.isEnabled('plain');
      flags.getValue('text', '');
      flags.isEnabled('plain', { targetingKey: 'user-1' });
    }
    client.set('text', { enabled: true, value: 'bye' });
    flags.getValue('text', '');
    expect(heard).toEqual(['plain user-3 true', 'text user-3 hello', 'plain user-1 true', 'text user-3 bye']);
  });

  test('reads of the listener itself are not observed', () => {
    let count = 0;
    const { flags } = observed(() => {
      count++;
      flags.isEnabled('off');
    });
    flags.isEnabled('plain');
    flags.isEnabled('plain');
    expect(count).toBe(2);
  });

  test('a listener that reads the observed client after it has awaited something does not stop the process', async () => {
    let heard = 0;
    const errors: unknown[] = [];
    const client = createTestClient({ flags: FLAGS });
    const flags = observeReads(
      client,
      async () => {
        heard++;
        await null;
        flags.isEnabled('plain');
      },
      (thrown) => errors.push(thrown),
    );
    flags.isEnabled('plain');
    await settle(); // the event loop turns
    expect(heard).toBe(10_000);
    expect(errors).toEqual([expect.any(RangeError)]);
  });

  test('a listener that waits reads from the client that it is given, and is not heard', async () => {
    let heard = 0;
    const { flags } = observed(async (_, client) => {
      heard++;
      await null;
      client.isEnabled('plain');
    });
    flags.isEnabled('plain');
    await settle();
    expect(heard).toBe(1);
  });

  test('options that cannot be read count as no options', () => {
    const { flags, reads } = observed();
    const options = {
      get targetingKey(): string {
        throw new Error('no');
      },
    };
    expect(flags.isEnabled('plain', options)).toBe(true);
    expect(reads[0]?.targetingKey).toBe('user-3');
  });
});
