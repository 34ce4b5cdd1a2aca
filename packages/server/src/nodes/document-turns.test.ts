import { expect, test } from 'bun:test';
import { DocumentTurns } from './document-turns.ts';

test('few documents run at once, and one of each author', async () => {
  const turns = new DocumentTurns();
  const running: string[] = [];
  const ends = new Map<string, () => void>();
  const add = (name: string) => {
    const end = Promise.withResolvers<void>();
    ends.set(name, end.resolve);
    return turns.run(name.charAt(0), async () => {
      running.push(name);
      await end.promise;
      running.splice(running.indexOf(name), 1);
    });
  };
  const all = ['a1', 'a2', 'b1', 'c1', 'a3'].map(add);
  const after = async (ended: string) => {
    ends.get(ended)?.();
    await new Promise(setImmediate);
    return running.toSorted();
  };
  expect(await after('none')).toEqual(['a1', 'b1']);
  expect(await after('b1')).toEqual(['a1', 'c1']);
  expect(await after('c1')).toEqual(['a1']);
  expect(await after('a1')).toEqual(['a2']);
  expect(await after('a2')).toEqual(['a3']);
  expect(await after('a3')).toEqual([]);
  await Promise.all(all);
});

test('a document that fails gives its turn on', async () => {
  const turns = new DocumentTurns();
  await expect(turns.run('a', () => Promise.reject(new Error('bad')))).rejects.toThrow('bad');
  await turns.run('a', async () => {});
});
