import { describe, expect, test } from 'bun:test';
import { zstdCompressSync } from 'node:zlib';
import { encodeMessage, MessageReader } from './framing.ts';
import type { LogMessage } from './messages.ts';

const ROW = {
  seq: 8,
  changeId: 'c8',
  kind: 'flags.changed',
  projectId: 'p',
  environmentId: 'e',
  revision: 3,
} as const;

const MESSAGES: readonly LogMessage[] = [
  { type: 'hello', version: 1, epoch: 'first', scope: 'whole', continues: false },
  { type: 'snapshot', states: ['e', [['a', `{"enabled":true,"value":"${'é'.repeat(600)}"}`]]] },
  { type: 'snapshot-end', cursor: { epoch: 'first', seq: 7, changeId: 'c7' }, records: 1 },
  { type: 'row', row: { ...ROW, payload: '[["a",null]]', actor: '', at: 1 } },
  { type: 'heartbeat', seq: 8, sentMs: 1.5, ageMs: 0 },
];

const BYTES = Buffer.concat(MESSAGES.map(encodeMessage));

describe('MessageReader', () => {
  test('messages are the same wherever their bytes are cut', () => {
    for (let cut = 0; cut <= BYTES.length; cut++) {
      const reader = new MessageReader();
      const chunks = [BYTES.subarray(0, cut), BYTES.subarray(cut)];
      expect(chunks.flatMap((chunk) => [...reader.read(chunk)])).toEqual([...MESSAGES]);
    }
  });

  test('messages that arrive byte by byte are the same', () => {
    const reader = new MessageReader();
    expect([...BYTES].flatMap((byte) => [...reader.read(new Uint8Array([byte]))])).toEqual([...MESSAGES]);
  });

  test.each([
    ['an HTML page', new TextEncoder().encode('<!DOCTYPE html><html></html>')],
    ['a length beyond any message', new Uint8Array([0xff, 0xff, 0xff, 0xff, 0])],
    ['an unknown coding', framed(9, '{}')],
    ['broken JSON', framed(0, '{"type":')],
    ['bytes that are not UTF-8', framed(0, new Uint8Array([0x22, 0xff, 0x22]))],
    ['bytes that are not compressed', framed(1, '{"type":"end","reason":"lost"}')],
    ['a bomb', framed(1, zstdCompressSync(Buffer.alloc(200 * 1024 * 1024, ' ')))],
    ['a list', framed(0, '[]')],
    ['a message of another type', framed(0, '{"type":"constructor"}')],
    ['a row without a payload', framed(0, JSON.stringify({ type: 'row', row: ROW }))],
    ['a name that fits no address', framed(0, JSON.stringify({ ...MESSAGES[0], epoch: 'e'.repeat(201) }))],
    ['a heartbeat from before its stream', framed(0, '{"type":"heartbeat","seq":1,"sentMs":-1,"ageMs":0}')],
  ])('%s is refused', (_, bytes) => {
    expect(() => [...new MessageReader().read(bytes)]).toThrow(/^it (sent|does not speak)/);
  });
});

function framed(coding: number, body: string | Uint8Array): Uint8Array {
  const bytes = typeof body === 'string' ? new TextEncoder().encode(body) : body;
  const header = new Uint8Array(5);
  new DataView(header.buffer).setUint32(0, bytes.length);
  header[4] = coding;
  return Buffer.concat([header, bytes]);
}
