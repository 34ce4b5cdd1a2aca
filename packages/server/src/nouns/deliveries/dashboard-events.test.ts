import { afterEach, beforeEach, describe, expect, setDefaultTimeout, test } from 'bun:test';
import { DashboardStreams } from './dashboard-events.ts';
import { Screen, TestNode } from './test-activity.ts';

setDefaultTimeout(60_000);

/** A reader whose session stays valid. */
const VALID = { stillValid: async () => true };

let node: TestNode;
beforeEach(() => {
  node = new TestNode();
});
afterEach(() => node.activity.close());

describe('the events for screens', () => {
  test('begins with hello, then sends every change after it, once and in order', async () => {
    const production = node.addProject('shop');
    const screen = node.watch();
    expect(await screen.next()).toEqual(['hello', { seq: 2, node: 'here' }]);
    for (let n = 0; n < 20; n++) node.flip(production, [['a', `{"enabled":true,"value":${n}}`]]);
    for (let n = 0; n < 20; n++) {
      expect(await screen.next()).toEqual([
        'change',
        {
          seq: 3 + n,
          kind: 'flags.changed',
          project: 'shop',
          environment: 'production',
          revision: n + 1,
          actor: 'token:ci',
          at: '1970-01-01T00:00:01.000Z',
          changes: [{ key: 'a', state: { enabled: true, value: n } }],
        },
      ]);
    }
  });

  test('names deleted records, and shows nothing of keys', async () => {
    const environmentId = node.addProject('shop');
    const screen = node.watch('shop');
    await screen.next();
    const projectId = 'id-shop';
    node.apply(
      'key.created',
      { id: 'k', digest: 'd'.repeat(64), environments: ['production'] },
      { projectId },
    );
    node.apply('environment.deleted', {}, { projectId, environmentId });
    node.apply('project.deleted', {}, { projectId });
    const rest = { project: 'shop', actor: 'token:ci', at: '1970-01-01T00:00:01.000Z' };
    expect([await screen.next(), await screen.next(), await screen.next()]).toEqual([
      ['change', { seq: 3, kind: 'key.created', ...rest }],
      ['change', { seq: 4, kind: 'environment.deleted', environment: 'production', ...rest }],
      ['change', { seq: 5, kind: 'project.deleted', ...rest }],
    ]);
    // Records from before the node began to follow have their names too.
    expect(() => node.watch('shop')).toThrow('The project "shop" does not exist');
  });

  test('a change without a recorded actor has no actor', async () => {
    const screen = node.watch();
    await screen.next();
    node.apply('records.changed', { actions: ['token.created'] }, { projectId: '', actor: '' });
    expect(await screen.nextOf('change')).not.toHaveProperty('actor');
  });

  test('who created or revoked a token of a person, a program or a relay is in no event', async () => {
    const screen = node.watch();
    await screen.next();
    node.apply('records.changed', { actions: ['token.created'] }, { projectId: '' });
    node.apply('relay.created', { id: 'r', digest: 'd'.repeat(64) }, { projectId: '' });
    node.apply('relay.revoked', { id: 'r', digest: 'd'.repeat(64) }, { projectId: '' });
    for (const kind of ['records.changed', 'relay.created', 'relay.revoked']) {
      const event = await screen.nextOf('change');
      expect(event).toMatchObject({ kind });
      expect(event).not.toHaveProperty('actor');
    }
  });

  test('a dashboard of one project gets its own events and those of no project', async () => {
    const shop = node.addProject('shop');
    const other = node.addProject('other');
    const screen = node.watch('shop');
    node.flip(other, [['a', '{"enabled":true}']]);
    node.apply('records.changed', { actions: ['token.created'] }, { projectId: '' });
    node.flip(shop, [['a', null]]);
    expect((await screen.next())?.[0]).toBe('hello');
    expect(await screen.nextOf('change')).toMatchObject({
      kind: 'records.changed',
      actions: ['token.created'],
    });
    expect(await screen.nextOf('change')).toMatchObject({
      project: 'shop',
      changes: [{ key: 'a', state: null }],
    });
  });

  test('leaves out states that are too large; dashboards fetch them', async () => {
    const production = node.addProject('shop');
    const screen = node.watch();
    await screen.next();
    node.flip(production, [['a', JSON.stringify({ enabled: true, value: 'x'.repeat(64 * 1024) })]]);
    expect(await screen.next()).toEqual([
      'change',
      expect.not.objectContaining({ changes: expect.anything() }),
    ]);
  });

  test('a damaged state is absent for dashboards, as for readers', async () => {
    const production = node.addProject('shop');
    const screen = node.watch();
    await screen.next();
    node.flip(production, [['a', '{"enabled":']]);
    expect(await screen.nextOf('change')).toMatchObject({ changes: [{ key: 'a', state: null }] });
  });

  test('a lost log ends the stream, and no other is opened before the node is live again', async () => {
    node.addProject('shop');
    const screen = node.watch();
    await screen.next();
    node.activity.lost();
    expect(await screen.next()).toBeUndefined();
    expect(() => node.watch()).toThrow('cannot follow');
    node.apply('records.changed', { actions: [] });
    node.activity.live(3);
    expect(await node.watch('shop').next()).toEqual(['hello', { seq: 3, node: 'here' }]);
  });

  test('disconnects a dashboard that does not read, and keeps the others', async () => {
    const production = node.addProject('shop');
    const stuck = node.watch();
    const screen = node.watch();
    await screen.next();
    const value = 'x'.repeat(60 * 1024);
    for (let n = 0; n < 20; n++) {
      node.flip(production, [['a', JSON.stringify({ enabled: true, value: `${n}${value}` })]]);
      expect(await screen.nextOf('change')).toMatchObject({ seq: 3 + n });
    }
    expect(node.activity.watchers).toBe(1);
    await expect(stuck.next()).rejects.toThrow('stream cut');
  });

  test('a reader with roles in single projects gets nothing of the others, whatever their names are', async () => {
    const mine = node.addProject('mine');
    const theirs = node.addProject('theirs');
    const screen = node.watchOnly(['id-mine']);
    await screen.next();
    expect(() => node.activity.open({ ...VALID, project: 'theirs', visible: ['id-mine'] })).toThrow(
      'does not exist',
    );
    node.addProject('secret');
    node.flip(theirs, [['a', null]]);
    node.activity.progressed({
      seq: 7,
      environmentId: theirs,
      streams: 1,
      seen: 1,
      closed: 0,
      slowestMs: 1,
      isSettled: false,
    });
    const { seq } = node.flip(mine, [['b', null]]);
    expect(await screen.next()).toMatchObject(['change', { seq, project: 'mine' }]);
    // Another project that gets the name of a deleted one is still another project.
    node.apply('project.deleted', {}, { projectId: 'id-mine' });
    expect(await screen.next()).toMatchObject(['change', { kind: 'project.deleted', project: 'mine' }]);
    node.apply('project.created', { name: 'mine' }, { projectId: 'id-other' });
    node.apply('records.changed', { actions: ['operator.invited'] }, { projectId: '' });
    expect(await screen.next()).toMatchObject(['change', { actions: ['operator.invited'] }]);
  });

  test.each([
    ['operator.changed', true],
    ['operator.removed', true],
    ['operator.password_changed', true],
    ['operator.linked', true],
    ['session.ended', true],
    ['session.refused', true],
    ['token.revoked', true],
    ['session.started', false],
    ['flag.updated', false],
  ])('checks every reader at once after %s: %p', async (action, isChecked) => {
    let checks = 0;
    const screen = node.watch(undefined, async () => ++checks === 0);
    await screen.next();
    node.apply('records.changed', { actions: [action] }, { projectId: '' });
    expect(await screen.next()).toMatchObject(['change', { actions: [action] }]);
    if (isChecked) expect(await screen.next()).toBeUndefined();
    expect([checks, node.rechecks]).toEqual(isChecked ? [1, 1] : [0, 0]);
  });

  test('a reader with a valid session gets keep-alives while nothing happens', async () => {
    const streams = new DashboardStreams({ keepAliveMs: 10 });
    const options = { project: 'shop', stillValid: async () => true };
    const screen = new Screen(streams.open(options, { name: 'hello', data: {} }));
    expect(await screen.next()).toEqual(['hello', {}]);
    expect(await screen.next()).toEqual(['beat', {}]);
    expect(await screen.next()).toEqual(['beat', {}]);
    streams.close();
  });

  test('a reader whose session has ended is disconnected within two keep-alives', async () => {
    const streams = new DashboardStreams({ keepAliveMs: 10 });
    const answers = [async () => true, async () => false, () => Promise.reject(new Error('away'))];
    const [kept, removed, unknown] = answers.map((stillValid) =>
      streams.open({ project: undefined, stillValid }, { name: 'hello', data: {} }).getReader(),
    );
    for (const reader of [kept, removed, unknown]) {
      expect(new TextDecoder().decode((await reader?.read())?.value)).toBe('event: hello\ndata: {}\n\n');
    }
    for (const reader of [removed, unknown]) {
      for (let chunk = await reader?.read(); chunk?.done === false; chunk = await reader?.read());
    }
    expect(streams.size).toBe(1);
    expect(new TextDecoder().decode((await kept?.read())?.value)).toBe('event: beat\ndata: {}\n\n');
    streams.close();
  });
});
