import { describe, expect, test } from 'bun:test';
import fc from 'fast-check';
import { digestOf } from '../../domain/secret.ts';
import { checkTicket, issueTicket } from './tickets.ts';

const NOW = Date.UTC(2026, 10, 22, 9, 40);
const MINUTE = 60_000;
const KEY = { id: crypto.randomUUID(), digest: digestOf('a key') };
const OTHER = { id: crypto.randomUUID(), digest: digestOf('another key') };
const ENVIRONMENT = crypto.randomUUID();

const find = (id: string) => [KEY, OTHER].find((key) => key.id === id);
const check = (ticket: string, now = NOW) => checkTicket(ticket, find, now);

describe('a ticket', () => {
  test('is refused if it would be good for longer than any that a node issues', () => {
    const issuedIn = (ms: number) => issueTicket(KEY, ENVIRONMENT, NOW + ms);
    // By a node whose clock is in the next hour already.
    expect(check(issuedIn(60 * MINUTE))).toBeDefined();
    expect(check(issuedIn(120 * MINUTE))).toBeUndefined();
    expect(check(issuedIn(1e12))).toBeUndefined();
  });

  test('opens the environment that it was issued for, with its key', () => {
    const ticket = issueTicket(KEY, ENVIRONMENT, NOW);
    expect(check(ticket)).toEqual({ key: KEY, environmentId: ENVIRONMENT });
    expect(ticket).not.toContain(KEY.digest);
    // Goes into an address as it is.
    expect(encodeURIComponent(ticket)).toBe(ticket);
  });

  test('stays the same for the rest of the hour, and is then good for another', () => {
    const ticket = issueTicket(KEY, ENVIRONMENT, NOW);
    expect(issueTicket(KEY, ENVIRONMENT, NOW + 19 * MINUTE)).toBe(ticket);
    const next = issueTicket(KEY, ENVIRONMENT, NOW + 20 * MINUTE);
    expect(next).not.toBe(ticket);
    for (const now of [NOW, NOW + 20 * MINUTE, NOW + 80 * MINUTE - 1])
      expect(check(ticket, now)).toBeDefined();
    expect(check(ticket, NOW + 80 * MINUTE)).toBeUndefined();
    expect(check(next, NOW + 80 * MINUTE)).toBeDefined();
  });

  test('ends with its key', () => {
    const ticket = issueTicket(KEY, ENVIRONMENT, NOW);
    expect(checkTicket(ticket, () => undefined, NOW)).toBeUndefined();
    // A key whose id was used again has another digest.
    expect(checkTicket(ticket, () => OTHER, NOW)).toBeUndefined();
  });

  test('is refused with any other character in any place', () => {
    const ticket = issueTicket(KEY, ENVIRONMENT, NOW);
    // The last character of a signature has two bits that say nothing, so it is compared as text.
    const change = fc.tuple(fc.nat(ticket.length - 1), fc.constantFrom(...'09afzAZ._-é %\n'));
    fc.assert(
      fc.property(change, ([at, character]) => {
        const changed = ticket.slice(0, at) + character + ticket.slice(at + 1);
        expect(check(changed) === undefined).toBe(changed !== ticket);
      }),
      { numRuns: 2000 },
    );
  });

  test.each([
    ['an empty one', ''],
    ['dots alone', '...'],
    ['a part of one', issueTicket(KEY, ENVIRONMENT, NOW).slice(0, -1)],
    ['two', issueTicket(KEY, ENVIRONMENT, NOW).repeat(2)],
    ['one that another key signed', issueTicket({ ...OTHER, id: KEY.id }, ENVIRONMENT, NOW)],
    ['one with a later expiry', issueTicket(KEY, ENVIRONMENT, NOW).replace(/\.\d+\./, '.99999999999999.')],
    ['one that is too long', 'x'.repeat(100_000)],
  ])('is refused: %s', (_, ticket) => {
    expect(check(ticket)).toBeUndefined();
  });
});
