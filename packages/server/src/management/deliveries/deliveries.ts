import type { Delivery, DeliveryReader } from '../../domain/delivery.ts';
import { ServiceError } from '../../domain/errors.ts';
import type { ManagementContext } from '../context.ts';
import { findProject } from '../lookup.ts';

/** How far a change has got, as the nodes have written down. `not_found`. */
export async function getDelivery(deliveries: DeliveryReader, seq: number): Promise<Delivery> {
  const delivery = await deliveries.delivery(seq);
  if (delivery !== undefined) return delivery;
  throw new ServiceError(
    'not_found',
    'There are no delivery receipts of this change: no stream was open, it is being counted, or it is too long ago.',
  );
}

/** The newest changes of a project that went to streams, newest first. `project_not_found`. */
export async function listDeliveries(
  context: ManagementContext,
  deliveries: DeliveryReader,
  query: { readonly project: string; readonly limit: number },
): Promise<readonly Delivery[]> {
  const { id } = await context.store.read((reader) => findProject(reader, query.project));
  return deliveries.deliveries(id, query.limit);
}
