import { useQueryClient } from '@tanstack/react-query';
import { useCallback } from 'react';
import { updateFlagInCache } from '../../api/flag-cache.ts';
import { api, request } from '../../api/request.ts';
import type { FlagRecord } from '../../api/types.ts';
import { announce } from '../../components/live-region.tsx';

/** The texts of a flag. */
export type FlagTexts = Partial<Pick<FlagRecord, 'description' | 'tags' | 'owner'>>;

/** Writes texts of a flag; rejects with what the API refused. */
export function useUpdateFlag(project: string, key: string): (texts: FlagTexts) => Promise<void> {
  const queries = useQueryClient();
  return useCallback(
    async (texts) => {
      const written = await request<FlagRecord>('PATCH', api`projects/${project}/flags/${key}`, {
        body: texts,
      });
      const { description, tags, owner } = written;
      updateFlagInCache(queries, project, key, (flag) => ({ ...flag, description, tags, owner }));
      announce('Saved');
    },
    [project, key, queries],
  );
}
