import { expect, test } from 'bun:test';
import { readDeclaration } from './declaration.ts';

test('serves other requests while it reads a large document', async () => {
  const flags = Object.fromEntries(Array.from({ length: 2000 }, (_, index) => [`flag-${index}`, {}]));
  const reading = readDeclaration(JSON.stringify({ halyard: 1, project: 'large', environments: [], flags }));
  let isRead = false;
  void reading.finally(() => {
    isRead = true;
  });
  let turns = 0;
  while (!isRead) {
    await new Promise(setImmediate);
    turns++;
  }
  expect((await reading).flags.size).toBe(2000);
  expect(turns).toBeGreaterThan(5);
});
