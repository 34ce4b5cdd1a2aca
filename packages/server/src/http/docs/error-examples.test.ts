import { afterAll, beforeAll, expect, test } from 'bun:test';
import { ERROR_CODES, ERROR_STATUS, type ErrorCode } from '@halyard/protocol';
import { type NodeProcess, startNode } from '@halyard/testing';
import { ERROR_PAGES } from './pages.ts';

/** Codes whose example needs people who sign in, a limit or an outage; other tests meet those. */
const ELSEWHERE: readonly ErrorCode[] = [
  ...(['confirmation_required', 'approval_required', 'proposal_closed'] as const),
  ...(['internal_error', 'rate_limited'] as const),
];

let node: NodeProcess;
/** The values for the variables of the examples. */
const variables = new Map<string, string>();
let revokedSeq = '';
let editor = '';

beforeAll(async () => {
  node = await startNode({
    env: { HALYARD_DRAIN_SECONDS: '0', HALYARD_DOCS_URL: 'https://flags.example.com/docs' },
  });
  await api('POST', '/projects', { name: 'demo' });
  const flags = '/projects/demo/environments/production/flags';
  for (const key of ['new-checkout', 'old-banner']) await api('PATCH', `${flags}/${key}`, { enabled: false });
  await api('POST', '/projects/demo/flags/old-banner/archive');
  await api('POST', '/projects/demo/environments', { name: 'audited' });
  await api('PATCH', '/projects/demo/environments/audited', { reasonRequired: true });
  const created = await api('POST', '/projects/demo/keys', { name: 'app', environments: ['production'] });
  const other = await api('POST', '/projects/demo/keys', { name: 'old', environments: ['production'] });
  revokedSeq = String((await api('DELETE', `/keys/${other.id}`)).seq);
  editor = (await api('POST', '/tokens', { name: 'pipeline', role: 'editor' })).token;
  variables
    .set('HALYARD_URL', node.url)
    .set('REVOKED_KEY_ID', other.id)
    .set('HALYARD_TOKEN', node.adminToken)
    .set('HALYARD_KEY', created.key);
}, 60_000);

afterAll(() => node.stop(), 60_000);

async function api(method: string, path: string, body?: object) {
  const headers = { Authorization: `Bearer ${node.adminToken}`, 'Content-Type': 'application/json' };
  const init = { method, headers, ...(body === undefined ? {} : { body: JSON.stringify(body) }) };
  const response = await fetch(`${node.url}/api${path}`, init);
  return JSON.parse(await response.text());
}

/** The preparation of an example: a step before it, or another value in it. */
const PREPARED: Partial<Record<ErrorCode, (example: string) => string | Promise<string>>> = {
  forbidden: (example) => example.replace('$HALYARD_TOKEN', editor),
  not_revertible: (example) => example.replace('changes/57', `changes/${revokedSeq}`),
  already_planned: async (example) => {
    const steps = [{ rolloutPct: 5 }, { rolloutPct: 100, waitMinutes: 60 }];
    await api('POST', '/projects/demo/rollouts', { flag: 'new-checkout', environment: 'production', steps });
    return example;
  },
  flag_not_archived: async (example) => {
    await api('POST', '/projects/demo/flags/old-banner/restore');
    return example;
  },
};

/** Sends what the `curl` of an example would send. */
function send(example: string): Promise<Response> {
  const line = example.replaceAll(/\$(\w+)/g, (_all, name: string) => variables.get(name) ?? '');
  const [, url = ''] = /"(http[^"]+)"/.exec(line) ?? [];
  const [, body] = /-d '([^']*)'/.exec(line) ?? [];
  const headers = [...line.matchAll(/-H (['"])([^:]+): (.*?)\1/g)].map(
    ([, , name = '', value = '']) => [name, value] as [string, string],
  );
  const method = /-X (\w+)/.exec(line)?.[1] ?? (body === undefined ? 'GET' : 'POST');
  return fetch(url, { method, headers, ...(body === undefined ? {} : { body }) });
}

function block(page: string, language: string): string {
  return new RegExp(`\`\`\`${language}\n([\\s\\S]*?)\`\`\``).exec(page)?.[1] ?? '';
}

/** Numbers of changes and revisions are others in each installation. */
function withoutNumbers(body: string): string {
  return body.replaceAll(/\d+/g, 'N');
}

for (const code of ERROR_CODES.filter((one) => !ELSEWHERE.includes(one))) {
  test(`the example of ${code} is answered as its page says`, async () => {
    const page = ERROR_PAGES[code];
    const example = block(page, 'sh');
    const response = await send((await PREPARED[code]?.(example)) ?? example);
    expect(response.status).toBe(ERROR_STATUS[code]);
    expect(JSON.parse(withoutNumbers(await response.text()))).toEqual(
      JSON.parse(withoutNumbers(block(page, 'json'))),
    );
  });
}
