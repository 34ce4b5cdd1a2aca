import { DOWN_AND_UP, frameOf, openSilently, refuseBusy, stall } from '../answers.ts';
import {
  act,
  close,
  on,
  open,
  readNumber,
  ready,
  type Scenario,
  status,
  steadyNumber,
  verdict,
} from '../scenario.ts';

/** The end. (C8) */
export const END: readonly Scenario[] = [
  {
    name: 'closed-at-once',
    clause: 'C8.1',
    sentence: 'A client that is closed right after it was opened leaves nothing, and can be closed twice.',
    steps: [open(), close, close, status('closed'), verdict],
  },
  {
    name: 'closed-while-nothing-answers',
    clause: 'C8.1',
    sentence: 'A client that waits for its first answers can be closed.',
    prepare: (run) => {
      run.onStream = stall;
      run.onRest = stall;
    },
    steps: [open(), act('both-asked'), close, status('closed'), verdict],
    acts: {
      'both-asked': (run) =>
        run.until(
          'the stream and REST are asked',
          () => run.count('/v1/stream') * run.count('/v1/flags') > 0,
        ),
    },
  },
  {
    name: 'closed-between-two-attempts',
    clause: 'C8.1',
    sentence: 'A client that waits for its next attempt makes none after close().',
    prepare: (run) => {
      run.onStream = refuseBusy;
      run.onRest = refuseBusy;
    },
    steps: [open({ timeScale: 0.05 }), ready('failed'), close, status('closed'), verdict],
  },
  {
    name: 'closed-while-stale',
    clause: 'C8.1',
    sentence: 'A client that lost its connection is closed like any other.',
    steps: [
      open({ timeScale: 0.01 }),
      ready(),
      act('down'),
      status('stale'),
      act('up'),
      close,
      status('closed'),
      verdict,
    ],
    acts: DOWN_AND_UP,
  },
  {
    name: 'closed-in-a-flood',
    clause: 'C8.1',
    sentence: 'A client is closed though frames come all the time.',
    prepare: (run) => {
      run.onStream = (exchange) => {
        openSilently(exchange, run);
        run.every(1, () => exchange.write(frameOf(run.flags)));
      };
    },
    steps: [open(), ready(), close, status('closed'), verdict],
  },
  {
    name: 'reads-after-the-end',
    clause: 'C8.3',
    sentence: 'A closed client answers with the flags that it had.',
    steps: [
      open(),
      ready(),
      close,
      readNumber('a', 1),
      act('change'),
      steadyNumber('a', 1, 100),
      status('closed'),
      verdict,
    ],
    acts: { change: (run) => run.publish({ a: on(2) }) },
  },
];
