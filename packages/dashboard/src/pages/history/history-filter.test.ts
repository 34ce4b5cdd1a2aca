import { expect, test } from 'bun:test';
import { filterFromAddress } from './history-filter.ts';

test('a range of days covers both days, in local time', () => {
  const filter = filterFromAddress(new URLSearchParams('from=2027-01-30&until=2027-01-31'), 'shop');
  expect(filter).toEqual({
    project: 'shop',
    since: new Date(2027, 0, 30).toISOString(),
    until: new Date(2027, 1, 1).toISOString(),
  });
});

test.each(['', 'yesterday', '2027-1-1'])('a day written as %p does not narrow the history', (day) => {
  expect(filterFromAddress(new URLSearchParams({ from: day, until: day }), undefined)).toEqual({});
});
