import { stall } from '../answers.ts';
import type { Run } from '../run.ts';
import {
  act,
  close,
  ENVIRONMENT,
  on,
  open,
  read,
  readNumber,
  ready,
  type Scenario,
  verdict,
} from '../scenario.ts';

/** The reports that a run got, as counts by flag. */
const reportsOf = (run: Run) =>
  run.requests
    .filter(({ path }) => path === '/usage/v1')
    // Whatever came; what is wrong with it fails the comparison.
    .map(
      ({ body }) =>
        JSON.parse(body) as { env?: string; flags?: Record<string, { on?: number; off?: number }> },
    );

const noReports = (run: Run) => (reportsOf(run).length === 0 ? [] : ['a report that was not asked for']);

/** Reports of reads. (C7) */
export const USAGE: readonly Scenario[] = [
  {
    name: 'reports-that-are-not-asked-for',
    clause: 'C7.1',
    sentence: 'A server that does not ask gets no reports.',
    steps: [open(), ready(), readNumber('a', 1), readNumber('a', 1), close, verdict],
    judge: noReports,
  },
  {
    name: 'reports-that-the-application-refuses',
    clause: 'C7.1',
    sentence: 'An application that does not want to report does not.',
    prepare: (run) => {
      run.headers = { 'X-Flags-Usage': '60' };
    },
    steps: [open({ reportUsage: false }), ready(), readNumber('a', 1), close, verdict],
    judge: noReports,
  },
  {
    name: 'reports-asked-for-by-a-comment',
    clause: 'C7.1',
    sentence: 'A project that begins to want reports asks on open streams.',
    steps: [
      open(),
      ready(),
      readNumber('a', 1),
      act('ask'),
      readNumber('a', 2, 5_000),
      read('b', 'string', 'd', { value: 'text' }),
      read('b', 'string', 'd', { value: 'text' }),
      close,
      verdict,
    ],
    acts: {
      ask: (run) => {
        run.stream.write(': usage 60\n\n');
        run.publish({ ...run.flags, a: on(2) });
      },
    },
    judge: (run) => {
      const counts = reportsOf(run).map(({ flags }) => flags?.b?.on ?? 0);
      return counts.length === 1 && counts[0] === 2 ? [] : [`the reports counted ${counts}, not 2`];
    },
  },
  {
    name: 'what-is-in-a-report',
    clause: 'C7.2',
    sentence: 'A report counts reads of flags that exist, on and off, names no one, and has the key.',
    prepare: (run) => {
      run.headers = { 'X-Flags-Usage': '60' };
      run.flags = {
        a: on(1),
        off: { enabled: false },
        part: { enabled: true, rolloutPct: 0 },
        unread: on(1),
      };
    },
    steps: [
      open(),
      ready(),
      readNumber('a', 1),
      read('a', 'integer', -1, { value: 1 }, 'canary-of-a-person'),
      read('off', 'boolean', true, { value: false }),
      read('part', 'boolean', true, { value: false }, 'canary-of-a-person'),
      read('absent', 'boolean', true, { value: true }),
      close,
      verdict,
    ],
    judge: (run) => {
      const found = reportsOf(run).map(({ env, flags = {} }) => [
        env,
        Object.entries(flags)
          .map(([key, { on: ons = 0, off = 0 }]) => `${key} ${ons} ${off}`)
          .sort(),
      ]);
      const posts = run.requests.filter(({ path }) => path === '/usage/v1');
      const expected = [[ENVIRONMENT, ['a 2 0', 'off 0 1', 'part 0 1']]];

      return [
        ...(Bun.deepEquals(found, expected) ? [] : [`the reports were ${JSON.stringify(found)}`]),
        ...(posts.every(({ headers }) => headers.get('x-service-key') === run.apiKey)
          ? []
          : ['a report without the key']),
        ...(posts.every(({ method }) => method === 'POST') ? [] : ['a report that is not a POST']),
        ...(posts.every(({ body }) => !body.includes('canary')) ? [] : ['a report names a person']),
      ];
    },
  },
  {
    name: 'a-report-without-an-answer',
    clause: 'C7.4',
    sentence: 'close() does not wait for a report that gets no answer.',
    prepare: (run) => {
      run.headers = { 'X-Flags-Usage': '60' };
      run.onUsage = stall;
    },
    steps: [open(), ready(), readNumber('a', 1), close, verdict],
    judge: (run) => (reportsOf(run).length === 1 ? [] : [`${reportsOf(run).length} reports instead of one`]),
  },
];
