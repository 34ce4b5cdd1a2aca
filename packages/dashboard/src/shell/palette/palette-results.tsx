import { Command } from 'cmdk';
import { useEffect } from 'react';
import { Kbd } from '../../components/kbd.tsx';
import type { Command as Offer } from '../commands.tsx';
import { useCurrentProject } from '../current-project.ts';
import { matchCommands } from './match.ts';
import { useFlagCommands } from './use-flag-commands.ts';
import { useGeneralCommands } from './use-general-commands.ts';
import { useSearchCommands } from './use-search-commands.ts';

interface ResultsProps {
  readonly text: string;
  /** Marks the command of this id, which Enter would run. */
  readonly onChoose: (id: string) => void;
  readonly onClose: () => void;
  readonly onHelp: () => void;
}

/** What matches the text, under headings. */
export function PaletteResults(props: ResultsProps) {
  const project = useCurrentProject();
  return project === undefined ? (
    <Results {...props} project={undefined} flags={NO_FLAGS} />
  ) : (
    <ProjectResults {...props} project={project} />
  );
}

const NO_FLAGS: readonly Offer[] = [];

function ProjectResults({ project, ...props }: ResultsProps & { project: string }) {
  return <Results {...props} project={project} flags={useFlagCommands(project, props.text)} />;
}

function Results({
  project,
  text,
  flags,
  onChoose,
  onClose,
  onHelp,
}: ResultsProps & { project: string | undefined; flags: readonly Offer[] }) {
  const general = matchCommands(useGeneralCommands(project, onHelp), text);
  const found = useSearchCommands(project, text);
  const groups = Map.groupBy([...flags, ...general, ...found], ({ group }) => group);
  const [first] = [...groups.values()].flat();
  // What is found is not there yet when the text changes: the mark follows once it is.
  // biome-ignore lint/correctness/useExhaustiveDependencies: another text begins at the top again
  useEffect(() => onChoose(first?.id ?? ''), [text, first?.id, onChoose]);
  return (
    <>
      {groups.size === 0 && <p className="px-3 py-8 text-center text-ink-2">Nothing matches “{text}”.</p>}
      {[...groups].map(([group, commands]) => (
        <Command.Group
          key={group}
          heading={group}
          className="[&_[cmdk-group-heading]]:px-2.5 [&_[cmdk-group-heading]]:pt-2 [&_[cmdk-group-heading]]:pb-1 [&_[cmdk-group-heading]]:text-xs [&_[cmdk-group-heading]]:text-ink-3"
        >
          {commands.map(({ id, title, shortcut, run }) => (
            <Command.Item
              key={id}
              value={id}
              onSelect={() => {
                onClose();
                run();
              }}
              className="flex min-h-8 cursor-pointer items-center gap-3 rounded-md px-2.5 py-1 data-[selected=true]:bg-hover data-[selected=true]:outline data-[selected=true]:-outline-offset-1 data-[selected=true]:outline-line-strong"
            >
              <span className="min-w-0 flex-1 break-words">{title}</span>
              {shortcut !== undefined && <Kbd keys={shortcut} />}
            </Command.Item>
          ))}
        </Command.Group>
      ))}
    </>
  );
}
