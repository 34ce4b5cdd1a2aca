import { elementsOf } from '@halyard/protocol';
import { invalid, quote } from '../../domain/errors.ts';
import { invalidAt } from '../../domain/strict-members.ts';
import { parseBody } from '../../management/api/body.ts';
import type { z } from '../../management/api/zod.ts';
import { checkLabel, checkName } from '../../management/rules.ts';
import { checkEmail } from '../people/people.ts';
import type { Declaration, DeclaredKey, DeclaredMember, DeclaredWebhook } from './document.ts';
import { DeclaredKeySchema, DeclaredMemberSchema, DeclaredWebhookSchema } from './section-schemas.ts';

/** The JSON texts of the sections of a document. */
export type SectionTexts = Readonly<Record<'keys' | 'webhooks' | 'members', string | undefined>>;

/** Reads the sections of a document. `environments`: the names that it lists. `invalid_argument`, with the place. */
export function readSections(
  { keys, webhooks, members }: SectionTexts,
  environments: ReadonlySet<string>,
): Pick<Declaration, 'keys' | 'webhooks' | 'members'> {
  return {
    ...(keys !== undefined && { keys: readList(keys, 'keys', DeclaredKeySchema, keyReader(environments)) }),
    ...(webhooks !== undefined && {
      webhooks: once(
        'webhooks',
        readList(webhooks, 'webhooks', DeclaredWebhookSchema, readWebhook),
        ({ name }) => name,
      ),
    }),
    ...(members !== undefined && {
      members: once(
        'members',
        readList(members, 'members', DeclaredMemberSchema, readMember),
        ({ email }) => email,
      ),
    }),
  };
}

function readList<Schema extends z.ZodType, Item>(
  text: string,
  name: string,
  schema: Schema,
  read: (data: z.infer<Schema>) => Item,
): readonly Item[] {
  const elements = elementsOf(text);
  if (elements === undefined) throw invalidAt(name, 'must be a list.');

  return elements.map((element, index) => {
    const place = `${name}[${index}]`;
    const parsed = schema.safeParse(parseBody(element, 'document'));
    try {
      if (parsed.success) return read(parsed.data);
    } catch (cause) {
      const message = cause instanceof Error ? cause.message : String(cause);
      throw invalid(`${place}: ${message}`, { cause, place: [place] });
    }

    const [issue] = parsed.error.issues;
    const member = issue?.path.length ? ` "${issue.path.join('.')}"` : '';
    throw invalid(`${place}:${member} ${issue?.message ?? 'is invalid'}.`, { place: [place] });
  });
}

function keyReader(environments: ReadonlySet<string>) {
  return ({ name, expiresAt, ...key }: z.infer<typeof DeclaredKeySchema>): DeclaredKey => {
    const missing = key.environments.find((each) => !environments.has(each));
    if (missing !== undefined)
      throw invalid(`it reads ${quote(missing)}, which "environments" at the top does not list.`);

    return {
      name: checkLabel(name),
      environments: [...new Set(key.environments)].sort(),
      ...(expiresAt !== undefined && { expiresAt: Date.parse(expiresAt) }),
    };
  };
}

function readWebhook(data: z.infer<typeof DeclaredWebhookSchema>): DeclaredWebhook {
  const { name, url, format = 'json', environments = [], events = [], paused = false } = data;
  checkName('webhook', name);
  if (!URL.canParse(url)) throw invalid('"url" must be an address.');

  return {
    name,
    url: isHidden(url) ? url : new URL(url).href,
    format,
    environments: [...new Set(environments)].sort(),
    events: [...new Set(events)].sort(),
    paused,
  };
}

function readMember({
  email,
  role,
  canChangeProtected = false,
}: z.infer<typeof DeclaredMemberSchema>): DeclaredMember {
  return { email: checkEmail(email), role, canChangeProtected: role === 'admin' || canChangeProtected };
}

/** Refuses a list that names something twice. */
export function once<Item>(
  name: string,
  items: readonly Item[],
  nameOf: (item: Item) => string,
): readonly Item[] {
  const names = items.map(nameOf);
  const twice = names.findIndex((each, index) => names.indexOf(each) < index);
  if (twice < 0) return items;
  throw invalid(`"${name}" has ${quote(names[twice] ?? '')} twice: give each once.`, {
    place: [`${name}[${twice}]`],
  });
}

/** Whether an address is one that is not shown, as exports have it. */
export function isHidden(url: string): boolean {
  return url.endsWith('…');
}

/** The members of an environment in a document of version 2 beside those of version 1. */
export const GUARD_MEMBERS = ['approvals', 'emergencyOff', 'reasonRequired'] as const;
