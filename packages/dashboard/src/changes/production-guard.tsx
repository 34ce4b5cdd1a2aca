import ArrowRight from 'lucide-react/icons/arrow-right';
import TriangleAlert from 'lucide-react/icons/triangle-alert';
import { useState } from 'react';
import { useClients } from '../api/clients.ts';
import type { EnvironmentRecord, FlagState } from '../api/types.ts';
import { EnvironmentBadge } from '../components/badges.tsx';
import { Button } from '../components/button.tsx';
import { Dialog, DialogActions } from '../components/dialog.tsx';
import { differingFields, stateText } from '../components/state-summary.tsx';

/** A change of a protected environment that wants a person's consent. */
export interface GuardedChange {
  readonly project: string;
  readonly environment: EnvironmentRecord;
  /** What changes, flag by flag; or, where it is too much to list, in words. */
  readonly steps: readonly {
    readonly key: string;
    readonly before: FlagState | null | undefined;
    readonly after: FlagState | null;
  }[];
  /** For a change that waits: its time, in words. Absent where it happens at once. */
  readonly scheduledFor?: string;
}

/** As many steps are named one by one. */
const MOST = 6;

/** Names what is about to change, where, from what to what, and who listens. */
export function ProductionGuard({
  change: { project, environment, steps, scheduledFor },
  onAnswer,
}: {
  change: GuardedChange;
  onAnswer: (answer: 'no' | 'once' | 'pause') => void;
}) {
  const [isPausing, setPausing] = useState(false);
  const first = steps[0];
  const what = steps.length === 1 && first !== undefined ? first.key : `${steps.length} flags`;
  const isLater = scheduledFor !== undefined;
  const where = `${what} in ${environment.name}`;
  const title = isLater ? `Schedule ${where} for ${scheduledFor}?` : `Change ${where}?`;
  const idle = isLater
    ? steps.filter(({ before, after }) => differingFields(before, after).length === 0)
    : [];
  return (
    <Dialog title={title} onClose={() => onAnswer('no')} isQuestion>
      <ProtectedNote project={project} environment={environment} isLater={isLater} />
      {idle.length > 0 && (
        <p className="mt-3 text-ink-2">
          {idle.length === steps.length
            ? 'As things stand, nothing would change.'
            : `As things stand, nothing would change for ${idle.length} of the ${steps.length} flags.`}
        </p>
      )}
      <ul className="mt-3 divide-y divide-line rounded-md border border-line">
        {steps.slice(0, MOST).map(({ key, before, after }) => (
          <li key={key} className="px-3 py-2">
            <p className="font-mono text-xs break-all">{key}</p>
            <p className="flex flex-wrap items-center gap-x-2 text-ink-2">
              <span className="break-all">{stateText(before)}</span>
              <ArrowRight size={13} aria-label="becomes" role="img" className="text-ink-3" />
              <strong className="font-semibold break-all text-ink">{stateText(after)}</strong>
            </p>
          </li>
        ))}
        {steps.length > MOST && <li className="px-3 py-2 text-ink-2">and {steps.length - MOST} more</li>}
      </ul>
      <label className="mt-3 flex min-h-6 items-center gap-2">
        <input
          type="checkbox"
          className="size-4 accent-accent"
          checked={isPausing}
          onChange={(event) => setPausing(event.target.checked)}
        />
        Don't ask again for 15 minutes
      </label>
      <DialogActions>
        {/* The key that opened it, pressed once more, is no consent. */}
        <Button data-autofocus onClick={() => onAnswer('no')}>
          Cancel
        </Button>
        <Button kind="primary" onClick={() => onAnswer(isPausing ? 'pause' : 'once')}>
          {isLater ? 'Schedule for' : 'Change'} {environment.name}
        </Button>
      </DialogActions>
    </Dialog>
  );
}

/** Says that an environment is protected, and how many clients would get a change at once. */
export function ProtectedNote({
  project,
  environment,
  isLater = false,
}: {
  project: string;
  environment: EnvironmentRecord;
  /** Who listens now says nothing of a change that waits. */
  isLater?: boolean;
}) {
  return (
    <p className="flex items-center gap-2 rounded-md bg-warn-soft px-3 py-2 text-warn">
      <TriangleAlert size={16} className="shrink-0" aria-hidden />
      <span className="flex flex-wrap items-center gap-x-1.5">
        <EnvironmentBadge environment={environment} className="font-medium" /> is protected.
        {!isLater && <ConnectedClients project={project} environment={environment.name} />}
      </span>
    </p>
  );
}

/** How many clients would get a change at once. */
export function ConnectedClients({ project, environment }: { project: string; environment: string }) {
  const { data } = useClients(project);
  const streams = data?.find((each) => each.environment === environment)?.streams;
  if (streams === undefined) return null;
  return (
    <span>
      {streams === 0
        ? 'No client is connected.'
        : `${streams} connected ${streams === 1 ? 'client sees' : 'clients see'} it at once.`}
    </span>
  );
}
