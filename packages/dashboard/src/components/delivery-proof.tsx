import Radio from 'lucide-react/icons/radio';
import { useProjectDeliveries } from '../api/clients.ts';
import { useLiveDelivery } from '../api/own-writes.ts';
import type { DeliveryRecord } from '../api/types.ts';
import { classNames } from './class-names.ts';

/** The live delivery of a change: "Seen by 212 of 214 streams, slowest 38 ms". */
export function DeliveryProof({ seq }: { seq: number | undefined }) {
  const delivery = useLiveDelivery(seq);
  return delivery === undefined || delivery.streams === 0 ? null : <span>{deliveryText(delivery)}</span>;
}

/** The same in words. */
export function deliveryText({ seen, streams, slowestMs }: DeliveryRecord): string {
  const slowest = slowestMs < 1 ? 'under 1 ms' : `${Math.round(slowestMs)} ms`;
  return `Seen by ${seen} of ${streams} ${streams === 1 ? 'stream' : 'streams'}, slowest ${slowest}`;
}

/**
 * The delivery of change `seq`, updated as nodes report: "Seen by 212 of 214 streams, slowest 38 ms". Empty until it is
 * known.
 */
export function SeenBy({
  project,
  seq,
  className,
}: {
  project: string;
  seq: number | undefined;
  className?: string;
}) {
  const { data: deliveries } = useProjectDeliveries(project);
  const delivery = deliveries?.find((each) => each.seq === seq);
  if (delivery === undefined) return null;
  const { streams, seen } = delivery;
  const text = streams === 0 ? 'No client was connected' : deliveryText(delivery);
  return (
    <span
      className={classNames('inline-flex items-center gap-1.5 text-xs text-ink-2', className)}
      data-testid="seen-by"
    >
      <Radio
        size={13}
        aria-hidden
        className={classNames(
          'shrink-0',
          streams > 0 && seen >= streams ? 'text-good' : 'text-ink-3',
          seen < streams && 'animate-shimmer',
        )}
      />
      {text}
    </span>
  );
}

/** What happens to the open streams of a removed record. `streams` is `undefined` if their number is unknown. */
export function closedStreamsText(streams: number | undefined): string {
  if (streams === undefined) return 'Its open streams are closed.';
  if (streams === 0) return 'It has no open streams.';
  return streams === 1 ? '1 open stream is closed.' : `${streams} open streams are closed.`;
}
