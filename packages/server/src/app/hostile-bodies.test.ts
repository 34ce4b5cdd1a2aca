import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test';
import { Management, type NodeProcess, startNode } from '@halyard/testing';

setDefaultTimeout(120_000);

const MEGABYTE = 1_000_000;

/** More memory than an honest import of ten thousand flags takes; what is not bounded takes many times as much. */
const MOST_MEMORY = 3_000 * MEGABYTE;

interface Hostile {
  readonly what: string;
  readonly path: string;
  readonly type?: string;
  readonly body: () => string;
}

const yaml = { path: '/api/import', type: 'application/yaml' };
const changes = { path: '/api/projects/p/environments/staging/changes' };

const BODIES: readonly Hostile[] = [
  ...[
    '"',
    "'",
    '[',
    ']',
    '{',
    '}',
    '&a ',
    '*a ',
    '!a ',
    '- ',
    '? ',
    ': ',
    '%a\n',
    '---\n',
    '[{a: ',
    '\t',
  ].map((piece) => ({
    ...yaml,
    what: `1 MB of ${JSON.stringify(piece)}`,
    body: () => piece.repeat(MEGABYTE / piece.length),
  })),
  { ...yaml, what: '32 MB of quotes', body: () => '"'.repeat(32 * MEGABYTE) },
  { ...yaml, what: '32 MB of list elements', body: () => `[${'a,'.repeat(16 * MEGABYTE)}]` },
  { ...yaml, what: '1 MB of ever deeper lines', body: () => deeper(MEGABYTE) },
  { path: '/api/import', what: '2 MB of one name twice', body: () => `{${names(2 * MEGABYTE)},"z":1,"z":1}` },
  {
    path: '/api/projects/p/flags',
    what: '1 MB of states, one twice',
    body: () => `{"key":"k","states":{${names(MEGABYTE - 500)},"z":1,"z":1}}`,
  },
  { ...changes, what: '1 MB of wrong changes', body: () => `{"changes":[${list('{}', MEGABYTE)}]}` },
  { ...changes, what: '32 MB of wrong changes', body: () => `{"changes":[${list('{}', 32 * MEGABYTE)}]}` },
  {
    ...changes,
    what: '32 MB of numbers as changes',
    body: () => `{"changes":[${list('1', 32 * MEGABYTE)}]}`,
  },
  {
    path: '/api/projects/p/flags/archive',
    what: '1 MB of numbers as keys',
    body: () => `{"keys":[${list('1', MEGABYTE)}]}`,
  },
];

function list(element: string, bytes: number): string {
  return Array(Math.floor(bytes / (element.length + 1)))
    .fill(element)
    .join(',');
}

function names(bytes: number): string {
  return Array.from(
    { length: Math.floor(bytes / 12) },
    (_, index) => `"${index.toString(36).padStart(6, '0')}":1`,
  ).join();
}

function deeper(bytes: number): string {
  let text = '';
  for (let depth = 0; text.length < bytes; depth++) text += `${' '.repeat(depth)}a:\n`;
  return text;
}

describe('a body built to be expensive', () => {
  let node: NodeProcess;
  let watchdog: Timer;
  let most = 0;
  beforeAll(async () => {
    node = await startNode();
    await new Management(node).createProject('p');
    watchdog = setInterval(() => {
      most = Math.max(most, memoryOf(node.pid));
      // It must not take the machine's memory along when a test fails.
      if (most > MOST_MEMORY) process.kill(node.pid, 'SIGKILL');
    }, 200);
  });
  afterAll(async () => {
    clearInterval(watchdog);
    await node.stop();
  });

  test.each(BODIES.map((hostile) => [hostile.what, hostile.path, hostile] as const))(
    '%s to %s is refused within bounds',
    async (_, path, { type = 'application/json', body }) => {
      const answer = await fetch(node.url + path, {
        method: 'POST',
        headers: { Authorization: `Bearer ${node.adminToken}`, 'Content-Type': type },
        body: body(),
      });
      expect(answer.status).toBe(400);
      expect(await answer.json()).toMatchObject({ error: 'invalid_argument' });
      expect(most).toBeLessThan(MOST_MEMORY);
    },
  );
});

/** The current memory of a process, in bytes. */
function memoryOf(pid: number): number {
  const { stdout } = Bun.spawnSync(['ps', '-o', 'rss=', '-p', String(pid)]);
  return Number(stdout.toString().trim()) * 1024;
}
