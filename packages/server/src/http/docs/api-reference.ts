import { isErrorCode } from '@halyard/protocol';

/** The parts of an OpenAPI 3.1 document that the reference page shows. */
export interface OpenApiDocument {
  readonly info: { readonly title: string; readonly version: string };
  readonly paths: Readonly<Record<string, Readonly<Record<string, ApiOperation>>>>;
  readonly components: { readonly schemas: Readonly<Record<string, ApiSchema>> };
}

interface ApiOperation {
  readonly operationId: string;
  readonly summary: string;
  readonly description?: string;
  readonly tags: readonly string[];
  readonly parameters?: readonly ApiParameter[];
  readonly requestBody?: { readonly content: ApiContent };
  /** By status. */
  readonly responses: Readonly<
    Record<string, { readonly description: string; readonly content?: ApiContent }>
  >;
}

interface ApiParameter {
  readonly name: string;
  readonly in: string;
  readonly required?: boolean;
  readonly description?: string;
  readonly schema: ApiSchema;
}

/** Bodies by media type. */
type ApiContent = Readonly<Record<string, { readonly schema: ApiSchema }>>;

/** A JSON Schema, with the keywords that ours use. */
interface ApiSchema {
  readonly $ref?: string;
  readonly type?: string | readonly string[];
  readonly format?: string;
  readonly description?: string;
  readonly default?: unknown;
  readonly enum?: readonly unknown[];
  readonly const?: unknown;
  readonly properties?: Readonly<Record<string, ApiSchema>>;
  readonly required?: readonly string[];
  readonly items?: ApiSchema;
  readonly additionalProperties?: ApiSchema | boolean;
  readonly allOf?: readonly ApiSchema[];
  readonly anyOf?: readonly ApiSchema[];
  readonly oneOf?: readonly ApiSchema[];
}

/**
 * The whole interface as one page of Markdown, made from its OpenAPI document: operations by tag, then the schemas they
 * share. `root` leads from the page to `/docs/`.
 */
export function describeApi({ info, paths, components }: OpenApiDocument, root: string): string {
  const operations = Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({
      tag: operation.tags[0] ?? '',
      // Operations that read flags come first, because most readers look for them.
      rank: path.startsWith('/v1') ? 0 : 1,
      text: describeOperation(`${method.toUpperCase()} ${path}`, operation, root),
    })),
  );
  const sections = Map.groupBy(
    operations.sort((a, b) => a.rank - b.rank),
    ({ tag }) => tag,
  );
  const schemas = Object.entries(components.schemas).map(
    ([name, schema]) => `${heading(name, name)}${schema.description ?? ''}\n\n${describeBody(schema)}`,
  );
  return `# API reference

Everything that this server (version ${info.version}) answers under \`/v1\` and \`/api\`. Programs read
[the OpenAPI document](${root}../api/openapi.json). Flags are read with a project key in \`X-Service-Key\`. Everything
under \`/api\` takes an access token in \`Authorization: Bearer …\`, or the session of a person who signed in to the
dashboard. Errors are JSON with a code, and [every code has a page](${root}errors.md).

${[...sections.keys(), 'Schemas'].map((tag) => `[${tag}](#${slug(tag)})`).join(' · ')}

${[...sections].map(([tag, some]) => `## ${tag}\n\n${some.map(({ text }) => text).join('')}`).join('')}
## Schemas

${schemas.join('')}`;
}

function describeOperation(call: string, operation: ApiOperation, root: string): string {
  const { operationId, summary, description = '', parameters = [], requestBody, responses } = operation;
  const rows = parameters.map(({ name, in: where, required, description: text, schema }) => ({
    name,
    type: `${typeText(schema)}, ${where}`,
    isRequired: required === true,
    text: describe({ ...schema, description: text ?? schema.description ?? '' }),
  }));
  const answers = Object.entries(responses).map(([status, answer]) => {
    const text = answer.description.replace(/`(\w+)`/g, (code, name: string) =>
      isErrorCode(name) ? `[${code}](${root}errors/${name}.md)` : code,
    );
    return `- **${status}** ${text}${Number(status) < 400 ? describeContent(answer.content) : ''}`;
  });
  const body = requestBody === undefined ? '' : `Body${describeContent(requestBody.content)}\n\n`;
  return `${heading(operationId, summary)}\`${call}\`\n\n${description}\n\n${table(rows)}${body}${answers.join('\n')}\n\n`;
}

function heading(id: string, text: string): string {
  const html = Bun.escapeHTML(text).replace(/`([^`]+)`/g, '<code>$1</code>');
  return `<h3 id="${id}"><a href="#${id}">${html}</a></h3>\n\n`;
}

function describeContent(content: ApiContent = {}): string {
  const [first] = Object.values(content);
  if (first === undefined) return '';
  const types = Object.keys(content).map((type) => `\`${type}\``);
  return ` (${types.join(' or ')}): ${typeText(first.schema)}\n\n${indent(describeBody(first.schema))}`;
}

function indent(text: string): string {
  return text.replace(/^(?=.)/gm, '  ');
}

interface Row {
  readonly name: string;
  readonly type: string;
  readonly isRequired: boolean;
  readonly text: string;
}

function describeBody(schema: ApiSchema): string {
  return table(membersOf(schema, ''));
}

/** Every member of a schema and of the unnamed schemas in it, as `entries[].id`. Named ones are linked instead. */
function membersOf(schema: ApiSchema, prefix: string): readonly Row[] {
  const { properties = {}, required = [], items, additionalProperties, allOf, anyOf, oneOf } = schema;
  if (schema.$ref !== undefined) return [];
  const own = Object.entries(properties).flatMap(([name, member]) => [
    {
      name: prefix + name,
      type: typeText(member),
      isRequired: required.includes(name),
      text: describe(member),
    },
    ...membersOf(member, `${prefix}${name}.`),
  ]);
  return [
    ...own,
    ...(items === undefined ? [] : membersOf(items, `${prefix.replace(/\.$/, '')}[].`)),
    ...(typeof additionalProperties === 'object' ? membersOf(additionalProperties, `${prefix}*.`) : []),
    ...[...(allOf ?? []), ...(anyOf ?? []), ...(oneOf ?? [])].flatMap((part) => membersOf(part, prefix)),
  ];
}

/** A schema in a few words: `string`, `list of string`, `FlagState or null`. */
function typeText(schema: ApiSchema): string {
  const { $ref, anyOf, oneOf, allOf, items, additionalProperties, format } = schema;
  if ($ref !== undefined) {
    const name = $ref.slice($ref.lastIndexOf('/') + 1);
    return `[${name}](#${name})`;
  }
  const choices = anyOf ?? oneOf;
  if (choices !== undefined) return [...new Set(choices.map(typeText))].join(' or ');
  if (allOf !== undefined) return allOf.map(typeText).join(' and ');
  if (schema.const !== undefined) return JSON.stringify(schema.const);
  if (schema.enum !== undefined) return schema.enum.map((value) => JSON.stringify(value)).join(' or ');
  if (items !== undefined) return `list of ${typeText(items)}`;
  if (typeof additionalProperties === 'object' && schema.properties === undefined) {
    return `map to ${typeText(additionalProperties)}`;
  }
  if (format === 'date-time') return 'time, ISO 8601';
  return [schema.type ?? 'any value'].flat().join(' or ');
}

/** The description of a schema with its limits. */
function describe(schema: ApiSchema): string {
  const limits = Object.entries(schema).filter(
    // Schemas without a limit of their own state the largest integer.
    ([name, limit]) => /^(min|max|default)/.test(name) && Math.abs(Number(limit)) !== Number.MAX_SAFE_INTEGER,
  );
  const description = (schema.description ?? '').replace(/\.$/, '');
  return [description, ...limits.map(([name, limit]) => `${name} ${JSON.stringify(limit)}`)]
    .filter((text) => text !== '')
    .join('; ');
}

function table(rows: readonly Row[]): string {
  if (rows.length === 0) return '';
  const lines = rows.map(({ name, type, isRequired, text }) => {
    const cells = [`\`${name}\``, isRequired ? `${type}, required` : type, text];
    return `| ${cells.map((cell) => cell.replaceAll('|', '\\|')).join(' | ')} |\n`;
  });
  return `| Name | Type | Meaning |\n|---|---|---|\n${lines.join('')}\n`;
}

function slug(tag: string): string {
  return tag.toLowerCase().replace(/[^a-z0-9]+/g, '-');
}
