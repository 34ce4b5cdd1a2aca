import type { ProposalRecord } from '../../api/types.ts';
import { membersOf, targetText } from '../../components/audit/action-text.ts';
import { messages } from './messages.ts';

/** One thing that a proposal changes. */
export type Effect = ProposalRecord['effects'][number];

/** What a proposal does, in a few words: "Turn on new-checkout". Its environments are said beside it. */
export function titleOf({ operation, effects, environments, project }: ProposalRecord): string {
  const states = effects.filter(({ action }) => action === 'flag.changed');
  const verb = messages.operations[operation];
  if (operation === 'updateEnvironment' || operation === 'deleteEnvironment')
    return `${verb} ${environments.join(', ')}`;
  if (operation === 'deleteProject') return `${verb} ${project}`;
  if (verb !== undefined) return `${verb} ${subjectOf(effects)}`;

  const [first] = states;
  if (first === undefined) return messages.titles.several(effects.length);
  return states.length === 1 ? stateTitle(first) : messages.titles.several(states.length);
}

function stateTitle({ target, before, after }: Effect): string {
  const { titles } = messages;
  if (after === undefined) return titles.remove(target);
  const { enabled } = membersOf(after);
  if (before === undefined) return enabled === true ? titles.on(target) : titles.setOff(target);
  if (membersOf(before).enabled === enabled) return titles.change(target);
  return enabled === true ? titles.on(target) : titles.off(target);
}

function subjectOf(effects: readonly Effect[]): string {
  const names = [...new Set(effects.flatMap((effect) => targetText(effect).split(', ')))];
  return names.length === 1 ? String(names[0]) : messages.flags(names.length);
}

/** The keys of the flags that a proposal changes or plans to change. */
export function keysOf({ effects }: ProposalRecord): readonly string[] {
  const keys = effects.flatMap((effect) => {
    if (/^(flag|rollout)\./.test(effect.action)) return [effect.target];
    return effect.action.startsWith('schedule.') ? targetText(effect).split(', ') : [];
  });
  return [...new Set(keys)];
}
