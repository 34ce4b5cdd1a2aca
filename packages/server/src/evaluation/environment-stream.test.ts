import { afterEach, beforeEach, expect, jest, test } from 'bun:test';
import { Catalog } from './catalog/catalog.ts';
import { environmentStreams } from './environment-stream.ts';
import { Hub } from './streaming/hub.ts';

beforeEach(() => {
  jest.useFakeTimers();
});
afterEach(() => {
  jest.useRealTimers();
});

test('a node without a snapshot does not answer that the project does not exist', () => {
  const catalog = new Catalog({
    changed: () => {},
    environmentGone: () => {},
    keyGone: () => {},
    malformed: () => {},
  });
  const hub = new Hub({ maxQueuedBytes: 1024 });
  const freshness = {
    canRead: () => false,
    canStream: () => false,
    staleSeconds: () => undefined,
    mayLackRecords: () => false,
    trouble: () => undefined,
  };
  const open = environmentStreams({ catalog, hub, freshness, files: { admitStream: () => {} } });
  const request = new Request('http://here/api/projects/shop/environments/production/stream');
  const refused = () => open('shop', 'production', { request, stillValid: async () => true });
  expect(refused).toThrow(expect.objectContaining({ code: 'internal_error', retryAfterSeconds: 1 }));
  hub.close();
  catalog.close();
});

test('a stream is opened only in the project it is authorized for, and ends with its session or token', async () => {
  const catalog = new Catalog({
    changed: () => {},
    environmentGone: () => {},
    keyGone: () => {},
    malformed: () => {},
  });

  const row = { projectId: 'p1', actor: 'system', at: 0 };
  const made = { name: 'production', revision: 0 };
  catalog.apply({ ...row, seq: 1, changeId: 'a', kind: 'project.created', payload: '{"name":"shop"}' });
  catalog.apply({
    ...row,
    seq: 2,
    changeId: 'b',
    kind: 'environment.created',
    environmentId: 'e1',
    payload: JSON.stringify(made),
  });

  const hub = new Hub({ maxQueuedBytes: 1024 });
  const freshness = {
    canRead: () => true,
    canStream: () => true,
    staleSeconds: () => undefined,
    mayLackRecords: () => false,
    trouble: () => undefined,
  };
  const open = environmentStreams({ catalog, hub, freshness, files: { admitStream: () => {} } });

  let isSignedIn = true;
  const request = new Request('http://here/api/projects/shop/environments/production/stream');
  const other = { request, stillValid: async () => isSignedIn, projectId: 'p0' };
  expect(() => open('shop', 'production', other)).toThrow(
    expect.objectContaining({ code: 'project_not_found' }),
  );

  const answer = open('shop', 'production', { request, stillValid: async () => isSignedIn });
  const reader = answer.body?.getReader();
  expect(new TextDecoder().decode((await reader?.read())?.value)).toBe('data: {}\n\n');

  isSignedIn = false;
  jest.advanceTimersByTime(15_000);
  for (let chunk = await reader?.read(); chunk?.done === false; chunk = await reader?.read());
  expect(hub.size).toBe(0);

  hub.close();
  catalog.close();
});
