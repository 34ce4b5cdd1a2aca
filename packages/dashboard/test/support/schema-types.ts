/** A schema of the OpenAPI document; the members that matter here. */
export interface Schema {
  readonly $ref?: string;
  readonly type?: string | readonly string[];
  readonly enum?: readonly unknown[];
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly required?: readonly string[];
  readonly additionalProperties?: Schema | boolean;
  readonly items?: Schema;
  readonly anyOf?: readonly Schema[];
  readonly oneOf?: readonly Schema[];
  readonly allOf?: readonly Schema[];
}

/** The parts of the OpenAPI document that are compared. */
export interface ApiDocument {
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
  readonly components: { readonly schemas: Readonly<Record<string, Schema>> };
}

interface Operation {
  readonly operationId: string;
  readonly responses: Readonly<
    Record<string, { readonly content?: Readonly<Record<string, { readonly schema?: Schema }>> }>
  >;
}

/** TypeScript that says what each operation answers when it succeeds: `Answers['listProjects']`. */
export function answerTypes({ paths, components }: ApiDocument): string {
  const schemas = Object.entries(components.schemas).map(
    ([name, schema]) => `type ${name} = ${typeOf(schema)};`,
  );
  const operations = Object.values(paths).flatMap((path) => Object.values(path));
  const answers = operations.flatMap(({ operationId, responses }) => {
    const [, success] = Object.entries(responses).find(([status]) => status.startsWith('2')) ?? [];
    const schema = success?.content?.['application/json']?.schema;
    return schema === undefined ? [] : [`  ${operationId}: ${typeOf(schema)};`];
  });
  return `${schemas.join('\n')}\nexport interface Answers {\n${answers.join('\n')}\n}\n`;
}

function typeOf(schema: Schema): string {
  const { $ref, enum: values, anyOf, oneOf, allOf } = schema;
  if ($ref !== undefined) return $ref.replace(/.*\//, '');
  if (values !== undefined) return values.map((value) => JSON.stringify(value)).join(' | ');
  const choices = anyOf ?? oneOf;
  if (choices !== undefined) return choices.map((each) => `(${typeOf(each)})`).join(' | ');
  if (allOf !== undefined) return allOf.map((each) => `(${typeOf(each)})`).join(' & ');
  const types = typeof schema.type === 'string' ? [schema.type] : (schema.type ?? []);
  // Any JSON: readers must check its type.
  return types.length === 0 ? 'any' : types.map((type) => plainType(type, schema)).join(' | ');
}

function plainType(type: string, schema: Schema): string {
  switch (type) {
    case 'integer':
      return 'number';
    case 'array':
      return `readonly (${typeOf(schema.items ?? {})})[]`;
    case 'object':
      return objectType(schema);
    default:
      return type;
  }
}

function objectType({ properties = {}, required = [], additionalProperties }: Schema): string {
  const members = Object.entries(properties).map(
    ([name, schema]) => `${JSON.stringify(name)}${required.includes(name) ? '' : '?'}: ${typeOf(schema)}`,
  );
  if (members.length === 0 && typeof additionalProperties === 'object')
    return `{ [name: string]: ${typeOf(additionalProperties)} }`;
  return `{ ${members.join('; ')} }`;
}
