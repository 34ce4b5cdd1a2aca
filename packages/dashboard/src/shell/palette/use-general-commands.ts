import { useMemo } from 'react';
import { useLocation } from 'wouter';
import { useProjects } from '../../api/projects.ts';
import { useCan } from '../../api/session.ts';
import { type Command, useOfferedCommands } from '../commands.tsx';
import { links, PROJECT_SCREENS } from '../links.ts';
import { type Theme, useTheme } from '../theme.ts';

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
