import { DOWN_AND_UP } from '../answers.ts';
import {
  act,
  close,
  event,
  on,
  open,
  read,
  readNumber,
  ready,
  type Scenario,
  status,
  verdict,
} from '../scenario.ts';

/** Flags of the last run. (C6) */
export const STATE: readonly Scenario[] = [
  {
    name: 'flags-are-kept',
    clause: 'C6.1',
    sentence: 'What changed last is in the file, so that the next start has it.',
    steps: [
      open({ statePath: true }),
      ready(),
      act('change'),
      readNumber('a', 2, 5_000),
      close,
      act('down'),
      open({ statePath: true, timeScale: 0.1 }),
      ready('bootstrapped'),
      readNumber('a', 2),
      close,
      verdict,
    ],
    acts: { change: (run) => run.publish({ ...run.flags, a: on(2) }), ...DOWN_AND_UP },
  },
  {
    name: 'a-start-without-a-server',
    clause: 'C6.2',
    sentence:
      'A start from the file is stale and says so, until the first map of the server, whatever its revision.',
    prepare: (run) => {
      run.revision = 900;
    },
    steps: [
      open({ statePath: true }),
      ready(),
      close,
      act('down'),
      open({ statePath: true, timeScale: 0.05 }),
      ready('bootstrapped'),
      status('stale'),
      read('a', 'integer', -1, { value: 1, reason: 'CACHED', errorCode: null }),
      act('back'),
      readNumber('a', 3, 8_000),
      event('CONFIGURATION_CHANGED', ['a', 'b']),
      status('ready'),
      close,
      verdict,
    ],
    acts: {
      ...DOWN_AND_UP,
      back: async (run) => {
        run.revision = 3;
        run.flags = { a: on(3) };
        await run.up();
      },
    },
  },
  {
    name: 'the-age-of-kept-flags',
    clause: 'C6.3',
    sentence: 'Flags are as old as their last proof, however often a client started from them since.',
    steps: [
      open({ statePath: true }),
      ready(),
      close,
      act('down'),
      act('wait'),
      open({ statePath: true, timeScale: 0.05 }),
      ready('bootstrapped'),
      close,
      open({ statePath: true, stateMaxAgeMs: 1_000, timeScale: 0.05 }),
      ready('failed'),
      readNumber('a', -1),
      close,
      open({ statePath: true, stateMaxAgeMs: 600_000, timeScale: 0.05 }),
      ready('bootstrapped'),
      readNumber('a', 1),
      close,
      verdict,
    ],
    acts: { ...DOWN_AND_UP, wait: () => Bun.sleep(1_200) },
  },
  {
    name: 'a-bootstrap',
    clause: 'C6.5',
    sentence: 'A bootstrap answers until the server does.',
    prepare: (run) => {
      run.flags = { a: on(2) };
    },
    steps: [
      act('down'),
      open({ timeScale: 0.05, bootstrap: { a: on(1) } }),
      ready('bootstrapped'),
      status('stale'),
      read('a', 'integer', -1, { value: 1, reason: 'CACHED' }),
      act('up'),
      readNumber('a', 2, 8_000),
      status('ready'),
      close,
      verdict,
    ],
    acts: DOWN_AND_UP,
  },
];
