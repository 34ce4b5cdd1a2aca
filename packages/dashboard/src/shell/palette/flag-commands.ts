import { FLAG_KEY_PATTERN } from '@halyard/protocol';
import Copy from 'lucide-react/icons/copy';
import Percent from 'lucide-react/icons/percent';
import ToggleLeft from 'lucide-react/icons/toggle-left';
import ToggleRight from 'lucide-react/icons/toggle-right';
import { createElement, useMemo } from 'react';
import { useLocation } from 'wouter';
import { useFlags } from '../../api/flags.ts';
import { useEnvironments } from '../../api/projects.ts';
import { useCan } from '../../api/session.ts';
import { useShownFlags } from '../../api/state-writes.ts';
import type { EnvironmentRecord, FlagRecord } from '../../api/types.ts';
import { links } from '../../browser/links.ts';
import { useReadOnlyReason } from '../../changes/change-guards.tsx';
import { useChangeState } from '../../changes/change-state.tsx';
import type { Command } from '../../components/commands.tsx';
import { copyText } from '../../components/copy.tsx';
import { toast } from '../../components/toasts.tsx';
import { recentIn } from '../recent.ts';
import { FlagStates, SwitchState } from './flag-hints.tsx';
import { matchCommands, matchFlags, shareIn } from './match.ts';
import { messages } from './messages.ts';

const words = messages.palette;

const NONE: readonly FlagRecord[] = [];

/** How many flags are offered to open, and for how many of them actions are offered. */
const [MOST, FEW] = [8, 2];

/** A text that names an action rather than a screen. */
const ASKS_FOR_ACTION = /^\s*(turn|toggle|flip|enable|disable|copy)\b/i;

/** The ID of the command that creates a flag with the typed key. */
export const CREATE_FLAG = 'flag.create';

/** The commands for the flags that a text matches. */
export function useFlagCommands(project: string, text: string): readonly Command[] {
  const { data = NONE } = useFlags(project);
  const flags = useShownFlags(project, data);
  const environments = useEnvironments(project);
  const [, navigate] = useLocation();
  const canEdit = useCan('editor');
  const changeState = useChangeState(project);
  const readOnlyReason = useReadOnlyReason();
  return useMemo(() => {
    if (text.trim() === '') return recentIn(project).flatMap(again);
    const names = environments.map(({ name }) => name);
    const options = { environments: names, most: MOST };
    const named = matchFlags(flags, text, options);
    const asked = shareIn(text);
    // A number alone is a share only where it is not a part of what people look for.
    const share = asked?.isPercent || named.length === 0 ? asked?.share : undefined;
    const found = share === undefined ? named : matchFlags(flags, asked?.rest ?? '', options);
    const isNew = !flags.some(({ key }) => key === text.trim());
    const screens = found.map((flag) => goTo(flag));
    const actions = matchCommands(found.slice(0, FEW).flatMap(actionsOf), text);
    return [
      ...(share !== undefined || ASKS_FOR_ACTION.test(text)
        ? [...actions, ...screens]
        : [...screens, ...actions]),
      ...(canEdit && isNew && FLAG_KEY_PATTERN.test(text.trim()) ? [create(text.trim())] : []),
    ];

    function goTo(flag: FlagRecord): Command {
      const { key } = flag;
      return {
        id: `flag.go.${key}`,
        title: key,
        group: words.groups.flags,
        keywords: [flag.description],
        hint: createElement(FlagStates, { flag, environments }),
        run: () => navigate(links.flag(project, key)),
      };
    }

    /** The command that was used before, if its flag still exists. */
    function again(id: string): readonly Command[] {
      const [, verb, rest = ''] = /^flag\.(go|toggle)\.(.+)$/.exec(id) ?? [];
      const [place = ''] = rest.split('.', 1);
      const key = verb === 'toggle' ? rest.slice(place.length + 1) : rest;
      const flag = flags.find((each) => each.key === key);
      if (flag === undefined) return [];
      if (verb === 'go') return [goTo(flag)];
      const environment = environments.find(({ name }) => name === place);
      const isPossible = environment !== undefined && readOnlyReason(environment) === undefined;
      return isPossible ? [toggle(flag, environment)] : [];
    }

    function actionsOf(flag: FlagRecord): Command[] {
      const changeable = environments.filter((environment) => readOnlyReason(environment) === undefined);
      const rollouts = changeable.flatMap((environment) => rollOut(flag, environment));
      const switches = changeable.map((environment) => toggle(flag, environment));
      return [...rollouts, ...switches, copy(flag)];
    }

    /** The command that sets the share that was typed, where the flag has another one. */
    function rollOut({ key, environments: states }: FlagRecord, environment: EnvironmentRecord): Command[] {
      const before = states[environment.name];
      if (share === undefined || before === undefined || before.state.rolloutPct === share) return [];
      return [
        {
          id: `flag.rollout.${environment.name}.${key}`,
          title: words.rollOut(share, { key, environment: environment.name, isOn: before.state.enabled }),
          group: words.groups.change,
          icon: Percent,
          hint: createElement(SwitchState, { environment, record: before }),
          keywords: ['go', 'rollout', 'percent', `${share}%`, asked?.typed ?? ''],
          run: () =>
            void changeState({ key, environment, before, after: { ...before.state, rolloutPct: share } }),
        },
      ];
    }

    function toggle(flag: FlagRecord, environment: EnvironmentRecord): Command {
      const before = flag.environments[environment.name];
      const enabled = before?.state.enabled !== true;
      return {
        id: `flag.toggle.${environment.name}.${flag.key}`,
        title: words.turn(enabled, flag.key, environment.name),
        group: words.groups.change,
        icon: enabled ? ToggleRight : ToggleLeft,
        hint: createElement(SwitchState, { environment, record: before }),
        keywords: ['toggle', 'flip', enabled ? 'enable' : 'disable', flag.description, ...flag.tags],
        run: () =>
          void changeState({ key: flag.key, environment, before, after: { ...before?.state, enabled } }),
      };
    }

    function copy({ key, description, tags }: FlagRecord): Command {
      return {
        id: `flag.copy.${key}`,
        title: words.copyKey(key),
        group: words.groups.change,
        icon: Copy,
        keywords: ['flag', description, ...tags],
        run: () =>
          void copyText(key).then(
            (isDone) => isDone && toast({ kind: 'done', title: words.copied(key), durationMs: 3_000 }),
          ),
      };
    }

    function create(key: string): Command {
      return {
        id: CREATE_FLAG,
        title: words.createFlag(key),
        group: words.groups.create,
        run: () => navigate(`${links.flags(project)}?new=${encodeURIComponent(key)}`),
      };
    }
  }, [project, text, flags, environments, canEdit, changeState, navigate, readOnlyReason]);
}
