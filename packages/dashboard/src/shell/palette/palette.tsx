import { Command } from 'cmdk';
import type { LucideIcon } from 'lucide-react';
import ArrowDown from 'lucide-react/icons/arrow-down';
import ArrowRight from 'lucide-react/icons/arrow-right';
import ArrowUp from 'lucide-react/icons/arrow-up';
import CornerDownLeft from 'lucide-react/icons/corner-down-left';
import Flag from 'lucide-react/icons/flag';
import Folder from 'lucide-react/icons/folder';
import Plus from 'lucide-react/icons/plus';
import Search from 'lucide-react/icons/search';
import SlidersHorizontal from 'lucide-react/icons/sliders-horizontal';
import { useEffect, useState } from 'react';
import { useCurrentProject } from '../../browser/links.ts';
import type { Command as Offer } from '../../components/commands.tsx';
import { Dialog } from '../../components/dialog.tsx';
import { Kbd } from '../../components/kbd.tsx';
import { messages as shell } from '../messages.ts';
import { PALETTE_FIELD, PALETTE_FRAME } from '../palette-style.ts';
import { recentIn, remember } from '../recent.ts';
import { CREATE_FLAG, useFlagCommands } from './flag-commands.ts';
import { isNamed, matchCommands } from './match.ts';
import { messages } from './messages.ts';
import { useGeneralCommands, useSearchCommands } from './palette-commands.ts';

const words = messages.palette;

/** The command palette: a field, and the matching commands below it. */
export function Palette({
  text,
  onType,
  onClose,
  onHelp,
}: {
  text: string;
  onType: (text: string) => void;
  onClose: () => void;
  onHelp: () => void;
}) {
  const [selected, select] = useState('');
  return (
    <Dialog title={shell.palette.title} frame="bare" onClose={onClose} className={PALETTE_FRAME}>
      <Command
        shouldFilter={false}
        loop
        value={selected}
        onValueChange={select}
        label={shell.palette.title}
        className="flex max-h-[70vh] flex-col"
      >
        <Command.Input
          data-autofocus
          value={text}
          onValueChange={onType}
          placeholder={shell.palette.hint}
          className={PALETTE_FIELD}
        />

        <Command.List className="min-h-0 flex-1 overflow-y-auto p-1.5" label={words.results}>
          <PaletteResults text={text} onSelect={select} onClose={onClose} onHelp={onHelp} />
        </Command.List>

        <p
          aria-hidden
          className="flex shrink-0 gap-4 border-t border-line px-4 py-2 text-xs text-ink-3 max-sm:hidden"
        >
          <span className="flex items-center gap-1">
            <ArrowUp size={12} />
            <ArrowDown size={12} /> {words.keys.select}
          </span>
          <span className="flex items-center gap-1">
            <CornerDownLeft size={12} /> {words.keys.run}
          </span>
          <span>{words.keys.close}</span>
          <span className="ml-auto">{words.keys.all}</span>
        </p>
      </Command>
    </Dialog>
  );
}

interface ResultsProps {
  readonly text: string;
  /** Marks the command of this id, which Enter would run. */
  readonly onSelect: (id: string) => void;
  readonly onClose: () => void;
  readonly onHelp: () => void;
}

/** The commands that match the text, by group. */
function PaletteResults(props: ResultsProps) {
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
  onSelect,
  onClose,
  onHelp,
}: ResultsProps & { project: string | undefined; flags: readonly Offer[] }) {
  const general = matchCommands(useGeneralCommands(project, onHelp), text);
  const found = useSearchCommands(project, text);
  const recent = text.trim() === '' ? recentOf(project, [...flags, ...general]) : [];
  const screens = general.filter((each) => each.group === words.groups.goTo && isNamed(each, text));

  // A Set keeps the first place of each.
  const others = [...new Set([...screens, ...(text.trim() === '' ? [] : flags), ...general, ...found])];
  // The palette knows each by its ID.
  const offers = [...recent, ...others.filter(({ id }) => !recent.some((each) => each.id === id))];

  // Last, so that Enter never creates a flag where something exists by that name.
  const sorted = [
    ...offers.filter(({ id }) => id !== CREATE_FLAG),
    ...offers.filter(({ id }) => id === CREATE_FLAG),
  ];

  const groups = Map.groupBy(sorted, ({ group }) => group);
  const [first] = [...groups.values()].flat();
  // Search results arrive later than the text changes: the selection follows them.
  // biome-ignore lint/correctness/useExhaustiveDependencies: a new text selects the first command again
  useEffect(() => onSelect(first?.id ?? ''), [text, first?.id, onSelect]);

  return (
    <>
      {groups.size === 0 && <p className="px-3 py-8 text-center text-ink-2">{words.noMatch(text)}</p>}

      {[...groups].map(([group, commands]) => (
        <Command.Group
          key={group}
          heading={group}
          className="[&_[cmdk-group-heading]]:px-2.5 [&_[cmdk-group-heading]]:pt-2 [&_[cmdk-group-heading]]:pb-1 [&_[cmdk-group-heading]]:text-xs [&_[cmdk-group-heading]]:text-ink-3"
        >
          {commands.map(({ id, title, shortcut, hint, icon: Icon = ICONS[group], run }) => (
            <Command.Item
              key={id}
              value={id}
              onSelect={() => {
                remember(project ?? '', id);
                onClose();
                run();
              }}
              className="flex min-h-8 pointer-coarse:min-h-10 cursor-pointer items-center gap-3 rounded-md px-2.5 py-1 data-[selected=true]:bg-hover data-[selected=true]:outline data-[selected=true]:-outline-offset-1 data-[selected=true]:outline-line-strong"
            >
              {Icon && <Icon size={15} className="shrink-0 text-ink-3" aria-hidden />}
              <span className="min-w-0 flex-1 break-words">{title}</span>
              {hint}
              {shortcut !== undefined && <Kbd keys={shortcut} className="pointer-coarse:hidden" />}
            </Command.Item>
          ))}
        </Command.Group>
      ))}
    </>
  );
}

/** How many of the commands that were used last are offered. */
const FEW = 6;

/** The commands that were used last, as far as they are offered now. */
function recentOf(project: string | undefined, offers: readonly Offer[]): readonly Offer[] {
  const byId = new Map(offers.map((offer) => [offer.id, offer]));
  const used = recentIn(project ?? '').flatMap((id) => byId.get(id) ?? []);
  return used.slice(0, FEW).map((offer): Offer => {
    const { icon = ICONS[offer.group] } = offer;
    return { ...offer, group: words.groups.recent, ...(icon && { icon }) };
  });
}

/** What the commands of a group look like. */
const ICONS: Readonly<Record<string, LucideIcon | undefined>> = {
  [words.groups.flags]: Flag,
  [words.groups.create]: Plus,
  [words.groups.goTo]: ArrowRight,
  [words.groups.projects]: Folder,
  [words.groups.settings]: SlidersHorizontal,
  [words.groups.everywhere]: Search,
};
