import { useEffect, useMemo, useState } from 'react';
import { useLocation } from 'wouter';
import { useProjects } from '../../api/projects.ts';
import { useSearchHits } from '../../api/search.ts';
import { useCan, useCanEverywhere, useIsAdminAnywhere, useSso } from '../../api/session.ts';
import type { SearchHit } from '../../api/types.ts';
import { links, PROJECT_SCREENS, PROJECT_SETTINGS, SETTINGS_SCREENS } from '../../browser/links.ts';
import { THEMES, useTheme } from '../../browser/theme.ts';
import { type Command, useOfferedCommands } from '../../components/commands.tsx';
import { messages as shell } from '../messages.ts';
import { messages } from './messages.ts';

const words = messages.palette;

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
