import { parseAllDocuments } from 'yaml';
import { ConversionError } from './piece.ts';

/** Aliases that a YAML file may have, which can expand a lot. */
const MAX_ALIASES = 1000;

/** Reads a file in JSON, YAML or TOML. Several documents in one YAML file become a list. `name` is for messages. */
export function parseSource(name: string, text: string): unknown {
  if (name.endsWith('.toml')) return parsed(name, 'TOML', () => Bun.TOML.parse(text));
  // The first character tells JSON from YAML: a mistake in JSON must not be reported as one in YAML.
  if (/^\s*[[{]/.test(text)) return parsed(name, 'JSON', () => JSON.parse(text, keepDigits));
  return parsed(name, 'YAML', () => parseYaml(text));
}

function parseYaml(text: string): unknown {
  const documents = parseAllDocuments(text, { prettyErrors: true });
  const all = [...documents].map((document) => {
    const [error] = document.errors;
    if (error !== undefined) throw error;
    return document.toJS({ maxAliasCount: MAX_ALIASES });
  });
  return all.length === 1 ? all[0] : all;
}

function parsed(name: string, format: string, parse: () => unknown): unknown {
  try {
    return parse();
  } catch (cause) {
    const reason = cause instanceof Error ? (cause.message.split('\n')[0] ?? '') : String(cause);
    throw new ConversionError(`${name} is not ${format}: ${reason}`, { cause });
  }
}

/** Whole numbers beyond 2^53 keep their digits when they are written again. */
function keepDigits(_member: string, value: unknown, context?: { readonly source?: string }): unknown {
  const isLarge = typeof value === 'number' && Math.abs(value) > Number.MAX_SAFE_INTEGER;
  if (!isLarge || context?.source === undefined) return value;
  // Part of the language since ES2026 and of this runtime; the type library does not declare it yet.
  return (JSON as typeof JSON & { rawJSON(text: string): unknown }).rawJSON(context.source);
}
