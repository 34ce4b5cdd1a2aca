import type { DeliveryRecord } from '../../api/types.ts';
import { deliveryText } from '../../components/delivery-proof.tsx';

/** The small line below a change: its number, its project on the screen of all, and how far it came. */
export function DeliveryFigure({
  seq,
  delivery,
  project,
  isChange,
}: {
  seq: number;
  delivery: DeliveryRecord | undefined;
  project: string | undefined;
  isChange: boolean;
}) {
  const parts = [
    ...(project === undefined ? [] : [`Project ${project}`]),
    ...(isChange ? [`Change ${seq}`] : []),
    ...(delivery === undefined || delivery.streams === 0 ? [] : [deliveryText(delivery)]),
  ];
  return parts.length === 0 ? null : <p className="mt-1 text-xs text-ink-3">{parts.join(' · ')}</p>;
}
