import { expect, test } from 'bun:test';
import { shorten, visibleName } from './text.ts';

test.each([
  ['abc', 5, 'abc'],
  ['abc', 2, 'ab'],
  ['a😀', 3, 'a😀'],
  ['a😀', 2, 'a'],
  ['', 1, ''],
])('%j has the first %d units %j', (text, most, short) => {
  expect(shorten(text, most)).toBe(short);
  expect(shorten(text, most).isWellFormed()).toBe(true);
});

test.each([
  ['Ada Lovelace', 'Ada Lovelace'],
  ['ro\u00adot', 'root'],
  ['root\u200b', 'root'],
  ['root\u200d', 'root'],
  ['ro\u200c\u200dot', 'root'],
  ['\u202egpj.exe', 'gpj.exe'],
  ['\u2066a\u2069 \ufeffb', 'a b'],
  [' \u200b ', ''],
  ['می\u200cخواهم', 'می\u200cخواهم'],
  ['क्\u200dष', 'क्\u200dष'],
  ['👩\u200d💻 Ada', '👩\u200d💻 Ada'],
  ['❤\ufe0f\u200d🔥', '❤\ufe0f\u200d🔥'],
])('the name %j is kept as %j', (name, visible) => {
  expect(visibleName(name)).toBe(visible);
});
