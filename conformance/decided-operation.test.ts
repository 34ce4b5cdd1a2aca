import { expect, test } from 'bun:test';
import { sendRaw } from '@halyard/testing';
import { expectError } from './expectations.ts';
import { conformance } from './subject.ts';
import { World } from './world.ts';

conformance('14. Decided: failures and operation', (subject) => {
  test('S14.5 the pages behind the docs links need no credentials and load nothing from other hosts', async () => {
    const world = await World.make(subject());
    const docs = await expectError(await world.fetch('/v1/flags'), 'invalid_argument');
    const page = await fetch(docs);
    expect(page.status).toBe(200);
    const html = await page.text();
    expect(html).not.toMatch(/<script|(?:src|href)="https?:|url\(/);
  });

  test('S14.6 the management API is on the same port and requires its own credentials', async () => {
    const world = await World.make(subject());
    expect(await world.management.request('GET', `/api/projects/${world.project}`)).toMatchObject({
      name: world.project,
    });
    await expectError(await world.fetch('/api/projects'), 'invalid_access_token');
    await expectError(await world.manage('GET', '/api/nothing'), 'not_found');
  });

  test('S14.7 a writer reads its own write once it is answered, in every way', async () => {
    const world = await World.make(subject());
    for (let value = 0; value < 25; value++) {
      const revision = await world.put('flag', { enabled: true, value });
      const whole = await world.fetch('/v1/flags?env=production');
      expect(whole.headers.get('X-Flags-Revision')).toBe(String(revision));
      expect(await whole.json()).toMatchObject({ flags: { flag: { value } } });
      const single = await world.fetch('/v1/flags/flag?env=production');
      expect(await single.json()).toMatchObject({ value });
      const batch = await world.batch({ env: 'production', keys: ['flag'] });
      expect(await batch.json()).toMatchObject({ flags: { flag: { value } } });
    }
  });

  test('S14.15 a change of a state answers what was there before, as it was written', async () => {
    const world = await World.make(subject());
    const path = `/api/projects/${world.project}/environments/production/flags/flag`;
    const write = async (method: string, body: string) => (await world.manage(method, path, body)).text();
    expect(await write('PUT', '{"enabled":true,"value":1.50}')).toContain('"before":null');
    expect(await write('PATCH', '{"enabled":false}')).toContain('"before":{"enabled":true,"value":1.50}');
    expect(await write('PATCH', '{"enabled":false}')).not.toContain('"before"');
  });

  test('S20.6 where reasons are required, a change without one is refused, and one with it is kept with it', async () => {
    const world = await World.make(subject(), { flag: { enabled: true } });
    const environment = `/api/projects/${world.project}/environments/production`;
    const why = { 'X-Change-Note': 'an audit' };
    const put = (headers?: Record<string, string>) =>
      world.manage('PATCH', `${environment}/flags/flag`, '{"enabled":false}', headers);
    await world.manage('PATCH', environment, '{"reasonRequired":true}');

    await expectError(await put(), 'reason_required');
    await expectError(
      await world.manage('POST', `${environment}/copy`, '{"from":"staging"}'),
      'reason_required',
    );
    await expectError(
      await world.manage('PATCH', environment, '{"reasonRequired":false}'),
      'reason_required',
    );
    expect((await put(why)).status).toBe(200);
    const audit = await world.manage('GET', `/api/audit?project=${world.project}&limit=1`);
    expect(await audit.json()).toMatchObject({ entries: [{ note: 'an audit' }] });
  });

  test('S14.11 a writer finds what a request of its own changed, by its reference', async () => {
    const world = await World.make(subject(), { flag: { enabled: true } });
    const reference = crypto.randomUUID();
    const found = async () =>
      (await (await world.manage('GET', `/api/changes?reference=${reference}`)).json()) as unknown;
    expect(await found()).toEqual({ changes: [], running: false });

    const path = `/api/projects/${world.project}/environments/production/flags/flag`;
    const body = JSON.stringify({ enabled: false });
    const written = await world.manage('PUT', path, body, { 'X-Change-Reference': reference });
    const { seq } = (await written.json()) as { seq: number };
    expect(await found()).toEqual({ changes: [{ seq, at: expect.any(String) }], running: false });
    const again = await world.manage('PUT', path, body, { 'X-Change-Reference': 'too short' });
    expect([again.status, ((await again.json()) as { error: string }).error]).toEqual([
      400,
      'invalid_argument',
    ]);

    const close = async (name: string) =>
      (await (await world.manage('POST', `/api/changes/close?reference=${name}`)).json()) as unknown;
    expect(await close(reference)).toEqual({ changes: [{ seq, at: expect.any(String) }], closed: false });
    const unused = crypto.randomUUID();
    expect(await close(unused)).toEqual({ changes: [], closed: true });
    const on = JSON.stringify({ enabled: true });
    const late = await world.manage('PUT', path, on, { 'X-Change-Reference': unused });
    expect([late.status, ((await late.json()) as { error: string }).error]).toEqual([
      400,
      'invalid_argument',
    ]);
    expect(await close(unused)).toEqual({ changes: [], closed: true });
  });

  test('S14.13 a node says whether it should get reads, and whether it is current', async () => {
    const world = await World.make(subject());
    for (const path of ['/readyz', '/readyz?for=reads', '/readyz?for=anything']) {
      const answer = await world.fetch(path);
      expect([path, answer.status, answer.headers.get('Cache-Control')]).toEqual([path, 200, 'no-store']);
      await answer.text();
    }
  });

  test('S14.14 requests that are sent at once are answered in order, and a flood of refused ones ends its connection', async () => {
    const world = await World.make(subject(), { flag: { enabled: true } });
    const request = (key: string) =>
      `GET /v1/flags/flag?env=production HTTP/1.1\r\nHost: ${new URL(world.url).host}\r\nX-Service-Key: ${key}\r\n\r\n`;
    const mixed = (request(world.key) + request('none')).repeat(20);
    const { answers } = await sendRaw(world.url, mixed, { answers: 40 });
    expect(answers.map(({ status }) => status)).toEqual(
      Array.from({ length: 40 }, (_, at) => (at % 2 ? 401 : 200)),
    );
    // A connection may end early, as for management, but it never answers out of order.
    const project = `GET /api/projects/${world.project} HTTP/1.1\r\nHost: here\r\nAuthorization: Bearer none\r\n\r\n`;
    const cut = await sendRaw(world.url, request(world.key) + project + request(world.key), { answers: 3 });
    expect([200, 401, 200].slice(0, cut.answers.length)).toEqual(cut.answers.map(({ status }) => status));
    if (cut.answers.length < 3) expect(cut.ended).not.toBe('open');
    const flood = await sendRaw(world.url, request('none').repeat(2000));
    expect(flood.ended).not.toBe('open');
    expect(flood.answers.length).toBeLessThan(2000);
    for (const { status } of flood.answers) expect(status).toBe(401);
  });

  test('S18.1 an environment is published only with the words that no key is needed, and that is in the history', async () => {
    const world = await World.make(subject());
    const path = `/api/projects/${world.project}/environments/staging/publication`;
    const list = async () =>
      (await world.manage('GET', `/api/projects/${world.project}/publications`)).json() as Promise<{
        publications: readonly { environment: string }[];
      }>;
    for (const body of ['{}', '{"withoutKey":false}'])
      expect((await world.manage('PUT', path, body)).status).toBe(400);
    expect((await list()).publications).toEqual([]);
    expect((await world.manage('PUT', path, '{"withoutKey":true}')).status).toBe(200);
    expect(await list()).toMatchObject({
      publications: [{ environment: 'staging', path: `${world.project}/staging` }],
    });
    expect((await world.manage('DELETE', path)).status).toBe(200);
    expect((await list()).publications).toEqual([]);
    const { entries } = (await (
      await world.manage('GET', `/api/audit?project=${world.project}&limit=2`)
    ).json()) as { entries: readonly { action: string }[] };
    expect(entries.map(({ action }) => action)).toEqual(['environment.withdrawn', 'environment.published']);
  });

  test('S14.8 what is not HTTP is rejected, and the next caller is served', async () => {
    const world = await World.make(subject(), { flag: { enabled: true } });
    const key = `X-Service-Key: ${world.key}`;
    const host = `Host: ${new URL(world.url).host}`;
    const line = 'GET /v1/flags?env=production HTTP/1.1';
    const post = 'POST /v1/flags/batch HTTP/1.1';

    for (const request of [
      'nonsense\r\n\r\n',
      `FOO /v1/flags HTTP/1.1\r\n${host}\r\n${key}\r\n\r\n`,
      `get /v1/flags HTTP/1.1\r\n${host}\r\n${key}\r\n\r\n`,
      `${line}\r\n${key}\r\n\r\n`,
      `GET  /v1/flags HTTP/1.1\r\n${host}\r\n\r\n`,
      `GET /v1/flags HTTP/9.9\r\n${host}\r\n\r\n`,
      `${line}\r\n${host}\r\n ${key}\r\n\r\n`,
      `${line}\r\n${host}\r\nX-Service-Key : ${world.key}\r\n\r\n`,
      `${line}\r\n${host}\r\n${key}\r\nX-Large: ${'x'.repeat(64 * 1024)}\r\n\r\n`,
      `${post}\r\n${host}\r\n${key}\r\nContent-Length: 2\r\nContent-Length: 3\r\n\r\n{}`,
      `${post}\r\n${host}\r\n${key}\r\nContent-Length: 2\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n`,
      `${post}\r\n${host}\r\n${key}\r\nContent-Length: -1\r\n\r\n`,
      `${post}\r\n${host}\r\n${key}\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n{}\r\n0\r\n\r\n`,
    ]) {
      const { answers, ended } = await sendRaw(world.url, request, { timeoutMs: 15_000 });
      const statuses = answers.map(({ status }) => status);
      // One refusal and no second answer: the rest must not be taken for another request.
      expect({ request: request.slice(0, 200), answers: statuses.length <= 1, ended }).toMatchObject({
        answers: true,
        ended: expect.stringMatching(/^(closed|reset)$/),
      });
      for (const status of statuses) expect([400, 413, 431, 505]).toContain(status);
    }

    expect(await world.flags()).toEqual({ flag: { enabled: true } });
  });
});
