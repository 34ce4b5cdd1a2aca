import { expect, test } from 'bun:test';
import { connect } from 'node:net';
import { Management, startNode, within } from '@halyard/testing';

const CLIENTS = 20;

/** The outcome of one client that sends requests on one connection until an answer announces its end. */
interface Outcome {
  readonly answers: number;
  readonly end: 'announced' | 'lost';
}

/** Asks again and again, each time at once. Calls `onAnswer` after each answer. */
function askOn(url: string, key: string, onAnswer: () => void): Promise<Outcome> {
  const { hostname, port } = new URL(url);
  const request = `GET /v1/flags/a?env=production HTTP/1.1\r\nHost: ${hostname}\r\nX-Service-Key: ${key}\r\n\r\n`;
  const { promise, resolve } = Promise.withResolvers<Outcome>();
  const socket = connect({ host: hostname, port: Number(port) }, () => socket.write(request));
  let answers = 0;
  let received = '';
  socket.on('data', (data) => {
    received += data.toString('latin1');
    const [head, body = ''] = received.split('\r\n\r\n', 2);
    if (head === undefined || body.length < Number(/content-length: (\d+)/i.exec(head)?.[1] ?? 1)) return;
    received = '';
    answers++;
    onAnswer();
    if (/^connection: close$/im.test(head)) socket.end(() => resolve({ answers, end: 'announced' }));
    else socket.write(request);
  });
  // A reset closes it too; the request's outcome shows which one it was.
  socket.on('error', () => {});
  socket.on('close', () => resolve({ answers, end: 'lost' }));
  return promise;
}

test.each(['1', '2'])(
  'a stopping node with %s workers answers the requests on open connections, then closes them',
  async (workers) => {
    const node = await startNode({ env: { HALYARD_DRAIN_SECONDS: '10', HALYARD_WORKERS: workers } });
    try {
      const management = new Management(node);
      await management.createProject('demo');
      const { key } = await management.createKey('demo', ['production']);
      await management.putState('demo', 'production', 'a', { enabled: true });
      const busy = Promise.withResolvers<void>();
      let answers = 0;
      const onAnswer = () => {
        if (++answers === 10 * CLIENTS) busy.resolve();
      };
      const clients = Array.from({ length: CLIENTS }, () => askOn(node.url, key, onAnswer));
      await within('every client has had ten answers', busy.promise, 30_000);
      const exitCode = node.stop();
      const outcomes = await Promise.all(clients);
      expect(outcomes.map(({ end }) => end)).toEqual(clients.map(() => 'announced'));
      expect(await exitCode).toBe(0);
    } finally {
      await node.stop();
    }
  },
  60_000,
);
