import { describe, expect, test } from 'bun:test';
import { FrameEnds } from './raw-stream.ts';

const STREAM =
  ':\n\n1c\r\ndata: {"a":{"enabled":true}}\n\n\r\n3\r\n:\n\n\r\n9\r\ndata: {}\n\n\r\n9\r\ndata: {}\n\n\r\n';

describe('counting frames', () => {
  for (const size of [1, 2, 3, 7, 40, 1000]) {
    test(`every frame counts once and no keep-alive does, arriving in pieces of ${size} bytes`, () => {
      const ends = new FrameEnds();
      const bytes = new TextEncoder().encode(STREAM);
      let count = 0;
      for (let at = 0; at < bytes.length; at += size) count += ends.take(bytes.subarray(at, at + size));
      expect(count).toBe(3);
    });
  }
});
