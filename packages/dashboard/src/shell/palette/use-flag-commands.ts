import { FLAG_KEY_PATTERN } from '@halyard/protocol';
import { useMemo } from 'react';
import { useLocation } from 'wouter';
import { useFlags } from '../../api/flags.ts';
import { useEnvironments } from '../../api/projects.ts';
import { useCan } from '../../api/session.ts';
import type { EnvironmentRecord, FlagRecord } from '../../api/types.ts';
import { useReadOnlyReason } from '../../changes/change-guards.tsx';
import { useChangeState } from '../../changes/change-state.tsx';
import { copyText } from '../../components/copy-button.tsx';
import { toast } from '../../components/toasts.tsx';
import type { Command } from '../commands.tsx';
import { links } from '../links.ts';
import { matchCommands, matchFlags } from './match.ts';

const NONE: readonly FlagRecord[] = [];

/** Flags that are offered to go to, and of how many of them the switches are offered. */
const [MOST, FEW] = [8, 2];

/** A text that says what to do, rather than where to go. */
const ASKS_FOR_DEED = /^\s*(turn|toggle|flip|enable|disable|copy)\b/i;

/** What can be done with the flags that a text means. */
export function useFlagCommands(project: string, text: string): readonly Command[] {
  const { data: flags = NONE } = useFlags(project);
  const environments = useEnvironments(project);
  const [, navigate] = useLocation();
  const canEdit = useCan('editor');
  const changeState = useChangeState(project);
  const readOnlyReason = useReadOnlyReason();
  return useMemo(() => {
    if (text.trim() === '') return [];
    const names = environments.map(({ name }) => name);
    const found = matchFlags(flags, text, { environments: names, most: MOST });
    const isNew = !flags.some(({ key }) => key === text.trim());
    const screens = found.map((flag) => goTo(flag));
    const deeds = matchCommands(found.slice(0, FEW).flatMap(deedsOf), text);
    return [
      ...(ASKS_FOR_DEED.test(text) ? [...deeds, ...screens] : [...screens, ...deeds]),
      ...(canEdit && isNew && FLAG_KEY_PATTERN.test(text.trim()) ? [create(text.trim())] : []),
    ];

    function goTo({ key, description }: FlagRecord): Command {
      return {
        ...{ id: `flag.go.${key}`, title: key, group: 'Flags', keywords: [description] },
        run: () => navigate(links.flag(project, key)),
      };
    }

    function deedsOf(flag: FlagRecord): Command[] {
      const changeable = environments.filter((environment) => readOnlyReason(environment) === undefined);
      const switches = changeable.map((environment) => toggle(flag, environment));
      return [...switches, copy(flag)];
    }

    function toggle(flag: FlagRecord, environment: EnvironmentRecord): Command {
      const before = flag.environments[environment.name];
      const enabled = before?.state.enabled !== true;
      return {
        id: `flag.toggle.${environment.name}.${flag.key}`,
        title: `Turn ${enabled ? 'on' : 'off'} ${flag.key} in ${environment.name}`,
        group: 'Change',
        keywords: ['toggle', 'flip', enabled ? 'enable' : 'disable', flag.description, ...flag.tags],
        run: () =>
          void changeState({ key: flag.key, environment, before, after: { ...before?.state, enabled } }),
      };
    }

    function copy({ key, description, tags }: FlagRecord): Command {
      return {
        ...{ id: `flag.copy.${key}`, title: `Copy the key ${key}`, group: 'Change' },
        keywords: ['flag', description, ...tags],
        run: () =>
          void copyText(key).then(
            (isDone) => isDone && toast({ kind: 'done', title: `Copied ${key}`, durationMs: 3_000 }),
          ),
      };
    }

    function create(key: string): Command {
      return {
        ...{ id: 'flag.create', title: `Create the flag ${key}`, group: 'Create' },
        run: () => navigate(`${links.flags(project)}?new=${encodeURIComponent(key)}`),
      };
    }
  }, [project, text, flags, environments, canEdit, changeState, navigate, readOnlyReason]);
}
