import type { LucideIcon } from 'lucide-react';
import type { ReactNode } from 'react';
import { useCreating } from '../browser/use-search-state.ts';
import { CreateButton } from './button.tsx';
import { useCreateCommand } from './commands.tsx';
import { Page, ReadOnlyNote } from './page.tsx';
import { EmptyState, Loaded, type Reading } from './screen-states.tsx';

/** The texts of a screen that lists records. */
interface ListTexts {
  readonly title: string;
  readonly intro: ReactNode;
  /** What requires an administrator. */
  readonly readOnly: string;
  readonly create: string;
  /** The same in the palette, where "New token" says too little. */
  readonly createCommand?: string;
  readonly emptyTitle?: string;
  readonly empty?: ReactNode;
}

/**
 * A screen that lists records: its heading, the list or what to show instead, and the dialog that creates a record. The
 * button, `n`, the palette and `?new` open the dialog.
 */
export function ListScreen<Data>({
  texts,
  project,
  command,
  reading,
  isEmpty = () => false,
  rows,
  icon,
  createIcon,
  canRead = true,
  canCreate,
  isReady = true,
  dialog,
  below,
  children,
}: {
  texts: ListTexts;
  /** The project of the records, for the title of the window. */
  project?: string;
  /** The id of the command that creates a record, such as `key.new`. */
  command: string;
  reading: Reading<Data>;
  /** Default: the list always has something. */
  isEmpty?: (data: Data) => boolean;
  /** How many gray rows are shown while the list loads. */
  rows?: number;
  /** Of an empty list. */
  icon?: LucideIcon;
  /** Of the button that creates a record; by default a plus. */
  createIcon?: LucideIcon;
  canRead?: boolean;
  canCreate: boolean;
  /** Whether everything that the dialog needs has loaded. */
  isReady?: boolean;
  dialog: (onClose: () => void) => ReactNode;
  /** Shown below the list, and below what is shown instead of it. */
  below?: ReactNode;
  children: (data: Data) => ReactNode;
}) {
  const { isCreating, start, stop } = useCreating();
  const { title, create, createCommand = create } = texts;
  useCreateCommand({ id: command, title: createCommand, isAllowed: canCreate, run: start });

  const isBlank = reading.data !== undefined && isEmpty(reading.data);
  const button = canCreate && (
    <CreateButton icon={createIcon} disabled={!isReady} onClick={start}>
      {create}
    </CreateButton>
  );

  return (
    <Page
      title={project === undefined ? title : `${title} · ${project}`}
      heading={title}
      // The empty list shows the button itself.
      actions={!isBlank && button}
      intro={texts.intro}
    >
      <ReadOnlyNote>{texts.readOnly}</ReadOnlyNote>

      {canRead && (
        <Loaded reading={reading} rows={rows}>
          {(data) =>
            isBlank ? (
              <EmptyState icon={icon} title={texts.emptyTitle ?? ''} action={button}>
                {texts.empty}
              </EmptyState>
            ) : (
              children(data)
            )
          }
        </Loaded>
      )}

      {/* Before the list it would be moved by it. */}
      {(!canRead || reading.data !== undefined || reading.error !== null) && below}
      {isCreating && canCreate && isReady && dialog(stop)}
    </Page>
  );
}
