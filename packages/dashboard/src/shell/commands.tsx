import { createContext, type ReactNode, useCallback, useContext, useEffect, useMemo, useState } from 'react';
import { useShortcut } from '../components/use-shortcut.ts';

/** Something that can be done from the command palette. */
export interface Command {
  /** Unique among all. */
  readonly id: string;
  /** What it says, as "Go to flag new-checkout". */
  readonly title: string;
  /** Under which heading it stands. */
  readonly group: string;
  /** Words that find it beside the title's. */
  readonly keywords?: readonly string[];
  /** The keys that do the same, as "n". */
  readonly shortcut?: string;
  readonly run: () => void;
}

interface Registry {
  readonly commands: readonly Command[];
  readonly register: (commands: readonly Command[]) => () => void;
}

const ListContext = createContext<readonly Command[]>([]);
const RegisterContext = createContext<Registry['register']>(() => () => {});

/** Offers these commands while the component is on the screen. Memoise the list. */
export function useCommands(commands: readonly Command[]): void {
  const register = useContext(RegisterContext);
  useEffect(() => register(commands), [register, commands]);
}

/** Every command that is offered at the moment. */
export function useOfferedCommands(): readonly Command[] {
  return useContext(ListContext);
}

/** Gathers the commands of what is inside. */
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

/** Offers to make what a screen lists, with `n` and in the palette; not at all where `isAllowed` is false. */
export function useCreateCommand({
  id,
  title,
  isAllowed,
  run,
}: {
  /** As "key.new". */
  id: string;
  /** As "New key". */
  title: string;
  isAllowed: boolean;
  /** Keep it stable. */
  run: () => void;
}): void {
  useShortcut(
    'n',
    useCallback(() => {
      if (isAllowed) run();
    }, [isAllowed, run]),
  );
  useCommands(
    useMemo(
      () => (isAllowed ? [{ id, title, group: 'Create', shortcut: 'n', run }] : []),
      [id, title, isAllowed, run],
    ),
  );
}
