import Pencil from 'lucide-react/icons/pencil';
import { useState } from 'react';
import { useNamedValues } from '../../api/named-values.ts';
import type { FlagRecord } from '../../api/types.ts';
import { IconButton } from '../../components/button.tsx';
import { classNames } from '../../components/class-names.ts';
import { DialogPart } from '../../components/dialog-part.tsx';
import { lazyPart } from '../../components/lazy-part.ts';
import { AddFact } from './editable-text.tsx';
import { messages } from './messages.tsx';

const words = messages.namedValues;

const NamedValuesDialog = lazyPart(() => import('./named-values-dialog.tsx'), 'NamedValuesDialog');

/** The names of the values that a flag declares, and the dialog that edits them. A flag that is only on or off has none. */
export function NamedValuesFact({
  project,
  flag,
  canEdit,
}: {
  project: string;
  flag: FlagRecord;
  canEdit: boolean;
}) {
  const [isOpen, setOpen] = useState(false);
  const values = useNamedValues(project, flag);
  if (values.length === 0 && (!canEdit || flag.valueKind === 'none')) return null;

  return (
    <div className={classNames('flex min-w-0 gap-1.5', values.length > 0 && 'items-baseline')}>
      <dt className={values.length > 0 ? 'text-ink-3' : 'sr-only'}>{words.fact}</dt>
      <dd className="flex min-w-0 flex-wrap items-center gap-1">
        {values.length === 0 && (
          <AddFact aria-label={words.edit} onClick={() => setOpen(true)}>
            {words.fact}
          </AddFact>
        )}

        {values.map(({ name, text, description }) => (
          <span
            key={name}
            title={description === '' ? text : `${description}: ${text}`}
            className="rounded bg-hover px-1.5 py-px wrap-anywhere text-ink-2"
          >
            {name}
          </span>
        ))}

        {canEdit && values.length > 0 && flag.valueKind !== 'none' && (
          <IconButton
            icon={Pencil}
            iconSize={12}
            label={words.edit}
            className="size-6"
            onClick={() => setOpen(true)}
          />
        )}
      </dd>

      {isOpen && (
        <DialogPart title={words.title(flag.key)} onClose={() => setOpen(false)}>
          <NamedValuesDialog project={project} flag={flag} values={values} onClose={() => setOpen(false)} />
        </DialogPart>
      )}
    </div>
  );
}
