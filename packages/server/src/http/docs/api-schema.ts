import {
  type ApiSchema,
  type OpenApiDocument,
  type ResolvedSchema,
  resolveSchema,
} from './openapi-document.ts';

/** Members that are shown below one another; deeper ones are named by their type alone. */
const MAX_DEPTH = 5;

/** A schema as HTML: what it is, and its members as nested lists. */
export function renderSchema(document: OpenApiDocument, schema: ApiSchema): string {
  return renderMembers(document, resolveSchema(document, schema), 0);
}

/** What a schema is, in a few words: `string`, `list of strings`, `FlagState or null`. HTML. */
export function typeText(document: OpenApiDocument, schema: ApiSchema): string {
  const resolved = resolveSchema(document, schema);
  if (resolved.name !== undefined) return Bun.escapeHTML(resolved.name);
  const choices = resolved.anyOf ?? resolved.oneOf;
  if (choices !== undefined) {
    return [...new Set(choices.map((choice) => typeText(document, choice)))].join(' or ');
  }
  if (resolved.const !== undefined) return json(resolved.const);
  if (resolved.enum !== undefined) return resolved.enum.map(json).join(' or ');
  const { type = 'any value', items, additionalProperties, properties } = resolved;
  if (type === 'array') return `list of ${items === undefined ? 'any values' : typeText(document, items)}`;
  if (type === 'object' && properties === undefined && typeof additionalProperties === 'object') {
    return `map to ${typeText(document, additionalProperties)}`;
  }
  if (resolved.format === 'date-time') return 'time, ISO 8601';
  return [type].flat().join(' or ');
}

/** A text in which backticks mark code. HTML. */
export function inlineText(text: string): string {
  return Bun.escapeHTML(text).replace(/`([^`]+)`/g, '<code>$1</code>');
}

/** One row of a list of members or parameters. HTML. */
export function renderField(
  field: {
    readonly name: string;
    readonly type: string;
    readonly isRequired: boolean;
    readonly where?: string;
  },
  schema: ApiSchema,
  inner = '',
): string {
  const { name, type, isRequired, where } = field;
  const facts = [
    ...(where === undefined ? [] : [where]),
    ...(isRequired ? ['required'] : []),
    ...limitsOf(schema),
  ];
  const description = schema.description === undefined ? '' : `<p>${inlineText(schema.description)}</p>`;
  const label = facts.length === 0 ? '' : ` <span class="facts">${facts.join(' · ')}</span>`;
  return `<li><code class="name">${Bun.escapeHTML(name)}</code> <span class="type">${type}</span>${label}${description}${inner}</li>\n`;
}

function renderMembers(document: OpenApiDocument, schema: ResolvedSchema, depth: number): string {
  if (depth >= MAX_DEPTH) return '';
  const choices = schema.anyOf ?? schema.oneOf;
  if (choices !== undefined) {
    return choices
      .map((choice) => renderMembers(document, resolveSchema(document, choice), depth))
      .filter((members) => members !== '')
      .join('<p class="facts">or</p>\n');
  }
  if (schema.items !== undefined)
    return renderMembers(document, resolveSchema(document, schema.items), depth);
  const members = Object.entries(schema.properties ?? {}).map(([name, member]) => {
    const resolved = resolveSchema(document, member);
    const isRequired = schema.required?.includes(name) === true;
    const field = { name, type: typeText(document, member), isRequired };
    return renderField(field, resolved, renderMembers(document, resolved, depth + 1));
  });
  const { additionalProperties } = schema;
  if (typeof additionalProperties === 'object' && Object.keys(additionalProperties).length > 0) {
    const resolved = resolveSchema(document, additionalProperties);
    const field = { name: '<name>', type: typeText(document, additionalProperties), isRequired: false };
    members.push(renderField(field, resolved, renderMembers(document, resolved, depth + 1)));
  }
  return members.length === 0 ? '' : `<ul class="fields">\n${members.join('')}</ul>\n`;
}

function limitsOf(schema: ApiSchema): string[] {
  const { minimum, maximum, maxLength, minItems, maxItems } = schema;
  const range =
    minimum !== undefined && maximum !== undefined
      ? [`${minimum} to ${maximum}`]
      : [
          ...(minimum === undefined ? [] : [`at least ${minimum}`]),
          // The largest integer of the language is what schemas say who mean none.
          ...(maximum === undefined || maximum === Number.MAX_SAFE_INTEGER ? [] : [`at most ${maximum}`]),
        ];
  return [
    ...range,
    ...(maxLength === undefined ? [] : [`at most ${maxLength} characters`]),
    ...(minItems === undefined ? [] : [`at least ${minItems}`]),
    ...(maxItems === undefined ? [] : [`at most ${maxItems} entries`]),
    ...(schema.default === undefined ? [] : [`default <code>${json(schema.default)}</code>`]),
  ];
}

function json(value: unknown): string {
  return Bun.escapeHTML(JSON.stringify(value));
}
