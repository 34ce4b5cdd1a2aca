import { useEffect, useState } from 'react';
import { useLocation } from 'wouter';
import { useProjects } from '../../api/projects.ts';
import { useSearchHits } from '../../api/search.ts';
import { useIsAdminAnywhere } from '../../api/session.ts';
import type { SearchHit } from '../../api/types.ts';
import { links, PROJECT_SCREENS, PROJECT_SETTINGS, SETTINGS_SCREENS } from '../../browser/links.ts';
import { THEMES, useTheme } from '../../browser/theme.ts';
import { type Command, useOfferedCommands } from '../../components/commands.tsx';
import { useCreations } from '../creations.ts';
import { messages as shell } from '../messages.ts';
import { messages } from './messages.ts';

const words = messages.palette;

/** The commands of every screen, and those that the current screen offers. */
export function useGeneralCommands(project: string | undefined, onHelp: () => void): readonly Command[] {
  const offered = useOfferedCommands();
  const [, navigate] = useLocation();
  const [, setTheme] = useTheme();
  const isAdmin = useIsAdminAnywhere();
  const creations = useCreations(project).flat();
  const { data: projects = [] } = useProjects();

  const go = (id: string, title: string, to: string, group: string = words.groups.goTo): Command => ({
    id: `go.${id}`,
    title,
    group,
    run: () => navigate(to),
  });
  const screens =
    project === undefined
      ? []
      : [...PROJECT_SCREENS, ...PROJECT_SETTINGS].map(({ name, key, to }) => ({
          ...go(name, name, to(project)),
          shortcut: `g ${key}`,
        }));
  // The screen itself may offer to create something, with its key.
  const created = creations
    .filter(({ id }) => !offered.some((each) => each.id === id))
    .map(({ id, title, to }) => ({
      ...go(id, title, to, words.groups.create),
      id,
      keywords: ['create', 'add'],
    }));
  const others = projects.filter(({ name }) => name !== project);
  const settings = SETTINGS_SCREENS.filter(({ isForAdmins }) => isAdmin || !isForAdmins);

  return [
    ...offered,
    ...screens,
    ...created,
    ...others.map(({ name }) => go(`project.${name}`, name, links.flags(name), words.groups.projects)),
    ...settings.map(({ name, address }) => go(name, name, address)),
    {
      id: 'docs',
      title: shell.user.documentation,
      group: words.groups.goTo,
      run: () => location.assign('/docs'),
    },
    ...THEMES.map((theme) => ({
      id: `theme.${theme}`,
      title: words.themes[theme],
      group: words.groups.settings,
      keywords: ['mode', 'appearance', 'colors'],
      run: () => setTheme(theme),
    })),
    {
      id: 'help',
      title: shell.palette.shortcuts,
      group: words.groups.settings,
      keywords: ['help', 'keys'],
      shortcut: '?',
      run: onHelp,
    },
  ];
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
  const { data = [] } = useSearchHits(asked);
  if (text.trim() === '') return [];

  // Flags of this project are listed already, and projects have their own group.
  const hits = data.filter(({ kind, project: place }) =>
    kind === 'flag' ? place !== project : kind !== 'project',
  );
  return hits.map((hit) => {
    const [title, address] = FOUND[hit.kind](hit);
    return {
      id: `found.${hit.kind}.${hit.project}.${hit.key ?? hit.environment ?? hit.id ?? ''}`,
      title,
      group: words.groups.everywhere,
      run: () => navigate(address),
    };
  });
}

/** What a result is called, and the address of its screen. */
const FOUND: Readonly<Record<SearchHit['kind'], (hit: SearchHit) => readonly [title: string, to: string]>> = {
  flag: ({ key = '', project }) => [words.foundFlag(key, project), links.flag(project, key)],
  environment: ({ environment = '', project }) => [
    words.foundEnvironment(environment, project),
    links.environments(project),
  ],
  key: ({ name = '', project }) => [words.foundKey(name, project), links.keys(project)],
  project: ({ project }) => [project, links.flags(project)],
};
