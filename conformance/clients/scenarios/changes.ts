import { sendChange, wrongStreams } from '../answers.ts';
import type { Run } from '../run.ts';
import {
  act,
  close,
  event,
  type Flags,
  manyFlags,
  on,
  open,
  read,
  readMissing,
  readNumber,
  ready,
  type Scenario,
  status,
  steadyNumber,
  verdict,
} from '../scenario.ts';
import { restored } from './order.ts';

/** Sends a change to the open stream, and gives the server the map that results. */
export function change(run: Run, set: Flags, removed: readonly string[] = []): void {
  const rest = Object.entries(run.flags).filter(([key]) => !removed.includes(key));
  const from = run.revision ?? 0;
  run.revision = from + 1;
  run.flags = { ...Object.fromEntries(rest), ...set };
  sendChange(run.stream, { from, to: run.revision, set, removed }, run.flags);
}

/** What is wrong unless the client asked for one stream only, and for changes. */
export const isAlone = (run: Run) => [
  ...wrongStreams(run, 1),
  ...(run.stream.request.query.get('changes') === '1' ? [] : ['changes were not asked for']),
];

const ALL: readonly Omit<Scenario, 'needs'>[] = [
  {
    name: 'changes-are-applied',
    clause: 'C9.1',
    sentence: 'A client that asks for changes sets and removes what they say, and keeps the rest.',
    steps: [
      open(),
      ready(),
      event('READY'),
      readNumber('a', 1),
      act('change'),
      readNumber('a', 2, 5_000),
      event('CONFIGURATION_CHANGED', ['a', 'b', 'c']),
      readMissing('b'),
      readNumber('c', 3),
      act('more'),
      readNumber('c', 4, 5_000),
      event('CONFIGURATION_CHANGED', ['c']),
      readNumber('a', 2),
      close,
      verdict,
    ],
    acts: {
      change: (run) => change(run, { a: on(2), c: on(3) }, ['b']),
      more: (run) => change(run, { c: on(4) }),
    },
    judge: isAlone,
  },
  {
    name: 'an-older-server',
    clause: 'C9.1',
    sentence: 'The frames of a server that does not know changes are read as ever.',
    prepare: (run) => {
      run.knowsChanges = false;
    },
    steps: [
      open(),
      ready(),
      readNumber('a', 1),
      act('two-changes'),
      readNumber('a', 3, 5_000),
      readMissing('b'),
      close,
      verdict,
    ],
    acts: {
      'two-changes': (run) => {
        run.publish({ a: on(2) });
        run.publish({ a: on(3) });
      },
    },
    judge: isAlone,
  },
  {
    name: 'a-removed-key-that-is-not-there',
    clause: 'C9.2',
    sentence: 'A removed key that is not in the map changes nothing, whatever text it is.',
    steps: [
      open(),
      ready(),
      act('change'),
      readNumber('a', 2, 5_000),
      readNumber('__proto__', 7),
      act('remove'),
      readNumber('a', 3, 5_000),
      readMissing('__proto__'),
      read('b', 'string', 'd', { value: 'text' }),
      close,
      verdict,
    ],
    acts: {
      change: (run) =>
        change(run, JSON.parse('{"a":{"enabled":true,"value":2},"__proto__":{"enabled":true,"value":7}}'), [
          'gone',
          'constructor',
          '',
        ]),
      remove: (run) => change(run, { a: on(3) }, ['__proto__', 'toString']),
    },
    judge: isAlone,
  },
  {
    name: 'a-whole-map-after-changes',
    clause: 'C9.2',
    sentence: 'A change from nothing takes the place of everything, also in the middle of a stream.',
    steps: [
      open(),
      ready(),
      act('change'),
      readNumber('a', 2, 5_000),
      act('gap'),
      readNumber('a', 9, 5_000),
      readMissing('b'),
      act('after'),
      readNumber('a', 10, 5_000),
      close,
      verdict,
    ],
    acts: {
      change: (run) => change(run, { a: on(2) }),
      gap: (run) => {
        run.flags = { a: on(9) };
        run.revision = 9;
        sendChange(run.stream, { from: null, to: 9, set: run.flags });
      },
      after: (run) => change(run, { a: on(10) }),
    },
    judge: isAlone,
  },
  {
    name: 'a-restore-in-the-middle-of-a-stream',
    clause: 'C9.2',
    sentence: 'A change from nothing to a lower revision is an older map, which is believed as C2.21 says.',
    ...restored((run) => sendChange(run.stream, { from: null, to: 2, set: run.flags })),
  },
  {
    name: 'a-node-behind-that-catches-up-by-changes',
    clause: 'C9.2',
    sentence:
      'Changes are made to the map of their stream, also while a newer one is at hand from elsewhere.',
    prepare: (run) => {
      run.revision = 5;
      run.flags = { a: on(5) };
    },
    steps: [
      open(),
      ready(),
      act('behind'),
      steadyNumber('a', 5, 100),
      act('catch-up'),
      readNumber('a', 6, 5_000),
      status('ready'),
      close,
      verdict,
    ],
    acts: {
      behind: async (run) => {
        run.revision = 4;
        run.flags = { a: on(4), late: on(1) };
        run.stream.end();
        await run.until('a second stream', () => run.streams.length === 2);
      },
      'catch-up': (run) => {
        change(run, { a: on(5) }, ['late']);
        change(run, { a: on(6) });
      },
    },
    judge: (run) => (run.streams.length === 2 ? [] : ['the node that caught up was left']),
  },
  {
    name: 'a-huge-change',
    clause: 'C9.2',
    sentence: 'A change of ten thousand flags is taken, and so is their removal.',
    steps: [
      open(),
      ready(),
      act('add'),
      {
        do: 'read',
        key: 'flag-9999',
        type: 'string',
        default: 'd',
        expect: { value: `9999 ${'x'.repeat(300)}` },
        withinMs: 8_000,
      },
      act('remove'),
      readNumber('a', 3, 8_000),
      readMissing('flag-9999'),
      close,
      verdict,
    ],
    acts: {
      add: (run) => change(run, manyFlags()),
      remove: (run) => change(run, { a: on(3) }, Object.keys(manyFlags())),
    },
    judge: isAlone,
  },
  {
    name: 'a-flood-of-changes',
    clause: 'C9.2',
    sentence: 'A thousand changes at once are all applied, on the same stream.',
    steps: [
      open(),
      ready(),
      act('flood'),
      readNumber('a', 1_000, 5_000),
      ...[1, 500, 1_000].map((value) => readNumber(`flag-${value}`, value)),
      close,
      verdict,
    ],
    acts: {
      flood: (run) => {
        for (let value = 1; value <= 1_000; value++)
          change(run, { a: on(value), [`flag-${value}`]: on(value) });
      },
    },
    judge: isAlone,
  },
  {
    name: 'a-change-of-nothing',
    clause: 'C9.5',
    sentence: 'An event without a difference counts a revision, and no listener hears of it.',
    steps: [
      open(),
      ready(),
      event('READY'),
      act('nothing'),
      readNumber('a', 2, 5_000),
      event('CONFIGURATION_CHANGED', ['a']),
      close,
      verdict,
    ],
    acts: {
      nothing: (run) => {
        change(run, {});
        change(run, { b: { value: 'text', enabled: true } });
        change(run, { a: on(2) });
      },
    },
    judge: isAlone,
  },
];

/** How changes are read, by clients that ask for them. (C9.1, C9.2 and C9.5) */
export const CHANGES: readonly Scenario[] = ALL.map((scenario) => ({ ...scenario, needs: 'changes' }));
