import {
  DEFAULT_ENVIRONMENTS,
  ENVIRONMENT_COLORS,
  ERROR_CODES,
  FLAG_KEY_PATTERN,
  type Json,
  NAME_PATTERN,
  VALUE_KINDS,
} from '@halyard/protocol';
import { NAMING_ENTRIES } from '../../domain/audit.ts';
import { MAX_NAMED_VALUES } from '../../domain/named-values.ts';
import { MAX_TAGS, MAX_TEXT } from '../rules.ts';
import { z } from './zod.ts';

// Patterns and lengths are documented here; the commands check them, with better messages.

/** A time: ISO 8601 with a zone. */
export const TimeSchema = z.iso
  .datetime({ offset: true, error: 'give an ISO 8601 time with its zone, such as "2027-01-31T12:00:00Z"' })
  .openapi({ example: '2027-01-31T12:00:00Z' });

/** The name of a project or environment. */
export const NameSchema = z
  .string()
  .openapi({ pattern: NAME_PATTERN.source, example: DEFAULT_ENVIRONMENTS[2] });

/** A flag key. */
export const FlagKeySchema = z
  .string()
  .openapi({ pattern: FLAG_KEY_PATTERN.source, example: 'new-checkout' });

/** The body of every error answer. (Spec: S7.1) */
export const ErrorBodySchema = z
  .object({
    error: z.string().openapi({ enum: [...ERROR_CODES] }),
    message: z.string().openapi({ description: 'What is wrong with the request and how to fix it.' }),
    docs: z.string().openapi({ description: 'The documentation page of the code.' }),
  })
  .openapi('Error');

// The type is true because bodies come from `JSON.parse`, which returns nothing else.
const ValueSchema = z
  .unknown()
  .optional()
  .openapi({ description: 'Any JSON value, at most 64 KiB, 32 levels deep.' }) as unknown as z.ZodOptional<
  z.ZodType<Json>
>;
const RolloutSchema = z.number().openapi({
  minimum: 0,
  maximum: 100,
  description: 'Share of targeting keys, at most three decimals; absent means everyone.',
});

/** A flag's state. (Spec: S2.3, S2.4, S2.5, S2.6) */
export const FlagStateSchema = z
  .strictObject({ enabled: z.boolean(), value: ValueSchema, rolloutPct: RolloutSchema.optional() })
  .openapi('FlagState');

/** A change to parts of a flag's state. */
export const StatePatchSchema = z
  .strictObject({
    enabled: z.boolean().optional(),
    value: ValueSchema,
    rolloutPct: RolloutSchema.optional(),
    unset: z.array(z.enum(['value', 'rolloutPct'])).optional(),
  })
  .openapi('StatePatch');

/** A value that a flag declares. */
const NamedValueSchema = z
  .strictObject({
    name: z.string().openapi({ minLength: 1, maxLength: MAX_NAMED_VALUES.name, example: 'treatment' }),
    value: ValueSchema,
    description: z.string().openapi({ maxLength: MAX_NAMED_VALUES.description }).optional(),
  })
  .openapi('NamedValue');

/** A description and tags, as documents have them. */
const flagTextMembers = {
  description: z.string().openapi({ maxLength: MAX_TEXT.description }).optional(),
  tags: z
    .array(z.string().openapi({ minLength: 1, maxLength: MAX_TEXT.tag }))
    .openapi({ maxItems: MAX_TAGS })
    .optional(),
} as const;

/** All details of a flag, as they are sent. */
export const flagDetailMembers = {
  ...flagTextMembers,
  owner: z
    .string()
    .openapi({ maxLength: MAX_TEXT.label, description: 'The person or team responsible; empty for none.' })
    .optional(),
  permanent: z
    .boolean()
    .openapi({ description: 'Whether the flag is meant to stay: it never counts as stale.' })
    .optional(),
  valueKind: z
    .enum(VALUE_KINDS)
    .openapi({
      description:
        'The kind of value that code expects; `none`: the flag is only on or off. The dashboard offers the fitting control. Values of other kinds are accepted.',
    })
    .optional(),
  namedValues: z
    .array(NamedValueSchema)
    .openapi({
      maxItems: MAX_NAMED_VALUES.count,
      description:
        'Values that people choose from, of the kind that the flag declares, at most 64 KiB together. States hold values, not names: a change here changes nothing that is served.',
    })
    .optional(),
} as const;

/** The query of a write that can be tried without effect. */
export const dryRunQuery = z.strictObject({
  dryRun: z
    .enum(['true', 'false'])
    .default('false')
    .openapi({ description: '`true`: return what would change, without changing it.' }),
});

/** The member that every write adds to its record. */
export const seqMember = {
  seq: z
    .number()
    .int()
    .optional()
    .openapi({ description: 'The number of the change in the change log; absent when nothing changed.' }),
} as const;

/** The answer of a write without a record. */
export const DoneSchema = z.object(seqMember).openapi('Done');

const Revision = z
  .number()
  .int()
  .openapi({ description: 'The number of committed changes of the environment.' });

/** An environment as it is answered. */
export const EnvironmentRecordSchema = z
  .object({
    name: NameSchema,
    revision: Revision,
    protected: z
      .boolean()
      .openapi({ description: 'Whether changes to its states require a permission and a confirmation.' }),
    approvals: z
      .number()
      .int()
      .openapi({ description: 'How many other people must approve a change of its states; 0: none.' }),
    emergencyOff: z.boolean().openapi({
      description: 'Whether every editor may turn flags off without approval, as an emergency.',
    }),
    reasonRequired: z
      .boolean()
      .openapi({ description: 'Whether every change of its states needs a reason (`X-Change-Note`).' }),
    color: z.enum(ENVIRONMENT_COLORS),
    position: z.number().int().openapi({ description: 'Its place among the environments, from 0.' }),
    createdAt: TimeSchema,
  })
  .openapi('Environment');

/** A project as it is answered on its own. */
export const ProjectRecordSchema = z
  .object({
    name: NameSchema,
    createdAt: TimeSchema,
    usageSince: TimeSchema.optional().openapi({
      description: 'Since when clients report how often they read each flag; absent while they do not.',
    }),
    environments: z.array(EnvironmentRecordSchema),
  })
  .openapi('Project');

const Author = z.string().optional().openapi({
  description:
    'The author: `operator:<e-mail>`, `token:<name>` or `system`. Absent on states older than this member.',
  example: 'operator:ada@example.com',
});

/** A flag's state with its revision and author. */
export const StateRecordSchema = z
  .object({ state: FlagStateSchema, revision: Revision, updatedAt: TimeSchema, updatedBy: Author })
  .openapi('StateRecord');

/** The member that a state has where its flag is at hand. */
export const valueNameMember = {
  valueName: z.string().optional().openapi({
    description: 'The name that the flag gives the value of the state.',
  }),
} as const;

/** The members of every list of states. */
export const valuesQuery = {
  values: z.enum(['whole', 'preview']).default('whole').openapi({
    description:
      '`preview`: a value of more than 256 bytes is left out, and `valuePreview` has its beginning, its size and its digest.',
  }),
} as const;

/**
 * A state in a list that was asked for previews: a long value is cut, and the state cannot be written back. These are no
 * extensions in the document, where both would have to fit.
 */
const ListedStateSchema = z
  .strictObject({
    ...FlagStateSchema.shape,
    valuePreview: z
      .object({
        start: z.string().openapi({ description: 'The beginning of the JSON text of the value.' }),
        bytes: z.number().int(),
        digest: z.string().openapi({ description: 'The same for the same text.' }),
      })
      .optional()
      .openapi({ description: 'Only with `values=preview`, in place of a long `value`.' }),
  })
  .openapi('ListedState');

const ListedRecordSchema = z
  .object({ ...StateRecordSchema.shape, state: ListedStateSchema })
  .openapi('ListedStateRecord');

/** A state of a list under its key. */
export const ListedKeyedStateSchema = z
  .object({ ...ListedRecordSchema.shape, key: FlagKeySchema })
  .openapi('ListedKeyedState');

/** A flag's state under its key. */
export const KeyedStateSchema = StateRecordSchema.extend({ key: FlagKeySchema }).openapi('KeyedState');

/** The answer of a write of one state. */
export const StateWrittenSchema = KeyedStateSchema.extend({
  before: FlagStateSchema.nullable().optional().openapi({
    description:
      'The state that was replaced, or null where there was none; absent where nothing has changed.',
  }),
  changed: z.boolean().openapi({ description: 'Whether the state changed.' }),
  environmentRevision: Revision,
  ...seqMember,
}).openapi('StateWritten');

/** A flag with its states by environment. */
export const FlagRecordSchema = z
  .object({
    key: FlagKeySchema,
    description: z.string(),
    tags: z.array(z.string()),
    owner: z.string(),
    permanent: z.boolean(),
    valueKind: z.enum(VALUE_KINDS),
    namedValues: z.array(NamedValueSchema).optional().openapi({
      description: 'Values that people choose from; absent if the flag has none, and in lists.',
    }),
    detailsRevision: z.number().int().optional().openapi({
      description:
        'The revision of the details, for `If-Match` of a change of them; absent in lists. It says nothing about the order of changes.',
    }),
    createdAt: TimeSchema,
    archivedAt: TimeSchema.optional(),
    environments: z.record(NameSchema, StateRecordSchema.extend(valueNameMember)),
  })
  .openapi('Flag');

/** A flag of a list. (Spec: S21.4) */
export const ListedFlagSchema = z
  .object({
    ...FlagRecordSchema.shape,
    hasNamedValues: z.boolean().optional().openapi({
      description:
        '`true` if the flag declares named values, which its own record has; absent if it does not.',
    }),
    environments: z.record(NameSchema, ListedRecordSchema.extend(valueNameMember)),
  })
  .openapi('ListedFlag');

/** The name of a key, a token or a person. */
export const LabelSchema = z.string().openapi({ minLength: 1, maxLength: MAX_TEXT.label });

/** The members that keys and access tokens share. */
export const lifetimeMembers = {
  id: z.string(),
  name: LabelSchema,
  createdAt: TimeSchema,
  expiresAt: TimeSchema.optional(),
  revokedAt: TimeSchema.optional(),
  lastUsedAt: TimeSchema.optional(),
  damaged: z.literal(true).optional().openapi({
    description: 'The stored record is damaged and grants no access: revoke it.',
  }),
} as const;

/** A project key without the key itself. */
export const KeyRecordSchema = z
  .object({
    ...lifetimeMembers,
    lastFour: z.string(),
    environments: z.array(NameSchema),
    status: z.enum(['active', 'expired', 'revoked']),
    replacedBy: z
      .string()
      .optional()
      .openapi({ description: 'The id of the key that was made in its place.' }),
  })
  .openapi('ProjectKey');

/** What a change was about, in an answer that lists changes. */
export const ChangedSchema = z
  .array(z.object({ action: z.string(), target: z.string(), environment: NameSchema.optional() }))
  .openapi({
    description: `What the change was about: the first entries of the audit log, at most ${NAMING_ENTRIES}. Absent if there are none.`,
  });
