import { afterEach, beforeEach, describe, expect, type Mock, spyOn, test } from 'bun:test';
import { evaluateAll } from '../src/evaluate-all.ts';
import { type OverrideOptions, overrideFlags } from '../src/override.ts';
import type { FlagStorage } from '../src/store.ts';
import { createTestClient } from '../src/testing.ts';

let warnings: Mock<typeof console.warn>;
const page = globalThis as { location?: { search: string } };
beforeEach(() => {
  warnings = spyOn(console, 'warn').mockImplementation(() => {});
});
afterEach(() => {
  warnings.mockRestore();
  delete page.location;
  for (const name of Object.keys(process.env))
    if (name.startsWith('HALYARD_OVERRIDE_')) delete process.env[name];
});

function memory(text?: string): FlagStorage & { text: string | undefined } {
  return {
    text,
    getItem() {
      return this.text ?? null;
    },
    setItem(_, kept) {
      this.text = kept;
    },
  };
}

function overridden(options?: OverrideOptions, environment = 'staging') {
  const client = createTestClient({
    environment,
    flags: {
      checkout: { enabled: false, value: 'new' },
      size: { enabled: true, value: 10 },
      rolled: { enabled: true, rolloutPct: 0 },
    },
  });
  return { client, flags: overrideFlags(client, options) };
}

describe('overrideFlags', () => {
  test('forces every kind of read, and leaves the original client alone', () => {
    const { client, flags } = overridden();
    flags.overrides.set('checkout', true);
    flags.overrides.set('size', { enabled: true, value: 20 });
    flags.overrides.set('rolled', true);
    flags.overrides.set('unknown', true);

    expect(flags.isEnabled('checkout')).toBe(true);
    expect(flags.getValue('checkout', 'old')).toBe('new'); // the server's value
    expect(flags.getValue('size', 0)).toBe(20);
    expect(flags.evaluate('size', 0)).toEqual({
      key: 'size',
      value: 20,
      enabled: true,
      stale: false,
      reason: 'override',
      state: { enabled: true, value: 20 },
    });
    expect(flags.evaluate('size', 'ten')).toMatchObject({ value: 'ten', errorCode: 'type_mismatch' });
    expect(flags.isEnabled('rolled', { targetingKey: 'ana' })).toBe(true);
    expect(flags.getState('unknown')).toEqual({ enabled: true });
    expect(evaluateAll(flags).flags).toEqual({
      checkout: { enabled: true, value: 'new' },
      size: { enabled: true, value: 20 },
      rolled: { enabled: true },
      unknown: { enabled: true },
    });

    expect(client.isEnabled('checkout')).toBe(false);
    expect(flags.isEnabled('checkout', { from: 'bootstrap' })).toBe(false);
    expect(flags.status).toBe('ready');
  });

  test('says what is forced and by what: the address, then what was set, then the variables', () => {
    page.location = { search: '?halyard.checkout=on&halyard.size=30&other=1' };
    process.env.HALYARD_OVERRIDE_SIZE = '40';
    process.env.HALYARD_OVERRIDE_ROLLED = 'on';
    const storage = memory('{"size":{"enabled":true,"value":50},"rolled":{"enabled":false}}');
    const { flags } = overridden({ storage });
    expect(flags.overrides.list()).toEqual([
      { key: 'checkout', source: 'query', state: { enabled: true } },
      { key: 'size', source: 'query', state: { enabled: true, value: 30 } },
      { key: 'rolled', source: 'storage', state: { enabled: false } },
    ]);
    expect(warnings.mock.calls.join()).toContain('overridden here only: checkout, size');

    flags.overrides.clear('size');
    flags.overrides.clear('rolled');
    expect(flags.getValue('size', 0)).toBe(40);
    expect(flags.isEnabled('rolled')).toBe(true);
    expect(JSON.parse(storage.text ?? '')).toEqual({});
  });

  test('keeps what was set for the next page, and takes damaged storage for empty', () => {
    const storage = memory();
    overridden({ storage }).flags.overrides.set('checkout', true);
    expect(overridden({ storage }).flags.isEnabled('checkout')).toBe(true);
    expect(overridden({ storage: memory('{broken') }).flags.overrides.list()).toEqual([]);
  });

  test('tells listeners of overrides and of the server’s changes, with the flags as they are here', () => {
    const { client, flags } = overridden();
    const heard: unknown[] = [];
    const stop = flags.onChange(({ changed, flags: now }) => heard.push([changed, now.checkout?.enabled]), {
      keys: ['checkout'],
    });
    flags.overrides.set('checkout', true);
    flags.overrides.set('size', false);
    client.set('checkout', { enabled: false, value: 'newer' });
    flags.overrides.clear();
    stop();
    flags.overrides.set('checkout', true);
    expect(heard).toEqual([
      [['checkout'], true],
      [['checkout'], true],
      [['checkout', 'size'], false],
    ]);
    const before = flags.all();
    expect(flags.all()).toBe(before);
  });

  test('does nothing in production unless asked to', () => {
    process.env.HALYARD_OVERRIDE_CHECKOUT = 'on';
    const { flags } = overridden(undefined, 'production');
    flags.overrides.set('checkout', true);
    expect([flags.isEnabled('checkout'), flags.overrides.enabled, flags.overrides.list()]).toEqual([
      false,
      false,
      [],
    ]);
    expect(warnings.mock.calls.join()).toContain('overrides are disabled here');
    expect(overridden({ enabled: true }, 'production').flags.isEnabled('checkout')).toBe(true);
  });
});
