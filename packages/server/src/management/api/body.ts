import { isRecord, nestingOf } from '@halyard/protocol';
import { invalid, quote } from '../../domain/errors.ts';
import { at } from '../../domain/strict-members.ts';
import type { z } from './zod.ts';

/** Deepest nesting of a body: the limit of a flag value, plus the levels around it. */
const MAX_BODY_DEPTH = 64;

/** Parses a body. Text that is not JSON or is nested too deeply is `invalid_argument`; messages call it `subject`. */
export function parseBody(text: string, subject: 'body' | 'document' = 'body'): unknown {
  if (nestingOf(text) > MAX_BODY_DEPTH) {
    throw invalid(`The ${subject} is nested deeper than ${MAX_BODY_DEPTH} levels.`);
  }
  try {
    return JSON.parse(text);
  } catch (cause) {
    // The parser's own message quotes the body, which may contain secrets, so it is only kept as the cause.
    const what = text.trim() === '' ? 'is empty' : 'is not valid JSON';
    throw invalid(`The ${subject} ${what}: expected a JSON object.`, { cause });
  }
}

/** Parses `data` with `schema`; `invalid_argument` names the first problem in one sentence. */
export function accept<T>(schema: z.ZodType<T>, data: unknown, what: 'body' | 'query'): T {
  const long = longListsOf(data);
  if (long.length > 0) {
    for (const { part, offset } of partsOf(data, long)) {
      const [issue] = schema.safeParse(part).error?.issues ?? [];
      if (issue !== undefined) throw invalid(sentenceOf(inWhole(issue, offset), [], what));
    }
  }

  const { success, data: accepted, error } = schema.safeParse(data);
  if (success) return accepted;
  const [issue] = error.issues;
  throw issue === undefined ? error : invalid(sentenceOf(issue, [], what));
}

/** Elements of a list that are checked at once. */
const ELEMENTS_AT_ONCE = 1000;

/** A list among the members of a body. */
type List = readonly [name: string, elements: readonly unknown[]];

function longListsOf(data: unknown): readonly List[] {
  if (!isRecord(data)) return [];
  const isLong = (member: unknown) => Array.isArray(member) && member.length > ELEMENTS_AT_ONCE;
  // `List`: what the filter leaves.
  return Object.entries(data).filter(([, member]) => isLong(member)) as unknown as List[];
}

/**
 * Parts of `data` with short lists, which together hold every element of its long ones. The schema collects every problem:
 * 1 MB of wrong elements would take 0.5 GB and seconds, and only the first problem is reported.
 */
function* partsOf(data: unknown, long: readonly List[]): Generator<{ part: unknown; offset: number }> {
  const slices = (offset: number) =>
    long.flatMap(([name, list]) =>
      offset < list.length ? [[name, list.slice(offset, offset + ELEMENTS_AT_ONCE)] as const] : [],
    );
  // The other members are checked with the first part, and stay short.
  const first = { ...(data as object), ...Object.fromEntries(slices(0)) };
  yield { part: first, offset: 0 };
  const longest = Math.max(...long.map(([, list]) => list.length));
  for (let offset = ELEMENTS_AT_ONCE; offset < longest; offset += ELEMENTS_AT_ONCE) {
    yield { part: { ...first, ...Object.fromEntries(slices(offset)) }, offset };
  }
}

/** The issue of a part, with the index that the element has in the whole list. */
function inWhole(issue: z.core.$ZodIssue, offset: number): z.core.$ZodIssue {
  const [name, index, ...rest] = issue.path;
  if (offset === 0 || name === undefined || typeof index !== 'number') return issue;
  return { ...issue, path: [name, index + offset, ...rest] };
}

function sentenceOf(
  issue: z.core.$ZodIssue,
  parents: readonly PropertyKey[],
  what: 'body' | 'query',
): string {
  const path = [...parents, ...issue.path];
  if (issue.code === 'invalid_union') {
    // Report the alternative that matched furthest; the first of equals.
    const inner = issue.errors.map(([first]) => first).reduce(deeper, undefined);
    if (inner !== undefined) return sentenceOf(inner, path, what);
  }
  const place = path.length === 0 ? `The ${what}` : subjectOf(path, what);
  if (issue.code === 'unrecognized_keys') {
    return `${place} has an unknown member ${quote(issue.keys[0] ?? '')}: leave it out, or check its spelling.`;
  }
  if (issue.code === 'invalid_type' && issue.message.endsWith('received undefined')) {
    return `${place} is missing: expected ${issue.expected}.`;
  }
  return `${place} is not valid: ${issue.message.replace(/^Invalid input: /, '')}.`;
}

function deeper(
  best: z.core.$ZodIssue | undefined,
  issue: z.core.$ZodIssue | undefined,
): z.core.$ZodIssue | undefined {
  return (issue?.path.length ?? -1) > (best?.path.length ?? -1) ? issue : best;
}

function subjectOf(path: readonly PropertyKey[], what: 'body' | 'query'): string {
  const text = path.reduce<string>((whole, step) => {
    if (typeof step === 'number') return `${whole}[${step}]`;
    return whole === '' ? String(step) : `${whole}.${String(step)}`;
  }, '');
  return what === 'query' ? `The query parameter ${quote(text)}` : at(text.slice(0, 200));
}
