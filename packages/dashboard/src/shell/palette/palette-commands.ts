import { FLAG_KEY_PATTERN } from '@halyard/protocol';
import { useEffect, useMemo, useState } from 'react';
import { useLocation } from 'wouter';
import { useFlags } from '../../api/flags.ts';
import { useEnvironments, useProjects } from '../../api/projects.ts';
import { type SearchHit, useSearchHits } from '../../api/search.ts';
import { useCan } from '../../api/session.ts';
import type { EnvironmentRecord, FlagRecord } from '../../api/types.ts';
import { useReadOnlyReason } from '../../changes/change-guards.tsx';
import { useChangeState } from '../../changes/change-state.tsx';
import { copyText } from '../../components/copy.tsx';
import { toast } from '../../components/toasts.tsx';
import { type Command, useOfferedCommands } from '../commands.tsx';
import { links, PROJECT_SCREENS } from '../links.ts';
import { type Theme, useTheme } from '../preferences.ts';
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

const THEMES: readonly (readonly [Theme, string])[] = [
  ['light', 'Use the light theme'],
  ['dark', 'Use the dark theme'],
  ['system', 'Use the theme of the system'],
];

/** What can be done wherever one is, and what the screen itself offers. */
export function useGeneralCommands(project: string | undefined, onHelp: () => void): readonly Command[] {
  const offered = useOfferedCommands();
  const [, navigate] = useLocation();
  const [, setTheme] = useTheme();
  const canEdit = useCan('editor');
  const { data: projects } = useProjects();
  return useMemo(() => {
    const go = (id: string, title: string, to: string): Command => ({
      ...{ id: `go.${id}`, title, group: 'Go to' },
      run: () => navigate(to),
    });
    return [
      ...offered,
      ...(project === undefined
        ? []
        : PROJECT_SCREENS.map(({ name, key, to }) => ({
            ...go(name, name, to(project)),
            shortcut: `g ${key}`,
          }))),
      ...(project === undefined || !canEdit
        ? []
        : [
            {
              ...{ id: 'flag.new', title: 'New flag', group: 'Create', keywords: ['create', 'add'] },
              run: () => navigate(`${links.flags(project)}?new=`),
            },
          ]),
      ...(projects ?? [])
        .filter(({ name }) => name !== project)
        .map(({ name }) => ({ ...go(`project.${name}`, name, links.flags(name)), group: 'Projects' })),
      go('projects', 'All projects', '/?projects'),
      go('account', 'Account', links.account),
      go('audit', 'Audit log', links.audit),
      go('operators', 'Operators', links.operators),
      go('tokens', 'Access tokens', links.tokens),
      { id: 'docs', title: 'Documentation', group: 'Go to', run: () => location.assign('/docs') },
      ...THEMES.map(([theme, title]) => ({
        ...{ id: `theme.${theme}`, title, group: 'Settings', keywords: ['mode', 'appearance', 'colours'] },
        run: () => setTheme(theme),
      })),
      {
        id: 'help',
        title: 'Keyboard shortcuts',
        group: 'Settings',
        keywords: ['help', 'keys'],
        shortcut: '?',
        run: onHelp,
      },
    ];
  }, [offered, project, projects, canEdit, navigate, setTheme, onHelp]);
}

/** How long after the last key the server is asked, in milliseconds. */
const PAUSE_MS = 150;

/** What the server finds in other projects, and what of this one is no flag. */
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
    // Flags of this project are known already, and projects stand under their own heading.
    const hits = (data ?? []).filter(({ kind, project: place }) =>
      kind === 'flag' ? place !== project : kind !== 'project',
    );
    return hits.map((hit) => ({
      id: `found.${hit.kind}.${hit.project}.${hit.key ?? hit.environment ?? hit.id ?? ''}`,
      title: titleOf(hit),
      group: 'Everywhere',
      run: () => navigate(addressOf(hit)),
    }));
  }, [data, text, project, navigate]);
}

function titleOf({ kind, project, environment, key, name }: SearchHit): string {
  switch (kind) {
    case 'flag':
      return `${key ?? ''} in ${project}`;
    case 'environment':
      return `Environment ${environment ?? ''} of ${project}`;
    case 'key':
      return `Project key ${name ?? ''} of ${project}`;
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
