import { useState } from 'react';
import type { ProjectRecord } from '../api/types.ts';
import { EnvironmentSelect } from '../components/environment-select.tsx';
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
          <EnvironmentSelect label="From" environments={environments} chosen={from} onChoose={setFrom} />
          <EnvironmentSelect
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
