import { expect, test } from 'bun:test';
import pino from 'pino';
import { shutDown } from './shutdown.ts';

test('a step that fails is logged, and the steps after it run in order', async () => {
  const ran: string[] = [];
  const logged: string[] = [];
  const log = pino({ base: null }, { write: (line: string) => void logged.push(line) });
  await shutDown(log, [
    { name: 'first', run: () => void ran.push('first') },
    { name: 'throws', run: () => Promise.reject(new Error('the disk is full')) },
    {
      name: 'throws at once',
      run: () => {
        throw new Error('closed already');
      },
    },
    { name: 'last', run: async () => void ran.push('last') },
  ]);
  expect(ran).toEqual(['first', 'last']);
  expect(logged.map((line) => JSON.parse(line))).toMatchObject([
    { step: 'throws', err: { message: 'the disk is full' } },
    { step: 'throws at once', err: { message: 'closed already' } },
  ]);
});

test('a brief step that never ends is abandoned, and the next one runs', async () => {
  const ran: string[] = [];
  const never = {
    name: 'write to a silent database',
    kind: 'brief',
    run: () => new Promise(() => {}),
  } as const;
  await shutDown(pino({ level: 'silent' }), [never, { name: 'next', run: () => void ran.push('next') }]);
  expect(ran).toEqual(['next']);
});
