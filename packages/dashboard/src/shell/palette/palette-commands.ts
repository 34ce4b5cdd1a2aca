import { FLAG_KEY_PATTERN } from '@halyard/protocol';
import Copy from 'lucide-react/icons/copy';
import ToggleLeft from 'lucide-react/icons/toggle-left';
import ToggleRight from 'lucide-react/icons/toggle-right';
import { createElement, useEffect, useMemo, useState } from 'react';
import { useLocation } from 'wouter';
import { useFlags } from '../../api/flags.ts';
import { useEnvironments, useProjects } from '../../api/projects.ts';
import { useSearchHits } from '../../api/search.ts';
import { useCan, useCanEverywhere, useIsAdminAnywhere, useSso } from '../../api/session.ts';
import type { EnvironmentRecord, FlagRecord, SearchHit } from '../../api/types.ts';
import { links, PROJECT_SCREENS, PROJECT_SETTINGS, SETTINGS_SCREENS } from '../../browser/links.ts';
import { THEMES, useTheme } from '../../browser/theme.ts';
import { useReadOnlyReason } from '../../changes/change-guards.tsx';
import { useChangeState } from '../../changes/change-state.tsx';
import { type Command, useOfferedCommands } from '../../components/commands.tsx';
import { copyText } from '../../components/copy.tsx';
import { toast } from '../../components/toasts.tsx';
import { messages as shell } from '../messages.ts';
import { recentIn } from '../recent.ts';
import { FlagStates, SwitchState } from './flag-hints.tsx';
import { matchCommands, matchFlags } from './match.ts';
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
  const { data: flags = NONE } = useFlags(project);
  const environments = useEnvironments(project);
  const [, navigate] = useLocation();
  const canEdit = useCan('editor');
  const changeState = useChangeState(project);
  const readOnlyReason = useReadOnlyReason();
  return useMemo(() => {
    if (text.trim() === '') return recentIn(project).flatMap(again);
    const names = environments.map(({ name }) => name);
    const found = matchFlags(flags, text, { environments: names, most: MOST });
    const isNew = !flags.some(({ key }) => key === text.trim());
    const screens = found.map((flag) => goTo(flag));
    const actions = matchCommands(found.slice(0, FEW).flatMap(actionsOf), text);
    return [
      ...(ASKS_FOR_ACTION.test(text) ? [...actions, ...screens] : [...screens, ...actions]),
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
      const switches = changeable.map((environment) => toggle(flag, environment));
      return [...switches, copy(flag)];
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

/** The commands of every screen, and those that the current screen offers. */
export function useGeneralCommands(project: string | undefined, onHelp: () => void): readonly Command[] {
  const offered = useOfferedCommands();
  const [, navigate] = useLocation();
  const [, setTheme] = useTheme();
  const [canEdit, canManage] = [useCan('editor'), useCan('admin')];
  const [isAdmin, isGlobalAdmin] = [useIsAdminAnywhere(), useCanEverywhere('admin')];
  const sso = useSso();
  const canInvite = isAdmin && !sso?.only;
  const { data: projects } = useProjects();
  return useMemo(() => {
    const go = (id: string, title: string, to: string): Command => ({
      id: `go.${id}`,
      title,
      group: words.groups.goTo,
      run: () => navigate(to),
    });

    const screens =
      project === undefined
        ? []
        : [...PROJECT_SCREENS, ...PROJECT_SETTINGS].map(({ name, key, to }) => ({
            ...go(name, name, to(project)),
            shortcut: `g ${key}`,
          }));
    const others = (projects ?? [])
      .filter(({ name }) => name !== project)
      .map(({ name }) => ({
        ...go(`project.${name}`, name, links.flags(name)),
        group: words.groups.projects,
      }));
    const settings = SETTINGS_SCREENS.filter(({ isForAdmins }) => isAdmin || !isForAdmins);

    const created = creations(project, { canEdit, canManage, isAdmin, isGlobalAdmin, canInvite })
      // The screen itself may offer it, with its key.
      .filter(({ id }) => !offered.some((each) => each.id === id))
      .map(({ id, title, to }) => ({
        id,
        title,
        group: words.groups.create,
        keywords: ['create', 'add'],
        run: () => navigate(to),
      }));

    const themes = THEMES.map((theme) => ({
      id: `theme.${theme}`,
      title: words.themes[theme],
      group: words.groups.settings,
      keywords: ['mode', 'appearance', 'colors'],
      run: () => setTheme(theme),
    }));
    const docs = {
      id: 'docs',
      title: shell.user.documentation,
      group: words.groups.goTo,
      run: () => location.assign('/docs'),
    };
    const help = {
      id: 'help',
      title: shell.palette.shortcuts,
      group: words.groups.settings,
      keywords: ['help', 'keys'],
      shortcut: '?',
      run: onHelp,
    };

    return [
      ...offered,
      ...screens,
      ...created,
      ...others,
      ...settings.map(({ name, address }) => go(name, name, address)),
      docs,
      ...themes,
      help,
    ];
  }, [
    offered,
    project,
    projects,
    navigate,
    setTheme,
    onHelp,
    canEdit,
    canManage,
    isAdmin,
    isGlobalAdmin,
    canInvite,
  ]);
}

/** What the person may create, and the address whose screen asks for it. */
function creations(
  project: string | undefined,
  may: Readonly<Record<'canEdit' | 'canManage' | 'isAdmin' | 'isGlobalAdmin' | 'canInvite', boolean>>,
): readonly { readonly id: string; readonly title: string; readonly to: string }[] {
  const titles = words.creations;
  const inProject =
    project === undefined
      ? []
      : ([
          [may.canEdit, 'flag', `${links.flags(project)}?new=`],
          [may.canEdit, 'schedule', `${links.schedules(project)}?new=1`],
          [may.canManage, 'key', `${links.keys(project)}?new=1`],
          [may.canManage, 'environment', `${links.environments(project)}?new=1`],
          [may.canManage, 'webhook', `${links.webhooks(project)}?new=1`],
        ] as const);
  const elsewhere = [
    [may.isGlobalAdmin, 'project', `${links.projects}&new=project`],
    [may.canInvite, 'operator', `${links.operators}?new=1`],
    [may.isAdmin, 'token', `${links.tokens}?new=1`],
    [may.isAdmin, 'relay-token', `${links.relayTokens}?new=1`],
  ] as const;
  return [...inProject, ...elsewhere].flatMap(([isAllowed, noun, to]) =>
    isAllowed ? [{ id: `${noun}.new`, title: titles[noun], to }] : [],
  );
}

/** How long after the last key the server is searched, in milliseconds. */
const PAUSE_MS = 150;

/** Search results of the server: everything in other projects, and all but flags in this one. */
export function useSearchCommands(project: string | undefined, text: string): readonly Command[] {
  const [, navigate] = useLocation();
  const [asked, setAsked] = useState('');
  useEffect(() => {
    const timer = setTimeout(() => setAsked(text.trim()), PAUSE_MS);
    return () => clearTimeout(timer);
  }, [text]);
  const { data } = useSearchHits(asked);
  return useMemo(() => {
    if (text.trim() === '') return [];
    // Flags of this project are listed already, and projects have their own group.
    const hits = (data ?? []).filter(({ kind, project: place }) =>
      kind === 'flag' ? place !== project : kind !== 'project',
    );
    return hits.map((hit) => ({
      id: `found.${hit.kind}.${hit.project}.${hit.key ?? hit.environment ?? hit.id ?? ''}`,
      title: titleOf(hit),
      group: words.groups.everywhere,
      run: () => navigate(addressOf(hit)),
    }));
  }, [data, text, project, navigate]);
}

function titleOf({ kind, project, environment, key, name }: SearchHit): string {
  switch (kind) {
    case 'flag':
      return words.foundFlag(key ?? '', project);
    case 'environment':
      return words.foundEnvironment(environment ?? '', project);
    case 'key':
      return words.foundKey(name ?? '', project);
    case 'project':
      return project;
  }
}

function addressOf({ kind, project, key }: SearchHit): string {
  switch (kind) {
    case 'flag':
      return links.flag(project, key ?? '');
    case 'environment':
      return links.environments(project);
    case 'key':
      return links.keys(project);
    case 'project':
      return links.flags(project);
  }
}
