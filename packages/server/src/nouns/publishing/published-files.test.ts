import { expect, test } from 'bun:test';
import { parsePointer, pointerText } from './published-files.ts';

test('a pointer is read as it was written, and anything else is none', () => {
  const pointer = { environmentId: 'e', revision: 3, hash: 'h', publishedAt: 't', checkedAt: 't' };
  expect(parsePointer(pointerText(pointer))).toMatchObject(pointer);
  for (const text of ['', 'null', '[]', '{"version":2}', pointerText({ ...pointer, revision: 1.5 })])
    expect(parsePointer(text)).toBeUndefined();
});
