import { describe, expect, test } from 'bun:test';
import { AnswerCounter } from './answer-counter.ts';

const ANSWERS =
  'HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello' +
  'HTTP/1.1 304 Not Modified\r\nETag: "a"\r\n\r\n' +
  'HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n' +
  'HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\n{}';

describe('counting answers', () => {
  for (const size of [1, 2, 3, 7, 40, 1000]) {
    test(`every answer counts once, arriving in pieces of ${size} bytes`, () => {
      const counter = new AnswerCounter();
      const bytes = new TextEncoder().encode(ANSWERS);
      let count = 0;
      for (let at = 0; at < bytes.length; at += size) count += counter.take(bytes.subarray(at, at + size));
      expect(count).toBe(4);
    });
  }

  test('does not count a refusal as an answer', () => {
    const refusal = new TextEncoder().encode('HTTP/1.1 401 Unauthorized\r\ncontent-length: 0\r\n\r\n');
    expect(() => new AnswerCounter().take(refusal)).toThrow('HTTP/1.1 401');
  });
});
