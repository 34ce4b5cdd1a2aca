import { ERROR_STATUS, type ErrorCode } from '@halyard/protocol';

/** The documentation of one error code, as programs read it. Every text is Markdown. */
export interface ErrorPage {
  readonly error: ErrorCode;
  /** The HTTP status that the code always comes with. */
  readonly status: number;
  readonly title: string;
  /** What leads to this answer. */
  readonly cause: string;
  /** What the caller can do about it. */
  readonly fix: string;
  /** A request that provokes it and the body it gets. */
  readonly example: string;
  /** What a user of the client library sees. */
  readonly client: string;
}

/** Takes a code's page apart into its sections. Throws when the page lacks one: that is a fault of the page. */
export function readErrorPage(code: ErrorCode, markdown: string): ErrorPage {
  const [head = '', ...rest] = markdown.split(/^## /m);
  const sections = new Map(rest.map(splitHeading));
  const section = (heading: string): string => {
    const text = sections.get(heading);
    if (!text) throw new Error(`the page of ${code} has no section "${heading}"`);
    return text;
  };
  return {
    error: code,
    status: ERROR_STATUS[code],
    title: readTitle(head),
    cause: section('Cause'),
    fix: section('What to do'),
    example: section('Example'),
    client: section('In a client library'),
  };
}

/** The first heading of a Markdown text, without its mark-up. */
export function readTitle(markdown: string): string {
  const title = /^# (.+)$/m.exec(markdown)?.[1];
  if (title === undefined) throw new Error('the page has no title');
  return title.replaceAll('`', '');
}

function splitHeading(section: string): [heading: string, text: string] {
  const end = section.indexOf('\n');
  return [section.slice(0, end).trim(), section.slice(end).trim()];
}
