import { useCallback, useRef } from 'react';
import { useLocation } from 'wouter';
import { useShortcut } from '../components/use-shortcut.ts';
import { useCurrentProject } from './current-project.ts';
import { PROJECT_SCREENS } from './links.ts';

/** How long after `g` the second key counts, in milliseconds. */
const PAUSE_MS = 1_500;

/** `g` and then a letter goes to a screen of the project: `g h` to the history. */
export function useNavigationKeys(): void {
  const project = useCurrentProject();
  const [, navigate] = useLocation();
  const startedAt = useRef(-Infinity);
  useShortcut(
    'g',
    useCallback(() => {
      startedAt.current = performance.now();
      const listener = (event: KeyboardEvent): void => {
        const screen = PROJECT_SCREENS.find(({ key }) => key === event.key);
        const isInTime = performance.now() - startedAt.current < PAUSE_MS;
        if (screen === undefined || project === undefined || !isInTime || event.ctrlKey || event.metaKey)
          return;
        event.preventDefault();
        event.stopPropagation();
        navigate(screen.to(project));
      };
      // Before the keys of the screen itself, of which one may be the same.
      addEventListener('keydown', listener, { once: true, capture: true });
    }, [project, navigate]),
  );
}
