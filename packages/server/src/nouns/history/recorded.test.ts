import { expect, test } from 'bun:test';
import { PLAIN_APPEARANCE, PLAIN_DETAILS } from '../../domain/project.ts';
import { readAppearance, readDetails } from './recorded.ts';

test('an entry of an environment says all of its appearance and of its guards', () => {
  const members = Object.keys(PLAIN_APPEARANCE).sort();
  expect(Object.keys(readAppearance(JSON.stringify(PLAIN_APPEARANCE))).sort()).toEqual(members);
});

test('guards that an entry does not name are as in every environment from the start', () => {
  expect(readAppearance('{"protected":true,"color":"red","position":2}')).toEqual({
    protected: true,
    color: 'red',
    position: 2,
    approvals: 0,
    emergencyOff: true,
    reasonRequired: false,
  });
});

test('an entry of a flag says all of its details', () => {
  const details = { ...PLAIN_DETAILS, description: 'Text', tags: ['a'], namedValues: [] };
  expect(Object.keys(readDetails(JSON.stringify(details))).sort()).toEqual(Object.keys(details).sort());
});

test('members that are damaged, or that another version has written, are left out', () => {
  expect(readDetails('{"description":1,"tags":["a",2],"owner":"team"}')).toEqual({ owner: 'team' });
  expect(readAppearance('{"protected":"yes","color":"plaid","approvals":"two"}')).toEqual({
    emergencyOff: true,
    reasonRequired: false,
  });
  expect(readDetails('{"owner"')).toEqual({});
});
