import { FLAG_KEY_PATTERN } from '@halyard/protocol';
import { isoTime, isoTimeOr, ok } from '../../management/api/answers.ts';
import type { ManagementApp } from '../../management/api/management-app.ts';
import { tagged } from '../../management/api/operation.ts';
import { FlagKeySchema, NameSchema, TimeSchema } from '../../management/api/schemas.ts';
import { z } from '../../management/api/zod.ts';
import type { ManagementContext } from '../../management/context.ts';
import { type ReadsFrom, readFlagUsage, readProjectUsage, readRecentReads } from './usage.ts';

const since = TimeSchema.optional().openapi({
  description: 'Since when clients report reads; absent while they do not.',
});

/** When the flags of a project were last read. */
export const LastReadsSchema = z
  .object({
    since,
    lastReads: z.record(FlagKeySchema, TimeSchema).openapi({
      description:
        'The start of the last hour in which each flag was read; absent for flags that were never read.',
    }),
    environments: z.record(NameSchema, z.record(FlagKeySchema, TimeSchema)).openapi({
      description: 'The same for each environment of the project.',
    }),
  })
  .openapi('LastReads');

const Reads = z.object({
  at: TimeSchema.openapi({ description: 'The start of the hour or day.' }),
  on: z.number().int().openapi({ description: 'Reads by clients for whom the flag was on.' }),
  off: z.number().int(),
});

/** How often one flag was read. */
export const FlagUsageSchema = z
  .object({
    since,
    environments: z.array(
      z.object({
        name: NameSchema,
        lastReadAt: TimeSchema.optional().openapi({ description: 'The start of the last hour with a read.' }),
        hours: z
          .array(Reads)
          .openapi({ description: 'The last 24 hours; those without a read are left out.' }),
        days: z
          .array(Reads)
          .openapi({ description: 'The last 30 days in UTC; those without a read are left out.' }),
      }),
    ),
  })
  .openapi('FlagUsage');

/** How often several flags were read. */
export const RecentReadsSchema = z
  .object({
    since,
    flags: z.record(FlagKeySchema, z.array(Reads)).openapi({
      description:
        'The last 24 hours of each flag in all environments together, the oldest first. Hours without a read are left out, and flags without one.',
    }),
  })
  .openapi('RecentReads');

/** Of how many flags one request asks. */
const MOST_KEYS = 100;

const KEY = FLAG_KEY_PATTERN.source.slice(1, -1);

/** Keys of flags, separated by commas. */
const KeysSchema = z
  .string()
  .regex(new RegExp(`^${KEY}(,${KEY}){0,${MOST_KEYS - 1}}$`), {
    error: `it must be the keys of at most ${MOST_KEYS} flags, separated by commas`,
  })
  .openapi({
    description: `The keys of at most ${MOST_KEYS} flags, separated by commas.`,
    example: 'new-checkout,dark-mode',
  });

/** Mounts the routes that show how often flags are read. */
export function mountUsage(app: ManagementApp, context: ManagementContext): void {
  const { mount } = tagged(app, 'Usage');
  mount({
    method: 'get',
    path: '/api/projects/{project}/usage',
    id: 'getProjectUsage',
    isHeavy: true,
    role: 'viewer',
    summary: 'Read when the flags of a project were last read',
    answer: { description: 'The flags that were read.', schema: LastReadsSchema },
    handle: async ({ params, actor }) => {
      const usage = await readProjectUsage(context, actor, params.project);
      const environments = new Map([...usage.environments].map(([name, reads]) => [name, isoTimes(reads)]));
      return ok({ since: isoTimeOr(usage.since), lastReads: isoTimes(usage.lastReads), environments });
    },
  });

  mount({
    method: 'get',
    path: '/api/projects/{project}/usage/hours',
    id: 'getRecentReads',
    isHeavy: true,
    role: 'viewer',
    summary: 'Read how often some flags were read in the last 24 hours',
    query: z.strictObject({ keys: KeysSchema }),
    answer: { description: 'The reads by flag.', schema: RecentReadsSchema },
    handle: async ({ params, query: { keys }, actor }) => {
      const { since, flags } = await readRecentReads(context, actor, {
        project: params.project,
        keys: keys.split(','),
      });
      const records = new Map([...flags].map(([key, hours]) => [key, hours.map(readsRecord)]));
      return ok({ since: isoTimeOr(since), flags: records });
    },
  });

  mount({
    method: 'get',
    path: '/api/projects/{project}/flags/{key}/usage',
    id: 'getFlagUsage',
    isHeavy: true,
    role: 'viewer',
    summary: 'Read how often a flag was read in the last 24 hours and 30 days',
    answer: { description: 'The reads by environment.', schema: FlagUsageSchema },
    errors: ['flag_not_found'],
    handle: async ({ params, actor }) => {
      const usage = await readFlagUsage(context, actor, params);
      const environments = usage.environments.map(({ environment, lastReadAt, hours, days }) => ({
        name: environment.name,
        lastReadAt: isoTimeOr(lastReadAt),
        hours: hours.map(readsRecord),
        days: days.map(readsRecord),
      }));
      return ok({ since: isoTimeOr(usage.since), environments });
    },
  });
}

function isoTimes(hours: ReadonlyMap<string, number>): ReadonlyMap<string, string> {
  return new Map([...hours].map(([key, hour]) => [key, isoTime(hour)]));
}

function readsRecord({ at, on, off }: ReadsFrom) {
  return { at: isoTime(at), on, off };
}
