import { expect, test } from 'bun:test';
import { CHANGE_EVENT, changeEvent, type MapChange } from './map-change.ts';
import { createSseParser, frame } from './sse.ts';

test('an event of changes has a name and one line of JSON, and is read as what it was written from', () => {
  const set = '{"checkout":{"enabled":false,"value":1.0}}';
  const text = changeEvent({ from: 12, to: 13, removed: ['old "banner"'] }, set);
  expect(text).toBe(
    'event: change\ndata: {"from":12,"to":13,"set":{"checkout":{"enabled":false,"value":1.0}},"removed":["old \\"banner\\""]}\n\n',
  );

  const read: MapChange[] = [];
  const frames: string[] = [];
  const parse = createSseParser({
    onData: (data, name) => (name === CHANGE_EVENT ? read.push(JSON.parse(data)) : frames.push(data)),
  });
  parse(text + frame('{}') + changeEvent({ from: null, to: 14, removed: [] }, '{}'));
  expect(read).toEqual([
    { from: 12, to: 13, set: { checkout: { enabled: false, value: 1 } }, removed: ['old "banner"'] },
    { from: null, to: 14, set: {}, removed: [] },
  ]);
  expect(frames).toEqual(['{}']);
});
