import Bookmark from 'lucide-react/icons/bookmark';
import ChevronDown from 'lucide-react/icons/chevron-down';
import { useMemo, useState } from 'react';
import { useSearch } from 'wouter';
import { useStored } from '../../browser/stored.ts';
import { useSearchState } from '../../browser/use-search-state.ts';
import { Button } from '../../components/button.tsx';
import { TextField } from '../../components/field.tsx';
import { FormDialog, useForm } from '../../components/form.tsx';
import { Menu, MenuChoice, MenuItem, MenuSeparator } from '../../components/menu.tsx';
import { FILTER_MEMBERS } from '../../flags/flag-filter.ts';
import { messages } from './messages.ts';

const words = messages.views;

/** Filters and an order under a name. */
interface View {
  readonly name: string;
  /** As in the address, in a fixed order. */
  readonly search: string;
}

/** The filters that this browser keeps for a project, and their menu. */
export function ViewsMenu({ project }: { project: string }) {
  const [text, store] = useStored(`views.${project}`);
  const views = useMemo(() => parseViews(text), [text]);
  const [, setParams] = useSearchState();
  const current = searchOf(new URLSearchParams(useSearch()));
  const here = views.find(({ search }) => search === current);
  const [isSaving, setSaving] = useState(false);
  const save = (next: readonly View[]) => store(JSON.stringify(next));

  function show({ search }: View): void {
    const params = new URLSearchParams(search);
    setParams(Object.fromEntries(FILTER_MEMBERS.map((name) => [name, params.get(name) ?? ''])));
  }

  return (
    <>
      <Menu
        align="start"
        trigger={
          <Button className="max-w-48 px-2.5 font-normal">
            <Bookmark size={14} className="shrink-0 text-ink-3" aria-hidden />
            <span className="truncate">{here?.name ?? words.title}</span>
            <ChevronDown size={13} className="shrink-0 text-ink-3" aria-hidden />
          </Button>
        }
      >
        {views.map((view) => (
          <MenuChoice key={view.name} isChosen={view === here} onSelect={() => show(view)}>
            {view.name}
          </MenuChoice>
        ))}
        {views.length > 0 && <MenuSeparator />}
        <MenuItem
          label={words.save}
          disabled={current === '' || here !== undefined}
          onSelect={() => setSaving(true)}
        />
        {here !== undefined && (
          <MenuItem
            label={words.remove(here.name)}
            isDangerous
            onSelect={() => save(views.filter((view) => view !== here))}
          />
        )}
      </Menu>
      {isSaving && (
        <SaveDialog
          taken={views.map(({ name }) => name)}
          onClose={() => setSaving(false)}
          onSave={(name) => save([...views, { name, search: current }])}
        />
      )}
    </>
  );
}

/** Asks for the name of the current filters. */
function SaveDialog({
  taken,
  onClose,
  onSave,
}: {
  taken: readonly string[];
  onClose: () => void;
  onSave: (name: string) => void;
}) {
  const [name, setName] = useState('');
  const typed = name.trim();
  const form = useForm({
    problems: {
      name: typed === '' ? words.nameMissing : taken.includes(typed) ? words.nameTaken : undefined,
    },
    submit: () => {
      onSave(typed);
      onClose();
    },
  });

  return (
    <FormDialog title={words.saveTitle} form={form} action={words.saveAction} isQuestion onClose={onClose}>
      <TextField
        label={words.name}
        hint={words.nameHint}
        error={form.problem('name')}
        data-autofocus
        maxLength={60}
        value={name}
        onChange={setName}
      />
    </FormDialog>
  );
}

/** The filters of an address, in a fixed order. */
function searchOf(params: URLSearchParams): string {
  const members = FILTER_MEMBERS.flatMap((name) => {
    const value = params.get(name) ?? '';
    return value === '' ? [] : [[name, value]];
  });
  return new URLSearchParams(members).toString();
}

/** Reads stored views; anything else gives an empty list. */
function parseViews(text: string | undefined): readonly View[] {
  try {
    const read: unknown = JSON.parse(text ?? '[]');
    return Array.isArray(read) ? read.filter(isView) : [];
  } catch {
    // Something else was stored under this name.
    return [];
  }
}

function isView(view: unknown): view is View {
  return (
    typeof view === 'object' &&
    view !== null &&
    'name' in view &&
    typeof view.name === 'string' &&
    'search' in view &&
    typeof view.search === 'string'
  );
}
