import { defined, elementsOf, memberText } from '@halyard/protocol';
import { type QueryClient, skipToken, useQuery } from '@tanstack/react-query';
import { isSameValue } from './flag-states.ts';
import { queryKeys } from './query-cache.ts';
import { api, request } from './request.ts';
import type { FlagRecord, FlagState, Json, StateRecord } from './types.ts';

/** A value that a flag declares, with its JSON text in the notation of its author. */
export interface NamedValue {
  readonly name: string;
  readonly text: string;
  readonly description: string;
}

/** The named values of a flag that was read on its own: lists do not have them. */
export function useNamedValues(
  project: string,
  { key, namedValues = [] }: FlagRecord,
): readonly NamedValue[] {
  const { data } = useQuery<string>({ queryKey: queryKeys.namedValues(project, key), queryFn: skipToken });
  const texts = data === undefined ? [] : (elementsOf(data) ?? []);
  return namedValues.map(({ name, value, description = '' }, index) => {
    const text = memberText(texts[index] ?? '{}', ['value']);
    // The text may be that of an earlier list.
    const isCurrent = text !== undefined && isSameJson(JSON.parse(text), value);
    return { name, text: isCurrent ? text : JSON.stringify(value), description };
  });
}

/** Whether a flag declares named values, in a list too. */
export function declaresValues({ namedValues, hasNamedValues }: FlagRecord): boolean {
  return namedValues !== undefined || hasNamedValues === true;
}

/**
 * The name of a value that a change leaves as it is. Only the server can name a new value: it compares texts, so `1.0` is not
 * `1`. `isSameText` says whether the texts may be the same.
 */
export function keptName(
  before: StateRecord | undefined,
  after: FlagState,
  isSameText: boolean,
): Pick<StateRecord, 'valueName'> {
  if (before?.valueName === undefined || !isSameText || !isSameValue(before.state, after)) return {};
  return { valueName: before.valueName };
}

function isSameJson(one: Json | undefined, other: Json | undefined): boolean {
  return JSON.stringify(one) === JSON.stringify(other);
}

/** Keeps the text of the named values of an answered flag. */
export function keepNamedValues(queries: QueryClient, project: string, key: string, answer: string): void {
  queries.setQueryData(queryKeys.namedValues(project, key), memberText(answer, ['namedValues']) ?? '[]');
}

/** Replaces the named values of a flag, unless its details have changed since it was read. Rejects with the refusal. */
export function changeNamedValues(
  project: string,
  { key, detailsRevision }: FlagRecord,
  values: readonly NamedValue[],
): Promise<FlagRecord> {
  const listed = values.map(({ name, text, description }) => {
    const more = description === '' ? '' : `,"description":${JSON.stringify(description)}`;
    return `{"name":${JSON.stringify(name)},"value":${text}${more}}`;
  });
  const text = `{"namedValues":[${listed.join(',')}]}`;
  return request('PATCH', api`projects/${project}/flags/${key}`, {
    text,
    ...defined({ seen: detailsRevision }),
  });
}
