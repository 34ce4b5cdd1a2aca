import Radio from 'lucide-react/icons/radio';
import { createContext, type ReactNode, useContext } from 'react';
import { type NewestDeliveries, useDeliveriesOf, useNewestDeliveries } from '../../api/change-deliveries.ts';
import type { AuditEntryRecord } from '../../api/types.ts';
import { classNames } from '../class-names.ts';
import { deliveryText, sumOf } from '../delivery-proof.tsx';
import { messages } from './messages.ts';

const words = messages.delivery;

const Newest = createContext<NewestDeliveries | undefined>(undefined);

/** Lets the lines inside say how many streams took their change. The newest deliveries are read once for all lines. */
export function LineDeliveries({ project, children }: { project: string; children: ReactNode }) {
  return <Newest value={useNewestDeliveries(project)}>{children}</Newest>;
}

/**
 * How many streams took the change, or each of several changes on one line. Renders nothing for changes that send no frame, and outside of
 * {@link LineDeliveries}.
 */
export function LineDelivery({ changes }: { changes: readonly (readonly AuditEntryRecord[])[] }) {
  const newest = useContext(Newest);
  const framed = changes.map((entries) => entries.filter(sendsFrame)).filter(({ length }) => length > 0);
  return newest === undefined || framed.length === 0 ? null : <Seen newest={newest} changes={framed} />;
}

/** Changes of states are sent to streams. */
function sendsFrame({ action, environment }: AuditEntryRecord): boolean {
  return action.startsWith('flag.') && environment !== undefined;
}

function Seen({
  newest,
  changes,
}: {
  newest: NewestDeliveries;
  changes: readonly (readonly AuditEntryRecord[])[];
}) {
  const seqs = changes.map((entries) => entries.map(({ seq }) => seq));
  const deliveryOf = useDeliveriesOf(newest, seqs.flat());
  if (deliveryOf === undefined) return null;

  const known = seqs.flatMap((each) => sumOf(each.flatMap((seq) => deliveryOf(seq) ?? [])) ?? []);
  const whole = known.filter(({ seen, streams }) => seen >= streams);
  const [only] = known;
  if (only === undefined)
    return (
      <Line title={words.unknown}>
        <span className="sr-only">{words.unknown}</span>
      </Line>
    );
  return changes.length === 1 ? (
    <Line title={deliveryText(only)} isWhole={whole.length === 1}>
      {words.seen(only)}
    </Line>
  ) : (
    <Line
      title={words.ofSeveral(whole.length, known.length, changes.length)}
      isWhole={whole.length === changes.length}
    >
      {words.seenAll(whole.length, changes.length)}
    </Line>
  );
}

function Line({ title, isWhole, children }: { title: string; isWhole?: boolean; children: ReactNode }) {
  return (
    <span
      className="inline-flex items-center gap-1 text-xs whitespace-nowrap text-ink-3 tabular-nums max-lg:hidden"
      title={title}
      data-testid="line-delivery"
    >
      <Radio size={12} aria-hidden className={classNames('shrink-0', isWhole && 'text-good')} />
      {children}
    </span>
  );
}
