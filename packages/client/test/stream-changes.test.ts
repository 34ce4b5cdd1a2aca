import { describe, expect, test } from 'bun:test';
import { changeEvent, type Json } from '@halyard/protocol';
import { settle } from './support/fake-platform.ts';
import { harness } from './support/harness.ts';

const valued = (value: Json) => ({ enabled: true, value });

describe('a stream of changes', () => {
  test('leaves the states that it does not name as they are', async () => {
    const { client, server } = harness();
    server.flags = { a: valued([1]), b: valued([2]), c: valued([3]) };
    const changes: (readonly string[])[] = [];
    client.onChange(({ changed }) => changes.push(changed));
    await client.ready();
    const before = client.all();

    server.change({ a: valued([1]), b: valued([4]), d: valued([5]) });
    await settle();
    expect(client.all()).toEqual({ a: valued([1]), b: valued([4]), d: valued([5]) });
    expect(client.getState('a')).toBe(before.a);
    expect(changes).toEqual([
      ['a', 'b', 'c'],
      ['b', 'd', 'c'],
    ]);
    expect(server.latest.isCancelled).toBe(false);
  });

  test('leaves states as they are that were loaded before it', async () => {
    const { client, server, platform } = harness();
    server.flags = { a: valued([1]), b: valued([2]) };
    await client.ready();
    const before = client.getState('a');
    server.latest.end();
    await platform.advance(1_000);
    expect(server.streams).toHaveLength(2);
    server.change({ a: valued([1]), b: valued([3]) });
    await settle();
    expect(client.getState('a')).toBe(before);
    expect(client.getValue('b', [0])).toEqual([3]);
  });

  test('is not interrupted by an answer of REST that is ahead of it', async () => {
    const { client, server, codes } = harness();
    await client.ready();
    server.revision = 3;
    server.flags = { a: valued(3) };
    await client.refresh();
    expect(client.getValue('a', 0)).toBe(3);

    const set = (value: number) => JSON.stringify({ a: valued(value) });
    server.latest.text(changeEvent({ from: 1, to: 2, removed: [] }, set(2)));
    await settle();
    expect([client.getValue('a', 0), client.revision]).toEqual([3, 3]);
    server.latest.text(changeEvent({ from: 2, to: 3, removed: [] }, set(3)));
    server.latest.text(changeEvent({ from: 3, to: 4, removed: [] }, set(4)));
    await settle();
    expect([client.getValue('a', 0), client.revision]).toEqual([4, 4]);
    expect([server.streams.length, codes()]).toEqual([1, []]);
  });

  test('ends with a report when a change is missing, and the next one makes up for it', async () => {
    const { client, server, platform, errors } = harness();
    await client.ready();
    server.latest.text(changeEvent({ from: 2, to: 3, removed: [] }, JSON.stringify({ a: valued('never') })));
    await settle();
    expect(client.getValue('a', 0)).toBe(1);
    expect(server.latest.isCancelled).toBe(true);
    expect(errors.map(({ code, message }) => [code, message])).toEqual([
      ['stream_error', 'a change is missing'],
    ]);

    server.revision = 3;
    server.flags = { a: valued(3) };
    await platform.advance(1_000);
    expect([client.getValue('a', 0), client.revision, client.status]).toEqual([3, 3, 'ready']);
  });

  test('reports a damaged state once, with its key', async () => {
    const { client, server, errors } = harness();
    server.flags = { a: valued(1), b: valued(1) };
    await client.ready();
    for (const damaged of ['on', null]) server.change({ a: valued(1), b: damaged });
    await settle();
    expect(client.getState('b')).toBeUndefined();
    expect(errors.map(({ code, flagKey }) => [code, flagKey])).toEqual([['invalid_response', 'b']]);
    expect(server.latest.isCancelled).toBe(false);
  });

  test('may be one of whole maps from an older server, each a revision', async () => {
    const { client, server } = harness();
    server.knowsChanges = false;
    await client.ready();
    server.change({ a: valued(2), b: valued(1) });
    server.change({ b: valued(1) });
    await settle();
    expect([client.all(), client.revision]).toEqual([{ b: valued(1) }, 3]);
  });
});
