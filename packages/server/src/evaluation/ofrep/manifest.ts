import { memberText } from '@halyard/protocol';
import type { StateText } from '../../domain/project.ts';
import { type Representation, represent } from '../catalog/representation.ts';
import { VARY } from './dialect.ts';

/** A flag in the manifest: what code that reads it must know. */
interface ManifestFlag {
  readonly key: string;
  readonly type: 'boolean' | 'string' | 'integer' | 'float' | 'object';
  /** What the flag gives while it is off: not its value, which would look as if it were on. */
  readonly defaultValue: unknown;
}

/**
 * The manifest of flags, from which OpenFeature's CLI generates typed code (`openfeature pull`, its API `v0`). A flag's
 * type is that of its value; a value of `null` has no type, so its flag is left out.
 */
export function manifestOf(
  states: readonly (readonly [key: string, text: StateText])[],
  revision: number,
): Representation {
  const flags = states.flatMap(([key, text]) => {
    const known = typeOf(memberText(text, ['value']));
    return known === undefined ? [] : [{ key, ...known } satisfies ManifestFlag];
  });
  const manifest = represent(new TextEncoder().encode(JSON.stringify({ flags })), revision, VARY);
  manifest.headers.set('X-Manifest-Capabilities', 'read');
  return manifest;
}

/** The type of a value by its notation, so that `1.0` is no integer, and the neutral value of that type. */
function typeOf(value = 'true'): Omit<ManifestFlag, 'key'> | undefined {
  switch (value[0]) {
    case 'n':
      return undefined;
    case 't':
    case 'f':
      return { type: 'boolean', defaultValue: false };
    case '"':
      return { type: 'string', defaultValue: '' };
    case '{':
      return { type: 'object', defaultValue: {} };
    case '[':
      return { type: 'object', defaultValue: [] };
    default:
      return { type: /^-?\d+$/.test(value) ? 'integer' : 'float', defaultValue: 0 };
  }
}
