import CircleCheck from 'lucide-react/icons/circle-check';
import TriangleAlert from 'lucide-react/icons/triangle-alert';
import type { ProjectDelivery } from '../../api/project-deliveries.ts';
import type { EnvironmentRecord } from '../../api/types.ts';
import { EnvironmentBadge } from '../../components/environment-badge.tsx';
import { Table, Td, Th, Tr } from '../../components/table.tsx';
import { TimeAgo } from '../../components/time-ago.tsx';

/** Changes and how far each has come, newest first. */
export function DeliveryTable({
  deliveries,
  environments,
}: {
  deliveries: readonly ProjectDelivery[];
  environments: readonly EnvironmentRecord[];
}) {
  return (
    <Table label="Changes and how far they came">
      <thead>
        <tr>
          <Th className="text-right">Change</Th>
          <Th>Environment</Th>
          <Th className="text-right">Seen by</Th>
          <Th className="text-right">Slowest</Th>
          <Th className="max-sm:hidden">When</Th>
        </tr>
      </thead>
      <tbody>
        {deliveries.map((delivery) => {
          const environment = environments.find(({ name }) => name === delivery.environment);
          return (
            <Tr key={delivery.seq}>
              <Td className="h-9 text-right">{delivery.seq}</Td>
              <Td className="h-9">
                {environment === undefined ? (
                  delivery.environment
                ) : (
                  <EnvironmentBadge environment={environment} />
                )}
              </Td>
              <Td className="h-9 text-right whitespace-nowrap">
                <Seen delivery={delivery} />
              </Td>
              <Td className="h-9 text-right whitespace-nowrap">
                {delivery.seen === 0
                  ? '–'
                  : delivery.slowestMs < 1
                    ? '< 1 ms'
                    : `${Math.round(delivery.slowestMs)} ms`}
              </Td>
              <Td className="h-9 text-ink-2 max-sm:hidden">
                {delivery.committedAt !== undefined && <TimeAgo at={delivery.committedAt} />}
              </Td>
            </Tr>
          );
        })}
      </tbody>
    </Table>
  );
}

function Seen({ delivery: { seen, streams } }: { delivery: ProjectDelivery }) {
  const isAll = seen === streams;
  return (
    <span className="inline-flex items-center gap-1.5">
      {seen} of {streams}
      {isAll ? (
        <CircleCheck size={13} className="text-good" role="img" aria-label="all of them" />
      ) : (
        <TriangleAlert size={13} className="text-warn" role="img" aria-label="not all of them" />
      )}
    </span>
  );
}
