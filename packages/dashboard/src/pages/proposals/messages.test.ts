import { expect, test } from 'bun:test';
import { ACTION_TEXTS } from '../../components/audit/action-text.ts';
import { ACTIONS } from './messages.ts';

/** What no operation does that can be proposed; nouns end with a dot. And `flag.changed`, which is shown as a comparison of two states. */
const NEVER_PROPOSED = [
  ...['flag.changed', 'project.created', 'environment.published', 'environment.withdrawn', 'key.replaced'],
  ...['webhook.disabled', 'webhook.skipped', 'webhook.rotated', 'schedule.applied', 'schedule.failed'],
  ...['operator.invited', 'operator.joined', 'operator.removed', 'operator.linked'],
  ...['operator.reset_offered', 'operator.setup_offered', 'operator.password_changed'],
  ...['proposal.', 'token.', 'relay.', 'invitation.', 'session.'],
];

test('a proposal says in words what it does, whatever can be proposed', () => {
  const proposed = Object.keys(ACTION_TEXTS).filter(
    (action) =>
      !NEVER_PROPOSED.some((each) => each === action || (each.endsWith('.') && action.startsWith(each))),
  );
  expect(Object.keys(ACTIONS).sort()).toEqual(proposed.sort());
});
