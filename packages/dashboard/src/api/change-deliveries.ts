import { useQueries } from '@tanstack/react-query';
import { useMemo } from 'react';
import { MOST_DELIVERIES, useProjectDeliveries } from './clients.ts';
import { queryKeys } from './query-cache.ts';
import { api, readingList } from './request.ts';
import type { DeliveryRecord } from './types.ts';

/** The deliveries of the newest changes of a project, updated live. */
export interface NewestDeliveries {
  readonly project: string;
  readonly bySeq: DeliveriesBySeq;
  /** Changes with a smaller number are not among them. */
  readonly from: number;
}

type DeliveriesBySeq = ReadonlyMap<number, DeliveryRecord>;

/** How many change numbers are read together. */
const BLOCK = 500;

/** The deliveries of the newest changes of a project; `undefined` while they are being read. */
export function useNewestDeliveries(project: string): NewestDeliveries | undefined {
  const { data } = useProjectDeliveries(project);
  return useMemo(
    () =>
      data && {
        project,
        bySeq: bySeqOf(data),
        from: data.length < MOST_DELIVERIES ? 0 : (data.at(-1)?.seq ?? 0),
      },
    [project, data],
  );
}

/**
 * Returns a function that finds the delivery of one of these changes, if a node has recorded it. Reads the older ones in blocks, which
 * the lines of a list share. `undefined` while a block is being read.
 */
export function useDeliveriesOf(
  { project, bySeq, from }: NewestDeliveries,
  seqs: readonly number[],
): ((seq: number) => DeliveryRecord | undefined) | undefined {
  const blocks = new Set(seqs.filter((seq) => seq < from).map((seq) => Math.floor(seq / BLOCK)));
  const older = useQueries({
    queries: [...blocks].map((block) => ({
      queryKey: [...queryKeys.deliveries(project), block],
      queryFn: ({ signal }: { signal: AbortSignal }) => readBlock(project, block, signal),
      // Receipts are complete seconds after their change.
      staleTime: Number.POSITIVE_INFINITY,
    })),
  });

  if (older.some(({ data }) => data === undefined)) return undefined;
  return (seq) => bySeq.get(seq) ?? older.find(({ data }) => data?.has(seq))?.data?.get(seq);
}

async function readBlock(project: string, block: number, signal: AbortSignal): Promise<DeliveriesBySeq> {
  const range = new URLSearchParams({
    from: String(Math.max(1, block * BLOCK)),
    to: String(block * BLOCK + BLOCK - 1),
    limit: String(BLOCK),
  });
  const read = readingList<DeliveryRecord>(`${api`projects/${project}/deliveries`}?${range}`, 'deliveries');
  return bySeqOf(await read({ signal }));
}

function bySeqOf(deliveries: readonly DeliveryRecord[]): DeliveriesBySeq {
  return new Map(deliveries.map((each) => [each.seq, each]));
}
