import type { LucideIcon } from 'lucide-react';
import {
  createContext,
  type ReactNode,
  type RefObject,
  useCallback,
  useContext,
  useEffect,
  useMemo,
  useRef,
  useState,
} from 'react';
import { useShortcut } from '../browser/use-shortcut.ts';
import { messages } from './messages.ts';

/** A command of the palette. */
export interface Command {
  /** Unique. */
  readonly id: string;
  /** Its text, as "Go to flag new-checkout". */
  readonly title: string;
  /** The heading above it. */
  readonly group: string;
  /** More words that find it. */
  readonly keywords?: readonly string[];
  /** The equivalent keys, as "n". */
  readonly shortcut?: string;
  /** Default: that of the group. */
  readonly icon?: LucideIcon;
  /** Shown at the end, such as the present state. */
  readonly hint?: ReactNode;
  readonly run: () => void;
}

interface Registry {
  readonly commands: readonly Command[];
  readonly register: (commands: readonly Command[]) => () => void;
}

const ListContext = createContext<readonly Command[]>([]);
const RegisterContext = createContext<Registry['register']>(() => () => {});

/** Offers these commands while the component is on the screen. Memoize the list. */
function useCommands(commands: readonly Command[]): void {
  const register = useContext(RegisterContext);
  useEffect(() => register(commands), [register, commands]);
}

/** All commands that are offered now. */
export function useOfferedCommands(): readonly Command[] {
  return useContext(ListContext);
}

/** Collects the commands of the components inside. */
export function CommandsProvider({ children }: { children: ReactNode }) {
  const [lists, setLists] = useState<readonly (readonly Command[])[]>([]);
  const register = useMemo(
    () => (commands: readonly Command[]) => {
      setLists((current) => [...current, commands]);
      return () => setLists((current) => current.filter((each) => each !== commands));
    },
    [],
  );
  const commands = useMemo(() => lists.flat(), [lists]);
  return (
    <RegisterContext value={register}>
      <ListContext value={commands}>{children}</ListContext>
    </RegisterContext>
  );
}

/** Offers a command with a single key and in the palette, if `isAllowed`. */
export function useCommand({
  id,
  title,
  group,
  shortcut,
  isAllowed = true,
  run,
}: Required<Pick<Command, 'id' | 'title' | 'group' | 'shortcut'>> & {
  isAllowed?: boolean;
  /** Keep it stable. */
  run: () => void;
}): void {
  useShortcut(shortcut, () => {
    if (isAllowed) run();
  });
  useCommands(
    useMemo(
      () => (isAllowed ? [{ id, title, group, shortcut, run }] : []),
      [id, title, group, shortcut, isAllowed, run],
    ),
  );
}

/** Offers to create what a screen lists, with `n` and in the palette, if `isAllowed`. */
export function useCreateCommand(command: {
  /** As "key.new". */
  id: string;
  /** As "New key". */
  title: string;
  isAllowed: boolean;
  /** Keep it stable. */
  run: () => void;
}): void {
  useCommand({ ...command, group: 'Create', shortcut: 'n' });
}

/**
 * Offers to go to a bar of actions on what is selected, with `a` and in the palette: it is at the end of the screen, and a
 * long list has thousands of controls before it. Give the bar the returned `ref`.
 */
export function useActionsCommand(): RefObject<HTMLDivElement | null> {
  const ref = useRef<HTMLDivElement>(null);
  const run = useCallback(() => ref.current?.querySelector<HTMLElement>('button:enabled')?.focus(), []);
  useCommand({
    id: 'selection.actions',
    title: messages.selectionActions,
    group: 'Change',
    shortcut: 'a',
    run,
  });
  return ref;
}
