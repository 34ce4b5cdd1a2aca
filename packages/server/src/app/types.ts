/**
 * The records of the management API as types, derived from the schemas that check and describe them. Type exports
 * only, for clients in this repository: `import type { FlagRecord } from '…/app/types.ts'`.
 */

import type { ProposalSchema } from '../management/api/proposal-schemas.ts';
import type {
  EnvironmentRecordSchema,
  FlagRecordSchema,
  FlagStateSchema,
  KeyRecordSchema,
  ListedFlagSchema,
  ProjectRecordSchema,
  StatePatchSchema,
  StateRecordSchema,
  StateWrittenSchema,
} from '../management/api/schemas.ts';
import type { z } from '../management/api/zod.ts';
import type { TokenRecordSchema } from '../nouns/access-tokens/access-token-schemas.ts';
import type {
  CodeReferencesSchema,
  FlagInCodeSchema,
} from '../nouns/code-references/code-reference-routes.ts';
import type { ClientsSchema, NamedDeliverySchema } from '../nouns/deliveries/delivery-routes.ts';
import type { ImportResultSchema } from '../nouns/documents/document-schemas.ts';
import type { ArchivedFlagsSchema } from '../nouns/flags/flag-routes.ts';
import type { AuditEntrySchema } from '../nouns/history/audit-schemas.ts';
import type { RevertedSchema } from '../nouns/history/history-routes.ts';
import type { HoldingsSchema } from '../nouns/people/holdings-routes.ts';
import type {
  InvitationRecordSchema,
  LinkSchema,
  OfferedLinkSchema,
  OperatorRecordSchema,
  SessionSchema,
} from '../nouns/people/people-schemas.ts';
import type { ProjectOverviewSchema } from '../nouns/projects/overview-routes.ts';
import type { PublicationSchema } from '../nouns/publishing/publication-schemas.ts';
import type { RelayTokenSchema } from '../nouns/relays/relay-token-schemas.ts';
import type { RolloutPlanSchema } from '../nouns/rollouts/rollout-routes.ts';
import type { ScheduleSchema } from '../nouns/schedules/schedule-routes.ts';
import type { SearchHitSchema } from '../nouns/search/search-routes.ts';
import type { ComparisonSchema, CopiedSchema } from '../nouns/states/copy-routes.ts';
import type { ChangeWrittenSchema } from '../nouns/states/state-routes.ts';
import type { FlagUsageSchema, LastReadsSchema, RecentReadsSchema } from '../nouns/usage/usage-routes.ts';
import type { WebhookDeliverySchema, WebhookSchema } from '../nouns/webhooks/webhook-schemas.ts';

/** A project with its environments. */
export type ProjectRecord = z.infer<typeof ProjectRecordSchema>;
/** A project in the list of projects. */
export type ProjectSummary = Pick<ProjectRecord, 'name' | 'createdAt'>;
/** A project with its figures. */
export type ProjectOverview = z.infer<typeof ProjectOverviewSchema>;
/** An environment of a project. */
export type EnvironmentRecord = z.infer<typeof EnvironmentRecordSchema>;
/** A project key without the key itself. */
export type KeyRecord = z.infer<typeof KeyRecordSchema>;

/** A flag with its states by environment. */
export type FlagRecord = z.infer<typeof FlagRecordSchema>;
/** A flag of a list, perhaps with previews of values. */
export type ListedFlag = z.infer<typeof ListedFlagSchema>;
/** A flag's state. */
export type FlagState = z.infer<typeof FlagStateSchema>;
/** The body that changes parts of a state. */
export type StatePatch = z.infer<typeof StatePatchSchema>;
/** A state with its revision and its author. */
export type StateRecord = z.infer<typeof StateRecordSchema>;
/** The answer of a write of one state. */
export type StateWritten = z.infer<typeof StateWrittenSchema>;
/** The answer of a change of several flags. */
export type ChangeWritten = z.infer<typeof ChangeWrittenSchema>;
/** One flag's outcome of an archive of several. */
export type ArchiveResult = z.infer<typeof ArchivedFlagsSchema>['results'][number];
/** The answer of a comparison of two environments. */
export type Comparison = z.infer<typeof ComparisonSchema>;
/** The answer of a copy. */
export type Copied = z.infer<typeof CopiedSchema>;
/** When the flags of a project were last read. */
export type LastReads = z.infer<typeof LastReadsSchema>;
/** How often one flag was read. */
export type FlagUsage = z.infer<typeof FlagUsageSchema>;
/** How often several flags were read in the last 24 hours. */
export type RecentReads = z.infer<typeof RecentReadsSchema>;
/** What the repositories of a project have reported. */
export type CodeReferences = z.infer<typeof CodeReferencesSchema>;
/** Where the code of each repository has one flag. */
export type FlagInCode = z.infer<typeof FlagInCodeSchema>;
/** One result of a search. */
export type SearchHit = z.infer<typeof SearchHitSchema>;

/** The answer of an import. */
export type ImportResult = z.infer<typeof ImportResultSchema>;
/** One entry of the audit log. */
export type AuditEntry = z.infer<typeof AuditEntrySchema>;
/** The answer of a revert. */
export type Reverted = z.infer<typeof RevertedSchema>;
/** A rollout plan. */
export type RolloutPlan = z.infer<typeof RolloutPlanSchema>;
/** A scheduled change. */
export type Schedule = z.infer<typeof ScheduleSchema>;
/** A change that other people approve. */
export type Proposal = z.infer<typeof ProposalSchema>;
/** A change and how many streams have seen it. */
export type Delivery = z.infer<typeof NamedDeliverySchema>;
/** The open streams of an environment. */
export type Clients = z.infer<typeof ClientsSchema>;

/** A person who signs in. */
export type OperatorRecord = z.infer<typeof OperatorRecordSchema>;
/** What a person has, and what becomes of it when they are removed. */
export type Holdings = z.infer<typeof HoldingsSchema>;
/** Whether a person is signed in, and who. */
export type SessionRecord = z.infer<typeof SessionSchema>;
/** An invitation without its link. */
export type InvitationRecord = z.infer<typeof InvitationRecordSchema>;
/** An invitation with its link, which is shown once. */
export type OfferedLink = z.infer<typeof OfferedLinkSchema>;
/** The purpose of a one-time link. */
export type InvitationFacts = z.infer<typeof LinkSchema>;
/** An access token without the token itself. */
export type TokenRecord = z.infer<typeof TokenRecordSchema>;
/** A relay token without the token itself. */
export type RelayTokenRecord = z.infer<typeof RelayTokenSchema>;
/** A published environment, and how far nodes have come with it. */
export type PublicationRecord = z.infer<typeof PublicationSchema>;
/** A webhook without its secret. */
export type WebhookRecord = z.infer<typeof WebhookSchema>;
/** One attempt to send a message of a webhook. */
export type WebhookDelivery = z.infer<typeof WebhookDeliverySchema>;

export type { SsoProblem } from '../nouns/sso/sso.ts';
