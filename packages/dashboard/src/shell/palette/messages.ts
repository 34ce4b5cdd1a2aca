import type { FlagState } from '../../api/types.ts';

/** The texts of the command palette and of the list of keys, which are loaded when they are opened. */
export const messages = {
  palette: {
    results: 'Results',
    noMatch: (text: string) => `Nothing matches “${text}”.`,
    keys: { select: 'select', run: 'run', close: 'Esc close', all: '? shortcuts' },
    groups: {
      recent: 'Recent',
      flags: 'Flags',
      change: 'Change',
      create: 'Create',
      goTo: 'Go to',
      projects: 'Projects',
      settings: 'Settings',
      everywhere: 'Everywhere',
    },
    turn: (enabled: boolean, key: string, environment: string) =>
      `Turn ${enabled ? 'on' : 'off'} ${key} in ${environment}`,
    rollOut: (
      share: number,
      { key, environment, isOn }: { key: string; environment: string; isOn: boolean },
    ) => `Set ${key} to ${share} % in ${environment}${isOn ? '' : ', where it stays off'}`,
    onIn: (environments: readonly string[]) =>
      environments.length === 0 ? 'off everywhere' : `on in ${environments.join(', ')}`,
    now: (state: FlagState | undefined) => {
      if (state === undefined) return 'not set';
      if (!state.enabled) return 'off';
      return state.rolloutPct === undefined ? 'on' : `on, ${state.rolloutPct} %`;
    },
    copyKey: (key: string) => `Copy key ${key}`,
    copied: (key: string) => `Copied ${key}`,
    createFlag: (key: string) => `Create flag ${key}`,
    themes: { light: 'Use light theme', dark: 'Use dark theme', system: 'Use system theme' },
    foundFlag: (key: string, project: string) => `${key} in ${project}`,
    foundEnvironment: (environment: string, project: string) => `Environment ${environment} in ${project}`,
    foundKey: (name: string, project: string) => `Project key ${name} in ${project}`,
  },

  keyboard: {
    title: 'Keyboard shortcuts',
    everywhere: 'Everywhere',
    showKeys: 'Show these shortcuts',
    search: 'Search the list',
    create: 'Create a flag, a key, a schedule…',
    message: 'Go to the newest message, for example to undo',
    escape: 'Close, or clear the search',
    table: 'Flag table',
    fromSearch: 'First flag that the search finds',
    next: 'Next flag',
    previous: 'Previous flag',
    left: 'Environment to the left',
    right: 'Environment to the right',
    flip: 'Flip the focused switch',
    open: 'Open the flag',
    select: 'Select the flag',
    actions: 'Actions on what is selected',
    goTo: 'Go to',
  },
} as const;
