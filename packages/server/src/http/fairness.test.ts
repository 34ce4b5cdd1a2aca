import { afterAll, beforeAll, expect, test } from 'bun:test';
import { type NodeProcess, startNode } from '@halyard/testing';

let node: NodeProcess;

beforeAll(async () => {
  node = await startNode();
}, 60_000);
afterAll(() => node.stop());

/** Requests of each of this many writers, each on a connection of its own, as command lines send them. */
const WRITERS = 10;
const REQUESTS = 30;

/** Reads on a kept connection, one after another, until the work is over. Returns how many were answered. */
async function readsDuring(work: Promise<unknown>): Promise<number> {
  let isOver = false;
  void work.finally(() => {
    isOver = true;
  });
  let reads = 0;
  while (!isOver) {
    await (await fetch(`${node.url}/readyz`)).text();
    reads++;
  }
  await work;
  return reads;
}

function fromFreshConnections(send: (headers: Record<string, string>, index: number) => Promise<Response>) {
  return Promise.all(
    Array.from({ length: WRITERS }, async (_, writer) => {
      for (let count = 0; count < REQUESTS; count++) {
        const answer = await send(
          { Connection: 'close', 'Content-Type': 'application/json' },
          writer * REQUESTS + count,
        );
        await answer.text();
      }
    }),
  );
}

test.each([
  {
    kind: 'writes',
    request: (index: number) => ({ path: '/api/projects', body: { name: `p${index}` } }),
    authorization: () => `Bearer ${node.adminToken}`,
  },
  {
    kind: 'sign-ins without credentials',
    request: (index: number) => ({
      path: '/api/session',
      body: { email: `${index}@example.com`, password: 'x' },
    }),
    authorization: () => undefined,
  },
])(
  'kept connections are served between $kind that come on fresh ones',
  async ({ request, authorization }) => {
    const bearer = authorization();
    const reads = await readsDuring(
      fromFreshConnections((headers, index) => {
        const { path, body } = request(index);
        return fetch(node.url + path, {
          method: 'POST',
          headers: { ...headers, ...(bearer === undefined ? {} : { Authorization: bearer }) },
          body: JSON.stringify(body),
        });
      }),
    );
    expect(reads).toBeGreaterThan((WRITERS * REQUESTS) / 4);
  },
  60_000,
);
