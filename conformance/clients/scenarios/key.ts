import { openSilently } from '../answers.ts';
import type { Exchange } from '../exchange.ts';
import type { Run } from '../run.ts';
import {
  close,
  event,
  open,
  read,
  readNumber,
  ready,
  type Scenario,
  status,
  steadyNumber,
  verdict,
} from '../scenario.ts';

const silent = (run: Run) => (run.requests.length === 0 ? [] : ['a client that cannot work made a request']);

/** A client that makes no request, and says that only a person can mend it. */
const refused = [
  ready('failed'),
  event('ERROR'),
  read('a', 'integer', -1, { value: -1, errorCode: 'PROVIDER_FATAL' }),
  status('failed'),
  close,
] as const;

/** Where the key goes. (C5) */
export const KEY: readonly Scenario[] = [
  {
    name: 'the-key-in-its-header',
    clause: 'C5.1',
    sentence: 'The key is in its header, without the line break that files add, and nowhere else.',
    prepare: (run) => {
      // Answers that repeat what they were sent, so that it shows up in errors.
      run.onStream = (exchange) =>
        exchange.json(500, { error: 'internal_error', message: `the key ${run.apiKey} failed` });
    },
    steps: [open({ apiKey: ' {key}\n' }), ready(), readNumber('a', 1), close, verdict],
    judge: (run) =>
      run.requests.every(({ headers }) => headers.get('x-service-key') === run.apiKey)
        ? []
        : ['a request has another key, or none'],
  },
  {
    name: 'redirects-to-another-host',
    clause: 'C5.2',
    sentence: 'A redirect is a failure: neither another host nor another path is asked.',
    prepare: async (run) => {
      const foreign = await run.openForeign();
      const codes = [301, 302, 303, 307, 308];
      let count = 0;
      const redirect = (exchange: Exchange) => {
        const code = codes[count++ % codes.length] ?? 302;
        const location = count % 3 === 0 ? '/elsewhere' : `${foreign}/v1/flags`;
        exchange.answer(code, '', { Location: location });
      };
      run.onStream = redirect;
      run.onRest = redirect;
    },
    steps: [open({ timeScale: 0.02 }), ready('failed'), steadyNumber('a', -1, 600), close, verdict],
    judge: (run) => [
      ...(run.foreignConnections === 0 ? [] : ['another host was asked']),
      ...(run.count('/elsewhere') === 0 ? [] : ['another path was asked']),
    ],
  },
  {
    name: 'plain-http-to-another-machine',
    clause: 'C5.3',
    sentence: 'The key is not sent over plain HTTP to an address that is not loopback.',
    steps: [open({ baseUrl: 'http://0.0.0.0:{port}' }), ...refused, verdict],
    judge: silent,
  },
  {
    name: 'plain-http-that-is-allowed',
    clause: 'C5.3',
    sentence: 'It is, if the application says so.',
    steps: [
      open({ baseUrl: 'http://0.0.0.0:{port}', insecure: true }),
      ready(),
      readNumber('a', 1),
      close,
      verdict,
    ],
  },
  {
    name: 'a-base-address-with-a-path',
    clause: 'C5.3',
    sentence: 'localhost is loopback, and a slash at the end of an address does not matter.',
    prepare: (run) => {
      run.onStream = openSilently;
    },
    steps: [open({ baseUrl: 'http://localhost:{port}/' }), ready(), readNumber('a', 1), close, verdict],
  },
  {
    name: 'options-that-cannot-work',
    clause: 'C5.5',
    sentence: 'Wrong options raise nothing and ask nothing.',
    steps: [
      open({ apiKey: '' }),
      ...refused,
      open({ environment: '' }),
      ...refused,
      open({ baseUrl: 'no address' }),
      ...refused,
      open({ baseUrl: 'ftp://127.0.0.1:{port}' }),
      ...refused,
      open({ apiKey: 'proj_live_\u0007 ü' }),
      ...refused,
      verdict,
    ],
    judge: silent,
  },
];
