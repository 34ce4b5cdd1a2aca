import { beginStream, changeOf, inTurn, serveStream, stall, wrongStreams } from '../answers.ts';
import type { Exchange } from '../exchange.ts';
import type { Run } from '../run.ts';
import {
  act,
  close,
  event,
  on,
  open,
  readMissing,
  readNumber,
  ready,
  type Scenario,
  status,
  steadyNumber,
  verdict,
} from '../scenario.ts';
import { change, isAlone } from './changes.ts';
import { recovery } from './maps.ts';

/** Begins a stream with these bytes in place of its first event. */
const streamOf = (text: string) => (exchange: Exchange, run: Run) => {
  beginStream(exchange, run);
  exchange.write(text);
};

/** Events that are called changes and cannot be read as such. */
const NO_CHANGES = [
  'event: change\ndata: {"from":1,"to":2,"set":{"a":\n\n',
  'event: change\ndata: null\n\n',
  'event: change\ndata: [1]\n\n',
  'event: change\ndata: {}\n\n',
  'event: change\ndata: {"from":null,"to":2,"removed":[]}\n\n',
  'event: change\ndata: {"from":1,"to":2,"set":[{"enabled":true}],"removed":[]}\n\n',
  'event: change\ndata: {"from":1,"to":2,"set":null,"removed":[]}\n\n',
  'event: change\ndata: {"from":null,"to":2,"set":{"error":"internal_error"},"removed":[]}\n\n',
];

/** States that no client may take. */
const POISON = { a: on(99) };

const ALL: readonly Omit<Scenario, 'needs'>[] = [
  {
    name: 'a-change-of-another-revision',
    clause: 'C9.3',
    sentence: 'A change of another map than the one at hand is not applied: the stream is opened again.',
    prepare: (run) => {
      run.onRest = stall;
      const broken = [7, 0, -1, 1.5, '"1"' as never, true as never].map((from) => (exchange: Exchange) => {
        beginStream(exchange, run);
        exchange.write(
          changeOf({ from: null, to: 1, set: run.flags }) + changeOf({ from, to: 8, set: POISON }),
        );
      });
      run.onStream = inTurn(...broken, stall);
    },
    steps: [open({ timeScale: 0.02 }), ready(), act('all-sent'), steadyNumber('a', 1, 100), close, verdict],
    acts: { 'all-sent': (run) => run.until('a stream after each of them', () => run.streams.length > 6) },
  },
  {
    name: 'a-change-before-any-map',
    clause: 'C9.3',
    sentence: 'A stream that begins with a change of a map that it did not bring is opened again.',
    prepare: (run) => {
      run.onRest = stall;
      run.onStream = inTurn(streamOf(changeOf({ from: 1, to: 2, set: POISON })), serveStream);
    },
    steps: [open(), readNumber('a', 1, 8_000), status('ready'), close, verdict],
    judge: (run) => wrongStreams(run, 2),
  },
  {
    name: 'a-lost-change-is-made-up-for',
    clause: 'C9.3',
    sentence: 'A client that missed a change opens the stream again and has the newest map.',
    steps: [
      open(),
      ready(),
      event('READY'),
      act('lose'),
      readNumber('a', 3, 8_000),
      event('CONFIGURATION_CHANGED', ['a', 'c']),
      readNumber('c', 2),
      status('ready'),
      close,
      verdict,
    ],
    acts: {
      lose: (run) => {
        run.revision = 2;
        run.flags = { ...run.flags, c: on(2) };
        change(run, { a: on(3) });
      },
    },
    judge: (run) => wrongStreams(run, 2),
  },
  {
    name: 'half-a-change',
    clause: 'C9.4',
    sentence: 'A change that the end of the stream cuts off is dropped, even if its JSON is whole.',
    prepare: (run) => {
      run.onRest = stall;
      run.onStream = inTurn((exchange) => {
        beginStream(exchange, run);
        exchange.write(changeOf({ from: null, to: 1, set: run.flags }));
        exchange.write(changeOf({ from: 1, to: 2, set: POISON }).slice(0, -1));
        exchange.end();
      }, stall);
    },
    steps: [open(), ready(), act('asked-again'), steadyNumber('a', 1, 100), close, verdict],
    acts: { 'asked-again': (run) => run.until('a second stream', () => run.streams.length === 2) },
  },
  {
    name: 'events-of-other-names',
    clause: 'C9.4',
    sentence:
      'Events with another name are ignored, whatever they hold, and changes follow each other across them.',
    steps: [open(), ready(), act('send'), readNumber('a', 2, 5_000), close, verdict],
    acts: {
      send: (run) => {
        const poison = changeOf({ from: 1, to: 2, set: POISON });
        for (const name of ['changes', 'Change', 'other', 'change ', '__proto__'])
          run.stream.write(poison.replace('event: change', `event: ${name}`));
        run.stream.write('event: later\ndata: nonsense\n\n');
        change(run, { a: on(2) });
      },
    },
    judge: isAlone,
  },
  {
    name: 'changes-that-cannot-be-read',
    clause: 'C9.4',
    sentence: 'An event that is no change ends the stream; the map stays, and the next stream is followed.',
    ...recovery(
      NO_CHANGES.map((text) => (exchange, run) => {
        beginStream(exchange, run);
        exchange.write(changeOf({ from: null, to: 1, set: run.flags }) + text);
      }),
    ),
  },
  {
    name: 'a-damaged-flag-in-a-change',
    clause: 'C9.4',
    sentence: 'What is no flag state in a change is left out, and holds back nothing else.',
    steps: [
      open(),
      ready(),
      act('damage'),
      readNumber('a', 2, 5_000),
      readMissing('b'),
      act('alone'),
      readNumber('c', 3, 5_000),
      readMissing('a'),
      close,
      verdict,
    ],
    acts: {
      damage: (run) => change(run, { a: on(2), b: { enabled: 'yes' }, d: on(4) }),
      alone: (run) => {
        change(run, { a: null });
        change(run, { c: on(3) });
      },
    },
    judge: isAlone,
  },
];

/** How clients that ask for changes treat those that they cannot apply or read. (C9.3 and C9.4) */
export const BROKEN_CHANGES: readonly Scenario[] = ALL.map((scenario) => ({ ...scenario, needs: 'changes' }));
