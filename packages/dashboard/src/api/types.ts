/**
 * The records of the management API as the dashboard reads them: the server's own types, which it derives from the
 * schemas that check and document its answers. Types only, so nothing of the server reaches the bundle.
 */
import type { Json } from '@halyard/protocol';
import type * as server from '../../../server/src/app/types.ts';

export type { Json };

/** A record as parsed from an answer: read-only, any JSON where the schema says `unknown`, absent members absent. */
type Received<Type> = Json extends Type
  ? Json
  : Type extends readonly (infer Item)[]
    ? readonly Received<Item>[]
    : Type extends object
      ? { readonly [Name in keyof Type]: Received<Exclude<Type[Name], undefined>> }
      : Type;

/** A flag's state, whose long value may be cut where it comes from a list. (Spec: S2.3, S2.4, S2.5, S2.6) */
export type FlagState = FlagRecord['environments'][string]['state'];
/** Changes to a state; absent members are kept. */
export type StatePatch = Received<server.StatePatch>;
/** A flag's state in one environment; `If-Match` names its revision. */
export type StateRecord = FlagRecord['environments'][string];
/** When the flags of a project were last read. */
export type LastReads = Received<server.LastReads>;
/** How often one flag was read. */
export type FlagUsage = Received<server.FlagUsage>;
/** How often several flags were read in the last 24 hours. */
export type RecentReads = Received<server.RecentReads>;
/** What the repositories of a project have reported about its flags. */
export type CodeReferences = Received<server.CodeReferences>;
/** Where the code of each repository has one flag. */
export type FlagInCode = Received<server.FlagInCode>;
/** The search of one repository at one commit. */
export type CodeReport = Omit<CodeReferences['repositories'][number], 'flags'>;
/** A place in a source tree. */
export type CodePlace = FlagInCode['repositories'][number]['first'][number];
/** The kind of value that code expects of a flag. */
export type FlagValueKind = FlagRecord['valueKind'];
/** A flag with its states by environment. */
export type FlagRecord = Received<server.ListedFlag>;
/** The response to a write of one state. */
export type StateWritten = Received<server.StateWritten>;
/** The response to a multi-flag change. */
export type ChangeWritten = Received<server.ChangeWritten>;
/** The result of archiving one flag, with the error code if it was refused. */
export type ArchiveResult = Received<server.ArchiveResult>;

/** The differences between two environments. */
export type Comparison = Received<server.Comparison>;
/** A flag whose states differ between two environments. A state is absent where the flag is not set. */
export type StateDifference = Comparison['differences'][number];
/** The result of a copy or of its preview. */
export type Copied = Received<server.Copied>;
/** What an import changes, or would change. */
export type ImportPlan = Received<server.ImportResult>;
/** A search result. */
export type SearchHit = Received<server.SearchHit>;

/** A project in the list of projects. */
export type ProjectSummary = Received<server.ProjectSummary>;
/** A project with its environments, in their order. */
export type ProjectRecord = Received<server.ProjectRecord>;
/** A project with its figures, for the list of all projects. */
export type ProjectOverview = Received<server.ProjectOverview>;
/** An environment of a project. */
export type EnvironmentRecord = Received<server.EnvironmentRecord>;
/** The color of an environment. */
export type EnvironmentColor = EnvironmentRecord['color'];
/** A published environment, and how far nodes have come with it. */
export type PublicationRecord = Received<server.PublicationRecord>;
/** A project key without the key itself. */
export type KeyRecord = Received<server.KeyRecord>;

/** A webhook without its secret. */
export type WebhookRecord = Received<server.WebhookRecord>;
/** One attempt to send a webhook's message. */
export type WebhookDelivery = Received<server.WebhookDelivery>;

/** A scheduled change. */
export type ScheduleRecord = Received<server.Schedule>;
/** A rollout plan. */
export type RolloutPlanRecord = Received<server.RolloutPlan>;
/** The status of a rollout plan. */
export type RolloutPlanStatus = RolloutPlanRecord['status'];
/** One step of a rollout plan, with what became of it. */
export type RolloutStepRecord = RolloutPlanRecord['steps'][number];

/** The status of a schedule. */
export type ScheduleStatus = ScheduleRecord['status'];
/** One step of a scheduled change: a flag's state, `null` to remove it, or a patch. */
export type ScheduledStep = ScheduleRecord['changes'][number];

/** A change that waits for the approval of other people, or that has ended. */
export type ProposalRecord = Received<server.Proposal>;

/** One entry of the audit log. */
export type AuditEntryRecord = Received<server.AuditEntry>;
/** The result of a revert or of its preview. */
export type Reverted = Received<server.Reverted>;
/** One state, flag or environment that a revert restores. */
export type RevertDifference = Reverted['differences'][number];
/** A change and how many streams have seen it. Events have no revision and no time. */
export type DeliveryRecord = Omit<Received<server.Delivery>, EventLacks> &
  Partial<Pick<Received<server.Delivery>, EventLacks>>;
type EventLacks = 'revision' | 'committedAt';
/** The open streams of an environment. */
export type EnvironmentClients = Received<server.Clients>;

/** The session, and whether setup is still needed. On this page `operator` stays set after the session has ended. */
export type SessionRecord = Received<server.SessionRecord>;
/** Why single sign-on did not sign a person in. */
export type SsoProblem = server.SsoProblem;
/** The person who is signed in. */
export type SignedInOperator = NonNullable<SessionRecord['operator']>;
/** A person who can sign in. */
export type OperatorRecord = Received<server.OperatorRecord>;
/** What a person has, and what becomes of it when they are removed. */
export type Holdings = Received<server.Holdings>;
/** A role for all projects; `none`: only roles in single projects. */
export type GlobalRole = OperatorRecord['role'];
/** A role, from the least to the most permissions. */
export type Role = Exclude<GlobalRole, 'none'>;
/** A role in one project. */
export type ProjectRole = NonNullable<OperatorRecord['projects']>[number];
/** The rights of a person, an invitation or a token. */
export type Rights = Pick<OperatorRecord, 'role' | 'canChangeProtected' | 'projects'>;
/** A one-time link that still works, without its secret. */
export type InvitationRecord = Received<server.InvitationRecord>;
/** A new link, which is shown only once. Only the setup link has no recipient, and the server prints that one. */
export type CreatedLink = Received<server.OfferedLink> & { readonly email: string };
/** The purpose of an invitation or setup link. */
export type InvitationFacts = Received<server.InvitationFacts>;
/** An access token without the token itself. */
export type TokenRecord = Received<server.TokenRecord>;
/** A relay token without the token itself. */
export type RelayTokenRecord = Received<server.RelayTokenRecord>;
