import { defined } from '@halyard/protocol';
import type { Project } from '../../domain/project.ts';
import type { Writable } from '../../domain/raw-json.ts';
import { created, done, isoTime, isoTimeOr, ok } from '../../management/api/answers.ts';
import type { ManagementApp } from '../../management/api/management-app.ts';
import { tagged } from '../../management/api/operation.ts';
import { listAnswer, nextMember, pageIn, pageOf, pageQuery } from '../../management/api/pages.ts';
import {
  DoneSchema,
  NameSchema,
  ProjectRecordSchema,
  seqMember,
  TimeSchema,
} from '../../management/api/schemas.ts';
import { z } from '../../management/api/zod.ts';
import type { ManagementContext } from '../../management/context.ts';
import type { Written } from '../../management/write.ts';
import { environmentRecord } from '../environments/environment-schemas.ts';
import {
  createProject,
  deleteProject,
  getProject,
  listProjects,
  type ProjectWithEnvironments,
  updateProject,
} from './projects.ts';

/** Mounts the routes of projects. */
export function mountProjects(app: ManagementApp, context: ManagementContext): void {
  const { mount } = tagged(app, 'Projects');
  mount({
    method: 'get',
    path: '/api/projects',
    id: 'listProjects',
    isHeavy: true,
    role: 'viewer',
    scope: 'visible',
    summary: 'List the projects',
    query: z.strictObject(pageQuery),
    answer: {
      description: 'The projects, by name.',
      schema: z.object({
        projects: z.array(z.object({ name: NameSchema, createdAt: TimeSchema })),
        ...nextMember,
      }),
    },
    handle: async ({ actor, query }) => {
      const page = pageOf(query, ['name'] as const);
      const place = ({ name }: Project) => [name] as const;
      const projects = pageIn(await listProjects(context, actor), page, place);
      return ok(listAnswer('projects', projects, { page, record: projectEntry, place }));
    },
  });

  mount({
    method: 'post',
    path: '/api/projects',
    id: 'createProject',
    role: 'admin',
    scope: 'server',
    summary: 'Create a project with the environments development, staging and production',
    body: { schema: z.strictObject({ name: NameSchema }) },
    answer: { status: 201, description: 'The project.', schema: ProjectRecordSchema.extend(seqMember) },
    errors: ['already_exists'],
    handle: async ({ body, actor }) => created(projectRecord(await createProject(context, actor, body))),
  });

  mount({
    method: 'get',
    path: '/api/projects/{project}',
    id: 'getProject',
    isHeavy: true,
    role: 'viewer',
    summary: 'Read one project with its environments',
    answer: { description: 'The project.', schema: ProjectRecordSchema },
    handle: async ({ params, actor }) => ok(projectRecord(await getProject(context, actor, params.project))),
  });

  mount({
    method: 'patch',
    path: '/api/projects/{project}',
    id: 'updateProject',
    role: 'admin',
    summary: 'Change whether the clients of a project report how often they read each flag',
    body: { schema: z.strictObject({ usage: z.boolean().optional() }) },
    answer: { description: 'The project.', schema: ProjectRecordSchema.extend(seqMember) },
    handle: async ({ params, body, actor }) =>
      ok(projectRecord(await updateProject(context, actor, { ...params, ...defined(body) }))),
  });

  mount({
    method: 'delete',
    path: '/api/projects/{project}',
    id: 'deleteProject',
    needsApproval: true,
    isHeavy: true,
    role: 'admin',
    summary: 'Delete a project with its environments, flags and keys',
    answer: { schema: DoneSchema, description: 'The project is deleted.' },
    handle: async ({ params, actor }) => done(await deleteProject(context, actor, params.project)),
  });
}

function projectEntry({ name, createdAt }: Project): { name: string; createdAt: string } {
  return { name, createdAt: isoTime(createdAt) };
}

function projectRecord(project: Written<ProjectWithEnvironments>): Writable {
  const environments = project.environments.map(environmentRecord);
  const usageSince = isoTimeOr(project.usageSince);
  return { ...projectEntry(project), usageSince, environments, seq: project.seq };
}
