import Radio from 'lucide-react/icons/radio';
import { useProjectDeliveries } from '../api/clients.ts';
import { classNames } from './class-names.ts';
import { deliveryText } from './delivery-proof.tsx';

/**
 * The delivery of change `seq`, updated as nodes report: "Seen by 212 of 214 streams, slowest 38 ms". Empty until it is
 * known.
 */
export function SeenBy({ project, seq }: { project: string; seq: number | undefined }) {
  const { data: deliveries } = useProjectDeliveries(project);
  const delivery = deliveries?.find((each) => each.seq === seq);
  if (delivery === undefined) return null;
  const { streams, seen } = delivery;
  const text = streams === 0 ? 'No client was connected' : deliveryText(delivery);

  return (
    <span className="inline-flex items-center gap-1.5 text-xs text-ink-2" data-testid="seen-by">
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
