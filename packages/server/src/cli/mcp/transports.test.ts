import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { join } from 'node:path';
import { type NodeProcess, startNode } from '@halyard/testing';
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import { commandsAt } from '../test-shell.ts';
import { type Agent, agentOf } from './test-agents.ts';

const ENTRY = join(import.meta.dir, '../../main.ts');

let node: NodeProcess;
const { json } = commandsAt(() => node);

beforeAll(async () => {
  node = await startNode({ env: { HALYARD_DRAIN_SECONDS: '0', HALYARD_MCP: 'write' } });
  await json('project create shop');
  await json('environment update shop production --protect');
  await json('flag set checkout --project shop --env staging --on');
}, 60_000);

afterAll(() => node.stop(), 60_000);

/** A client of the protocol of 2025, or of this version. */
function newClient(pin?: string): Client {
  return new Client(
    { name: 'tests', version: '1' },
    pin === undefined ? {} : { versionNegotiation: { mode: { pin } } },
  );
}

function environment(): Record<string, string> {
  return { PATH: process.env.PATH ?? '', HALYARD_URL: node.url, HALYARD_TOKEN: node.adminToken };
}

/** What an agent does over any transport. */
async function work(agent: Agent, environment: string, share = 5): Promise<void> {
  const { json: flag } = await agent.call('halyard_get_flag', { project: 'shop', key: 'checkout' });
  const change = {
    project: 'shop',
    key: 'checkout',
    patch: { enabled: true, rolloutPct: share },
    reason: 'slowly',
  };
  const done = await agent.call('halyard_change_flag', {
    ...change,
    environment,
    expectedRevision: flag.environments[environment]?.revision ?? 0,
  });
  expect(done.json).toMatchObject({ changed: true, shareOfUsersPct: { after: share } });

  const refused = await agent.call('halyard_change_flag', {
    ...change,
    environment: 'production',
    expectedRevision: 0,
  });
  expect(refused.json).toMatchObject({ error: 'confirmation_required' });
}

describe('on standard input and output', () => {
  test('an agent reads and changes flags, and is refused', async () => {
    const client = newClient('2026-07-28');
    const transport = new StdioClientTransport({
      command: process.execPath,
      args: [ENTRY, 'mcp', '--project', 'shop'],
      env: environment(),
    });
    await client.connect(transport);
    try {
      await work(agentOf(client), 'development');
    } finally {
      await client.close();
    }
  });

  test('standard output has nothing but messages of the protocol, and the end of the input is the end', async () => {
    const child = Bun.spawn([process.execPath, ENTRY, 'mcp', '--read-only'], {
      env: environment(),
      stdin: 'pipe',
      stdout: 'pipe',
      stderr: 'pipe',
    });
    const clientInfo = { name: 'tests', version: '1' };
    const params = { protocolVersion: '2025-06-18', capabilities: {}, clientInfo };
    const name = 'halyard_context';
    const messages = [
      { id: 1, method: 'initialize', params },
      { method: 'notifications/initialized' },
      { id: 2, method: 'tools/call', params: { name, arguments: {} } },
    ];
    for (const message of messages) child.stdin.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`);
    child.stdin.flush();

    const reader = child.stdout.getReader();
    let out = '';
    while (!out.includes('"id":2')) {
      const { value, done } = await reader.read();
      if (done) break;
      out += new TextDecoder().decode(value);
    }
    child.stdin.end();
    expect(await child.exited).toBe(0);
    const lines = out
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line));
    expect(lines).toMatchObject([
      { jsonrpc: '2.0', id: 1 },
      { jsonrpc: '2.0', id: 2 },
    ]);
    expect((await reader.read()).done).toBe(true);
  });

  test('a token that the server rejects ends the command before the protocol begins', async () => {
    const child = Bun.spawn([process.execPath, ENTRY, 'mcp'], {
      env: { ...environment(), HALYARD_TOKEN: 'hat_wrong' },
      stdin: 'pipe',
      stdout: 'pipe',
      stderr: 'pipe',
    });
    expect(await child.exited).toBe(4);
    expect(await new Response(child.stdout).text()).toBe('');
    expect(await new Response(child.stderr).text()).toContain('HALYARD_TOKEN');
  });
});

describe('at /mcp', () => {
  const initialize = { jsonrpc: '2.0', id: 1, method: 'tools/list' };

  function post(headers: Readonly<Record<string, string>>, method = 'POST'): Promise<Response> {
    return fetch(`${node.url}/mcp`, {
      method,
      headers: {
        'Content-Type': 'application/json',
        Accept: 'application/json, text/event-stream',
        Authorization: `Bearer ${node.adminToken}`,
        ...headers,
      },
      ...(method === 'POST' && { body: JSON.stringify(initialize) }),
    });
  }

  test.each([undefined, '2026-07-28'])(
    'an agent works with its own token, and is refused (%s)',
    async (pin) => {
      const name = `robot-${pin}`;
      const { token } = await json(`token create --name ${name} --project shop --only states --json`);
      const client = newClient(pin);
      const transport = new StreamableHTTPClientTransport(new URL(`${node.url}/mcp`), {
        requestInit: { headers: { Authorization: `Bearer ${token}` } },
      });
      await client.connect(transport);
      const agent = agentOf(client);
      await work(agent, 'staging', pin === undefined ? 5 : 6);
      expect(await agent.toolNames()).not.toContain('halyard_create_flag');
      await client.close();

      const { entries } = await json('audit --project shop --limit 1');
      const program = pin === undefined ? 'an agent' : 'tests';
      expect(entries).toMatchObject([
        { actor: `token:${name}`, ip: '127.0.0.1', note: `slowly (${program} over MCP)` },
      ]);
    },
  );

  test('there is no answer without a valid token, and no session of a browser counts', async () => {
    for (const Authorization of ['', 'Bearer hat_wrong']) {
      const answer = await post({ Authorization, Cookie: 'halyard_session=x' });
      expect([answer.status, answer.headers.get('WWW-Authenticate')]).toEqual([401, 'Bearer']);
    }
    const answer = await post({}, 'GET');
    expect([answer.status, answer.headers.get('Allow')]).toEqual([405, 'POST']);
  });

  test('pages of other sites are refused, also where their name leads to this machine', async () => {
    expect((await post({})).status).toBe(200);
    expect((await post({ Origin: node.url })).status).toBe(200);
    expect((await post({ Origin: 'https://evil.example' })).status).toBe(403);
    expect((await post({ Origin: 'null' })).status).toBe(403);
    const host = 'evil.example:7070';
    expect((await post({ Host: host, Origin: `http://${host}` })).status).toBe(403);
    expect((await post({ Host: host })).status).toBe(403);
    expect((await post({ Host: 'localhost:1' })).status).toBe(200);
  });
});
