import { isoTime, ok } from '../../management/api/answers.ts';
import type { ManagementApp } from '../../management/api/management-app.ts';
import { tagged } from '../../management/api/operation.ts';
import { listAnswer, nextMember, pageIn, pageOf, pageQuery } from '../../management/api/pages.ts';
import { NameSchema, TimeSchema } from '../../management/api/schemas.ts';
import { z } from '../../management/api/zod.ts';
import type { ManagementContext } from '../../management/context.ts';
import { overview, type ProjectOverview, shortVersion } from './overview.ts';
import { type LastChange, MOST_ALIKE } from './overview-query.ts';

const countOf = (description: string) => z.number().int().openapi({ description });

const VersionSchema = z
  .object({
    enabled: z.boolean().optional(),
    rolloutPct: z.number().optional(),
    name: z.string().optional(),
    changes: z.array(z.object({ key: z.string() })).optional(),
  })
  .optional()
  .openapi({ description: 'What the audit log has, without values and descriptions.' });

const LastChangeSchema = z.object({
  seq: z.number().int(),
  at: TimeSchema,
  actor: z.string(),
  action: z.string().openapi({ example: 'flag.changed' }),
  target: z.string(),
  environment: NameSchema.optional(),
  before: VersionSchema,
  after: VersionSchema,
  alike: countOf(
    `How many things the same change did this to, in this environment; ${MOST_ALIKE} stands for more.`,
  ),
});

/** A project with its figures. */
export const ProjectOverviewSchema = z
  .object({
    name: NameSchema,
    createdAt: TimeSchema,
    flags: countOf('Flags in use.'),
    environments: countOf('Environments.'),
    streams: countOf('Open streams on all nodes.'),
    runningPlans: countOf('Rollout plans that are running.'),
    waitingProposals: countOf('Proposals that wait for people, emergencies to acknowledge included.'),
    failingWebhooks: countOf(
      'Webhooks whose last attempt failed, or that the server disabled. Only shown to administrators.',
    ).optional(),
    lastChange: LastChangeSchema.optional().openapi({
      description: 'The newest entry of the audit log; absent for a project without one.',
    }),
  })
  .openapi('ProjectOverview');

/** Mounts the route that shows all projects at a glance. */
export function mountOverview(app: ManagementApp, context: ManagementContext): void {
  const { mount } = tagged(app, 'Projects');
  mount({
    method: 'get',
    path: '/api/overview',
    id: 'getOverview',
    isHeavy: true,
    role: 'viewer',
    scope: 'visible',
    summary: 'List the projects with their figures: flags, streams, plans, what fails and the last change',
    query: z.strictObject(pageQuery),
    answer: {
      description: 'The projects, by name.',
      schema: z.object({ projects: z.array(ProjectOverviewSchema), ...nextMember }),
    },
    handle: async ({ actor, query }) => {
      const page = pageOf(query, ['name'] as const);
      const place = ({ name }: { readonly name: string }) => [name] as const;

      const projects = await overview(context, actor, (visible) => pageIn(visible, page, place));
      return ok(listAnswer('projects', projects, { page, record: overviewRecord, place }));
    },
  });
}

function overviewRecord({ name, createdAt, lastChange, ...project }: ProjectOverview) {
  const { flags, environments, streams, runningPlans, waitingProposals, failingWebhooks } = project;
  return {
    name,
    createdAt: isoTime(createdAt),
    flags,
    environments,
    streams,
    runningPlans,
    waitingProposals,
    failingWebhooks,
    lastChange: lastChange && changeRecord(lastChange),
  };
}

function changeRecord({ at, before, after, ...change }: LastChange) {
  return { ...change, at: isoTime(at), before: shortVersion(before), after: shortVersion(after) };
}
