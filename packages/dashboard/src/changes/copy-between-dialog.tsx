import { useState } from 'react';
import type { EnvironmentRecord, ProjectRecord } from '../api/types.ts';
import { Select } from '../components/select.tsx';
import { CopyDialog } from './copy-dialog.tsx';
import { useWhyNotChange } from './use-why-not-change.ts';

/** Copies flags between two environments that are chosen in the dialog itself. Needs a project with two of them. */
export function CopyBetweenDialog({
  project: { name: project, environments },
  keys,
  onClose,
  onCopied,
}: {
  project: ProjectRecord;
  keys: readonly string[];
  onClose: () => void;
  onCopied: () => void;
}) {
  const whyNot = useWhyNotChange();
  const targets = environments.filter((environment) => whyNot(environment) === undefined);
  const [fromName, setFrom] = useState(environments[0]?.name);
  const [toName, setTo] = useState<string>();
  const from = environments.find(({ name }) => name === fromName);
  const to =
    targets.find(({ name }) => name === toName && name !== fromName) ?? targets.find((each) => each !== from);
  if (from === undefined || to === undefined) return null;
  return (
    <CopyDialog
      key={`${from.name} ${to.name}`}
      {...{ project, from, to, keys, onClose, onCopied }}
      places={
        <p className="flex flex-wrap items-center gap-2">
          <Choice label="From" environments={environments} chosen={from} onChoose={setFrom} />
          <Choice
            label="to"
            environments={targets.filter((each) => each !== from)}
            chosen={to}
            onChoose={setTo}
          />
          <span className="text-ink-2">as one change:</span>
        </p>
      }
    />
  );
}

function Choice({
  label,
  environments,
  chosen,
  onChoose,
}: {
  label: string;
  environments: readonly EnvironmentRecord[];
  chosen: EnvironmentRecord;
  onChoose: (name: string) => void;
}) {
  return (
    <span className="flex items-center gap-2">
      <span aria-hidden className="text-ink-2">
        {label}
      </span>
      <Select label={label} value={chosen.name} onChange={(event) => onChoose(event.target.value)}>
        {environments.map(({ name }) => (
          <option key={name}>{name}</option>
        ))}
      </Select>
    </span>
  );
}
