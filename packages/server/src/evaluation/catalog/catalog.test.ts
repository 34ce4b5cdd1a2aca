import { afterEach, beforeEach, describe, expect, jest, test } from 'bun:test';
import { formatProjectKey } from '@halyard/protocol';
import type { LogRow } from '../../domain/change-log.ts';
import { Catalog, type CatalogCallbacks, type CatalogContents } from './catalog.ts';

const KEY = formatProjectKey(new Uint8Array(32).fill(1));
const DIGEST = Bun.SHA256.hash(KEY, 'hex');

const CONTENTS: CatalogContents = {
  projects: [{ id: 'p', name: 'demo' }],
  environments: [{ id: 'e', projectId: 'p', name: 'production', revision: 3 }],
  states: [{ environmentId: 'e', flagKey: 'a', state: '{"enabled":true}' }],
  keys: [
    {
      id: 'k',
      projectId: 'p',
      digest: DIGEST,
      environments: '["production"]',
      expiresAt: null,
      revokedAt: null,
    },
  ],
  relays: [],
};

function setUp(contents = CONTENTS, now = Date.now) {
  const heard: string[] = [];
  /** The events of the stream of changes. */
  const changes: string[] = [];
  const callbacks: CatalogCallbacks = {
    changed: (environment, row, difference) => {
      heard.push(`changed ${environment.name} ${row.revision}`);
      changes.push(new TextDecoder().decode(environment.change(difference)));
    },
    environmentGone: (id) => heard.push(`environment gone ${id}`),
    keyGone: (id) => heard.push(`key gone ${id}`),
    malformed: ({ kind, id }) => heard.push(`malformed ${kind} ${id}`),
  };
  const catalog = new Catalog(callbacks, now);
  catalog.load(contents);
  return { catalog, heard, changes };
}

function row(part: Partial<LogRow> & Pick<LogRow, 'kind'>, payload: unknown): LogRow {
  return {
    seq: 1,
    changeId: 'c',
    projectId: 'p',
    payload: JSON.stringify(payload),
    actor: 'system',
    at: 0,
    ...part,
  };
}

function changeRow(revision: number, operations: unknown): LogRow {
  return row({ kind: 'flags.changed', environmentId: 'e', revision }, operations);
}

function mapOf(catalog: Catalog): string {
  return new TextDecoder().decode(catalog.environment('p', 'production')?.whole().bytes);
}

describe('Catalog', () => {
  test('while a state is loaded in steps, what was there before is served; then all of it is there at once', () => {
    const { catalog } = setUp();
    const flags = Array.from({ length: 5000 }, (_, n) => `flag-${n}`);
    const steps = catalog.loading({
      projects: [{ id: 'p', name: 'demo', usage: true }],
      environments: [{ id: 'e', projectId: 'p', name: 'production', revision: 9 }],
      states: flags.map((flagKey) => ({ environmentId: 'e', flagKey, state: '{"enabled":false}' })),
      keys: [],
      relays: [{ id: 'r', digest: 'd' }],
    });
    let count = 0;
    for (const _ of steps) {
      count++;
      expect(catalog.environmentWithId('e')).toMatchObject({ revision: 3, size: 1 });
      expect([catalog.keys.authenticate(KEY)?.id, catalog.relays.size]).toEqual(['k', 0]);
    }
    expect(count).toBeGreaterThan(10);
    expect(catalog.environmentWithId('e')).toMatchObject({ revision: 9, size: 5000, wantsUsage: true });
    expect([catalog.keys.authenticate(KEY), catalog.relays.size]).toEqual([undefined, 1]);
  });

  test('an answer with one flag is rebuilt after each change', () => {
    const { catalog } = setUp();
    const single = () => new TextDecoder().decode(catalog.environment('p', 'production')?.flag('a')?.bytes);
    expect(single()).toBe('{"environment":"production","key":"a","enabled":true}');
    catalog.apply(changeRow(4, [['a', '{"enabled":false}']]));
    expect(single()).toBe('{"environment":"production","key":"a","enabled":false}');
  });

  test('a key of a missing project grants no access, from the snapshot or the log', () => {
    const [key] = CONTENTS.keys;
    const lost = { ...key, projectId: 'another' } as (typeof CONTENTS.keys)[number];
    const { catalog, heard } = setUp({ ...CONTENTS, keys: [lost] });
    expect(catalog.keys.authenticate(KEY)).toBeUndefined();
    catalog.apply(row({ kind: 'key.created', projectId: 'another' }, { ...key }));
    expect(catalog.keys.authenticate(KEY)).toBeUndefined();
    expect(heard).toEqual(['malformed key k', 'malformed key k']);
    catalog.apply(row({ kind: 'project.created', projectId: 'another' }, { name: 'another' }));
    catalog.apply(row({ kind: 'key.created', projectId: 'another' }, { ...key }));
    expect(catalog.keys.authenticate(KEY)?.id).toBe('k');
  });

  test('serves what the snapshot held', () => {
    const { catalog } = setUp();
    expect(mapOf(catalog)).toBe('{"environment":"production","flags":{"a":{"enabled":true}}}');
    expect(catalog.keys.authenticate(KEY)?.id).toBe('k');
    expect(catalog.projectId('demo')).toBe('p');
  });

  test('a change raises the revision by one and is announced once', () => {
    const { catalog, heard } = setUp();
    catalog.apply(
      changeRow(4, [
        ['a', null],
        ['b', '{"enabled":false,"value":{"2":1,"1":2}}'],
      ]),
    );
    expect(mapOf(catalog)).toBe(
      '{"environment":"production","flags":{"b":{"enabled":false,"value":{"2":1,"1":2}}}}',
    );
    expect(heard).toEqual(['changed production 4']);
  });

  test('the event of a change has what differs for readers, and nothing else', () => {
    const { catalog, changes } = setUp();
    const operations: [string, string | null][][] = [
      [
        ['b', '{"enabled":true,"value":1.0}'],
        ['c"', '{"enabled":false}'],
        ['__proto__', '{"enabled":true}'],
      ],
      // Damaged counts as absent, and members that are not served make no difference.
      [
        ['a', '{"enabled":1}'],
        ['b', '{"enabled":true,"value":1.0,"new":1}'],
        ['d', '[]'],
      ],
      [
        ['c"', null],
        ['b', '{"enabled":true,"value":1}'],
      ],
      [['gone', null]],
    ];
    for (const [index, row] of operations.entries()) catalog.apply(changeRow(4 + index, row));

    expect(changes.map((text) => text.slice('event: change\ndata: '.length, -2))).toEqual([
      '{"from":3,"to":4,"set":{"b":{"enabled":true,"value":1.0},"c\\"":{"enabled":false},"__proto__":{"enabled":true}},"removed":[]}',
      '{"from":4,"to":5,"set":{},"removed":["a"]}',
      '{"from":5,"to":6,"set":{"b":{"enabled":true,"value":1}},"removed":["c\\""]}',
      '{"from":6,"to":7,"set":{},"removed":[]}',
    ]);
  });

  test.each([3, 5])('a change that makes revision %d after 3 is refused', (revision) => {
    const { catalog, heard } = setUp();
    expect(() => catalog.apply(changeRow(revision, []))).toThrow('after 3');
    expect(heard).toEqual([]);
  });

  test('bytes are built once per revision', () => {
    const environment = setUp().catalog.environment('p', 'production');
    expect(environment?.frame()).toBe(environment?.frame() as Uint8Array);
    expect(environment?.whole()).toBe(environment?.whole() as never);
    expect(environment?.flag('a')).toBe(environment?.flag('a') as never);
  });

  test('a revoked key grants no access from its row on', () => {
    const { catalog, heard } = setUp();
    catalog.apply(row({ kind: 'key.revoked' }, { id: 'k', digest: DIGEST }));
    expect(catalog.keys.authenticate(KEY)).toBeUndefined();
    expect(heard).toEqual(['key gone k']);
  });

  test('a key whose revocation cannot be read counts as revoked', () => {
    const { catalog } = setUp({
      ...CONTENTS,
      keys: CONTENTS.keys.map((key) => ({ ...key, revokedAt: 'yesterday' })),
    });
    expect(catalog.keys.authenticate(KEY)).toBeUndefined();
  });

  test('deleting a project removes its environments and keys', () => {
    const { catalog, heard } = setUp();
    catalog.apply(row({ kind: 'project.deleted' }, {}));
    expect(catalog.environment('p', 'production')).toBeUndefined();
    expect(catalog.keys.authenticate(KEY)).toBeUndefined();
    expect(heard).toEqual(['environment gone e', 'key gone k']);
  });

  const damagedStates: [string, unknown][] = [
    ['null', null],
    ['a number', 7],
    ['broken JSON', '{"enabled":tru'],
    ['an array', '[]'],
    ['no enabled', '{"value":1}'],
    ['enabled of a wrong type', '{"enabled":1}'],
    ['a rollout beyond 100', '{"enabled":true,"rolloutPct":101}'],
    ['bytes', new Uint8Array(3)],
  ];

  test.each(damagedStates)(
    'a stored state that is %s counts as absent and hurts no other flag',
    (_, state) => {
      const { catalog, heard } = setUp({
        ...CONTENTS,
        states: [...CONTENTS.states, { environmentId: 'e', flagKey: 'bad', state }],
      });
      expect(mapOf(catalog)).toBe('{"environment":"production","flags":{"a":{"enabled":true}}}');
      expect(heard).toEqual(['malformed flag e/bad']);
    },
  );

  test('members the specification does not name, and line breaks, never leave', () => {
    const { catalog } = setUp({
      ...CONTENTS,
      states: [{ environmentId: 'e', flagKey: 'a', state: '{"enabled":true,\n"secret":1,"value":1.0}' }],
    });
    expect(mapOf(catalog)).toBe('{"environment":"production","flags":{"a":{"enabled":true,"value":1.0}}}');
  });
});

describe('key expiry', () => {
  beforeEach(() => {
    jest.useFakeTimers();
  });
  afterEach(() => {
    jest.useRealTimers();
  });

  test('announces an expired key on time, without a request', () => {
    const now = Date.now();
    const { catalog, heard } = setUp({
      ...CONTENTS,
      keys: CONTENTS.keys.map((key) => ({ ...key, expiresAt: now + 5000 })),
    });
    jest.advanceTimersByTime(4900);
    expect(heard).toEqual([]);
    jest.advanceTimersByTime(200);
    expect(heard).toEqual(['key gone k']);
    catalog.close();
  });

  test('an expiry beyond the longest timer does not fire at once', () => {
    const { catalog, heard } = setUp({
      ...CONTENTS,
      keys: CONTENTS.keys.map((key) => ({ ...key, expiresAt: Date.now() + 60 * 86_400_000 })),
    });
    jest.advanceTimersByTime(1000);
    expect(heard).toEqual([]);
    catalog.close();
  });
  test('ends streams within a second also after a clock change or a sleeping machine', () => {
    let now = 1_000_000;
    const keys = CONTENTS.keys.map((key) => ({ ...key, expiresAt: now + 3_600_000 }));
    const { catalog, heard } = setUp({ ...CONTENTS, keys }, () => now);
    now += 3_600_000;
    jest.advanceTimersByTime(1000);
    expect(heard).toEqual(['key gone k']);
    catalog.close();
  });

  test('a clock that was wrong for a while ends no key permanently', () => {
    let now = 1_000_000;
    const keys = CONTENTS.keys.map((key) => ({ ...key, expiresAt: now + 3_600_000 }));
    const { catalog, heard } = setUp({ ...CONTENTS, keys }, () => now);
    now += 4_000_000;
    jest.advanceTimersByTime(1000);
    expect(catalog.keys.authenticate(KEY)).toBeUndefined();
    expect(catalog.keys.size).toBe(0);
    now -= 4_000_000;
    jest.advanceTimersByTime(1000);
    expect(catalog.keys.authenticate(KEY)).toBeDefined();
    expect(catalog.keys.size).toBe(1);
    now += 3_600_000;
    jest.advanceTimersByTime(1000);
    expect(heard).toEqual(['key gone k', 'key gone k']);
    catalog.close();
  });
});

describe('a large row that is prepared', () => {
  const awkward = '],["\\"\ud83d\ude00],[\\';
  const place = { kind: 'flags.changed', environmentId: 'e', revision: 4 } as const;
  const operations = (key: (index: number) => string) =>
    Array.from({ length: 4000 }, (_, index) => {
      const value = index % 7 === 0 ? awkward.repeat(10) : 'x'.repeat(index % 90);
      return [key(index), index % 5 === 0 ? null : JSON.stringify({ enabled: true, value })] as const;
    });

  /** The frame of the environment, and what was heard. */
  function outcome({ catalog, ...noted }: ReturnType<typeof setUp>) {
    const environment = catalog.environmentWithId('e');
    return {
      ...noted,
      frame: new TextDecoder().decode(environment?.frame()),
      revision: environment?.revision,
    };
  }

  test.each([
    ['keys as flags have them', (index: number) => `flag-${(index * 7919) % 3000}`, true],
    ['keys that look like the end of an operation', (index: number) => `${index}],[`, false],
  ] as const)('leaves what it leaves in one piece, with %s', (_, key, isPrepared) => {
    const large = row(place, operations(key));
    const [whole, prepared] = [setUp(), setUp()];
    whole.catalog.apply(large);
    const before = outcome(setUp());

    let steps = 0;
    for (const _step of prepared.catalog.prepare(large) ?? []) {
      steps++;
      expect(outcome(prepared)).toEqual(before);
    }
    expect(steps > 5).toBe(isPrepared);
    prepared.catalog.apply(large);
    expect(outcome(prepared)).toEqual(outcome(whole));

    const next = row({ ...place, revision: 5 }, [['a', '{"enabled":false}']]);
    for (const { catalog } of [whole, prepared]) catalog.apply(next);
    expect(outcome(prepared)).toEqual(outcome(whole));
  });

  test('that is not the next one is not applied instead of another', () => {
    const { catalog, heard, changes } = setUp();
    const large = row(
      place,
      operations((index) => `flag-${index}`),
    );
    for (const _step of catalog.prepare(large) ?? []);
    catalog.apply(row(place, [['a', '{"enabled":false}']]));
    expect(heard).toEqual(['changed production 4']);
    expect(outcome({ catalog, heard, changes }).frame).toBe('data: {"a":{"enabled":false}}\n\n');
    expect(() => [...(catalog.prepare(large) ?? [])]).toThrow('makes revision 4 after 4');
  });

  test('is no other row', () => {
    const { catalog } = setUp();
    expect(catalog.prepare(row(place, [['a', null]]))).toBeUndefined();
  });
});
